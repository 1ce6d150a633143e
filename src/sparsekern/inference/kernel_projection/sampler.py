"""The models as samplers for the chain runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..chains.plan import Plan
from .responses import make_responses
from .running import run_latent_noise, run_least_squares, run_polya_gamma
from .state import ChainState, Draws, Settings, Workspace

_RUNS = {
    "polya_gamma": run_polya_gamma,
    "latent_noise": run_latent_noise,
    "least_squares": run_least_squares,
}
_LOST = {
    "polya_gamma": (
        "A chain left the range of floating point: nothing holds the coefficients, or everything "
        "does. Leave priors.scale at its default, or choose one nearer to it."
    ),
    "latent_noise": (
        "A chain left the range of floating point: the classes are separated so widely that "
        "nothing holds the noise. Leave priors.noise at its default, or raise its shape."
    ),
    "least_squares": (
        "A chain left the range of floating point: the noise is next to nothing beside the "
        "responses. Leave priors.noise at its default, or raise its rate."
    ),
}
_FIRST_LOG_STEP = -0.7  # about 0.5
_FIRST_PATH_LOG_STEP = -1.6  # about 0.2


@dataclass(frozen=True)
class Priors:
    """What is assumed beforehand; every pair is (shape, rate).

    Attributes
    ----------
    model : str
        ``"polya_gamma"`` (softmax of the functions themselves), ``"latent_noise"`` (the paper's) or
        ``"least_squares"`` (labels as Gaussian responses).
    reference : bool
        Whether the last class has no latent function of its own.
    intercept : bool
    average : bool
        Whether components are selected.
    select_kernels : bool
        Whether a kernel's amplitude may be zero.
    scale : float
        Scale of the law of each kernel's scale (not latent noise).
    half_cauchy : bool
        Whether that law is half-Cauchy; otherwise half-normal.
    noise : (float, float)
        Of the noise's precision (not Polya-Gamma).
    precision : (float, float) or None
        Of each coefficient's own precision; None: all share the kernel's scale.
    intercept_precision : (float, float)
    """

    model: str = "polya_gamma"
    reference: bool = False
    intercept: bool = True
    average: bool = False
    select_kernels: bool = False
    scale: float = 2.0
    half_cauchy: bool = False
    noise: tuple[float, float] = (1.0, 1.0)
    precision: tuple[float, float] | None = None
    intercept_precision: tuple[float, float] = (1.0, 1.0)

    @property
    def engine(self) -> str:
        """Name of the compiled code."""
        return f"projection_{self.model}"


class KernelProjectionSampler:
    """Chains of a multinomial model in given columns.

    Parameters
    ----------
    columns : list of ndarray of shape (n, m_l)
        The design, a block for each kernel.
    labels : ndarray of shape (n,)
        Classes by number.
    n_classes : int
    priors : Priors
    n_monitored : int
        Training rows whose class probability is followed for convergence.
    """

    refresh_every = 1

    def __init__(
        self,
        columns: list[np.ndarray],
        labels: np.ndarray,
        n_classes: int,
        priors: Priors,
        n_monitored: int = 10,
    ) -> None:
        n = len(labels)
        self.priors = priors
        self.n_latents = n_classes - 1 if priors.reference else n_classes
        parts = [np.ones((n, 1))] if priors.intercept else []
        design = np.ascontiguousarray(np.hstack([*columns, *parts]).T)
        block = [number for number, part in enumerate(columns) for _ in range(part.shape[1])]
        block += [-1] if priors.intercept else []
        squares = np.einsum("ai,ai->a", design, design)
        gram = np.empty((0, 0))
        one_factor = False
        if priors.model != "polya_gamma":
            products = design @ design.T
            apart = np.abs(products - np.diag(squares)) <= 1e-9 * squares.max(initial=0.0)
            if not apart.all():
                gram = products  # not projections by one kernel: the conditional is not diagonal
                one_factor = priors.precision is None
                if priors.intercept and apart[-1].all():
                    gram[-1, :-1] = gram[:-1, -1] = 0.0  # but for rounding
                elif priors.intercept:
                    one_factor = False
        responses = np.zeros((self.n_latents, n))
        if priors.model == "least_squares":
            responses = make_responses(labels, n_classes, priors.reference)
        self.monitored_rows = np.unique(np.linspace(0, n - 1, min(n, n_monitored)).astype(np.int64))
        self.settings = Settings(
            design=design,
            gram=gram,
            squares=squares,
            labels=np.ascontiguousarray(labels, dtype=np.int64),
            products=responses @ design.T,
            energies=np.einsum("ki,ki->k", responses, responses),
            one_factor=one_factor,
            block=np.array(block, dtype=np.int64),
            sizes=np.array([part.shape[1] for part in columns], dtype=np.int64),
            reference=priors.reference,
            average=priors.average,
            select_kernels=priors.select_kernels,
            own_precisions=priors.precision is not None,
            scale_prior=float(priors.scale),
            half_cauchy=bool(priors.half_cauchy),
            noise_prior=priors.noise,
            precision_prior=priors.precision or (1.0, 1.0),
            intercept_prior=priors.intercept_precision,
            monitored=self.monitored_rows,
        )
        self._n_blocks = len(columns)

    @property
    def engine(self) -> str:
        """Name of the compiled code."""
        return self.priors.engine

    def start(self, rng: np.random.Generator, chain: int) -> ChainState:
        """Start with small coefficients, scales and noise a factor apart between chains."""
        settings, latents = self.settings, self.n_latents
        m = len(settings.design)
        spread = 4.0 ** (chain % 4 - 1.5)
        # not far beyond what a light-tailed law of the scale allows
        first = 1.0 if self.priors.half_cauchy else min(1.0, self.priors.scale) ** 2
        share = 1.0 / (latents + self.priors.reference)  # of a class, where nothing is known
        coefficients = 0.1 * rng.standard_normal((latents, m))
        latent = coefficients @ settings.design
        if self.priors.model == "latent_noise":
            latent = np.where(settings.labels == np.arange(latents)[:, None], 1.0, -1.0)
        return ChainState(
            sweep=np.zeros(1, np.int64),
            coefficients=coefficients,
            precisions=np.ones((latents, m)),
            included=np.ones((latents, m), np.int64),
            latent=latent,
            scales=np.full(self._n_blocks, spread * first),
            noise=np.full(1, spread),
            share=np.full(1, 0.5),
            used=np.tile((settings.sizes > 0).astype(np.int64), (latents, 1)),
            curvature=np.tile(settings.squares * share * (1.0 - share), (latents, 1)),
            log_step=np.append(np.full(self._n_blocks, _FIRST_LOG_STEP), _FIRST_PATH_LOG_STEP),
            tallies=np.zeros((2, 2), np.int64),
        )

    def allocate(self, plan: Plan) -> Draws:
        """Return empty arrays for one chain."""
        kept, latents, m = plan.draws, self.n_latents, len(self.settings.design)
        shape = (kept, latents, m) if self.priors.average else (kept, 0, 0)
        return Draws(
            coefficients=np.zeros((kept, latents, m)),
            included=np.zeros(shape, np.int8),
            used=np.zeros(
                (kept, latents if self.priors.select_kernels else 0, self._n_blocks), np.int8
            ),
            scales=np.zeros((kept, self._n_blocks)),
            noise_variance=np.zeros(kept),
            log_likelihood=np.zeros(kept),
            monitored=np.zeros((kept, len(self.monitored_rows))),
        )

    def open(self, state: Any) -> Workspace:
        """Return the memory of a running chain."""
        m, n = self.settings.design.shape
        latents = self.n_latents
        return Workspace(
            weighted=np.empty((m, n)),
            matrix=np.empty((m, m)),
            root=np.empty((m, m)),
            right=np.empty((latents, m)),
            vector=np.empty(m),
            response=np.empty(n),
            rows=np.empty((latents, n)),
            other=np.empty((latents, n)),
            places=np.empty(m, np.int64),
            trial=np.empty((latents, m)),
            momentum=np.empty((latents, m)),
            velocity=np.empty((latents, m)),
            gradient=np.empty((latents, m)),
            precision=np.empty((latents, m)),
        )

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws."""
        return [self.settings.design, self.settings.labels, self.settings.block, self.priors]

    def advance(
        self,
        rngs: tuple[np.random.Generator, np.random.Generator],
        state: ChainState,
        workspace: Workspace,
        draws: Draws,
        stop: int,
        plan: Plan,
        fresh: bool,
    ) -> None:
        """Run sweeps until ``stop`` are done."""
        run = _RUNS[self.priors.model]
        well = run(rngs[0], state, workspace, self.settings, draws, stop, plan.tune, plan.thin)
        if not (well and np.isfinite(state.latent).all()):
            raise FloatingPointError(_LOST[self.priors.model])
