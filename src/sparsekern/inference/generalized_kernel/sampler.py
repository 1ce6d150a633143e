"""The generalized kernel model as a sampler for the chain runner."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...bases.kernel_columns import KernelColumns
from ...kernels.evaluate import TABLE
from ...likelihoods._contract import SAMPLED
from ...likelihoods._row_weights import row_weights
from ...model import Model, check_compatible
from ...priors import beta_binomial_log_weights
from ..chains.plan import Plan
from ..moves.length_scale import FIXED
from .corrected_sweep import run_corrected
from .layout import Layout, compress, plain, tabulate
from .sweep import (
    REFRESH_EVERY,
    ChainState,
    Draws,
    Settings,
    Workspace,
    open_workspace,
    run_sweeps,
)

# A kernel that compiled code cannot evaluate is tabulated: in full up to this many bytes, beyond
# that the columns a leg of the chain may ask for.
_FULL_TABLE_BYTES = 256 * 2**20
_MOST_AT_START = 100  # active vectors
_NONE_DRAWN = np.zeros((0, 0), np.int64)
_SLICES = {"free latents": [0, 1, 2], "": [0, 1], "several kernels": [1]}  # rows of DIRECTIONS


class GeneralizedKernelSampler:
    """Chains of a generalized kernel model.

    Parameters
    ----------
    model : Model
    features : ndarray of shape (n, p)
        Training rows as the kernels see them (the kernel matrix itself if precomputed).
    response : ndarray of shape (n,)
        Responses as the likelihood wants them.
    candidates : ndarray of int or None
        Training rows that may become active; None: all.
    width_mode : int
        ``FIXED``, ``SHARED`` or ``PER_FEATURE`` of :mod:`.length_scale`.
    width_bounds : (float, float)
        Box of the length scales, in multiples of the kernel's own.
    moves, blocks, scans : int
        Active-set moves, moves of several vectors at once and latent scans of a sweep.
    joint_moves : int
        Active-set moves inside a joint move of set and function.
    keep_states : bool
        Whether to keep, for every draw, what predictions with the coefficients integrated out need.
    n_monitored : int
        Training rows whose expected response is followed for convergence.
    """

    refresh_every = REFRESH_EVERY

    def __init__(
        self,
        model: Model,
        features: np.ndarray,
        response: np.ndarray,
        *,
        candidates: np.ndarray | None = None,
        width_mode: int = FIXED,
        width_bounds: tuple[float, float] = (0.1, 10.0),
        moves: int = 10,
        blocks: int = 2,
        scans: int = 3,
        joint_moves: int = 30,
        keep_states: bool = False,
        n_monitored: int = 10,
    ) -> None:
        check_compatible(
            model, "The Gibbs sampler", SAMPLED, "a likelihood with a Gaussian working response"
        )
        n = len(features)
        self._corrected = "working response" not in model.likelihood.provides
        self.keep_states = keep_states
        self.model, self.features, self.response = model, features, response
        self._weights = row_weights(model.likelihood, n)
        self.monitored_rows = np.unique(np.linspace(0, n - 1, min(n, n_monitored)).astype(np.int64))
        rows = np.arange(n) if candidates is None or not model.sparse else np.unique(candidates)
        self._largest = min(model.max_active, len(rows)) if model.sparse else n
        self.limits = {"n_active": self._largest} if self._largest < len(rows) else {}
        self.layout, self._by_leg = self._lay_out(rows, width_mode)
        several = len(model.kernels) > 1
        functions = "function moves" in model.likelihood.provides and not several
        slices = "free latents" if "free latents" in model.likelihood.provides else ""
        widths = np.stack([kernel.length_scale for kernel in model.kernels])
        fixed = np.array([not kernel.stationary for kernel in model.kernels])
        box = np.stack([widths * bound for bound in width_bounds], axis=-1)
        box[fixed] = widths[fixed, :, None]
        self.settings = Settings(
            log_weights=beta_binomial_log_weights(len(rows), self._largest, model.size_shapes),
            candidates=self.layout.candidates,
            box=box,
            monitored_rows=self.layout.monitored,
            moves=moves if model.sparse else 0,
            # newcomers in blocks are not known beforehand, as leg-wise tables need them
            blocks=blocks if model.sparse and not self._by_leg else 0,
            scans=scans,
            directions=np.array(_SLICES["several kernels" if several else slices]),
            function_moves=functions,
            # nor those in joint moves
            joint_moves=joint_moves if model.sparse and functions and not self._by_leg else 0,
            width_mode=width_mode,
        )

    def _lay_out(self, rows: np.ndarray, width_mode: int) -> tuple[Layout, bool]:
        model, features = self.model, self.features
        parts = (model.kernels, features, self.response, rows, self.monitored_rows, model.jitter,
                 self._weights)  # fmt: skip
        compressed = 2 * (len(rows) * len(model.kernels) + 10)
        if (
            "inner products suffice" in model.likelihood.provides
            and width_mode == FIXED
            and len(features) > compressed
        ):
            return compress(*parts), False
        return plain(*parts, _FULL_TABLE_BYTES)

    @property
    def engine(self) -> str:
        """Name of the compiled code: one for each likelihood, one for all that are corrected."""
        return (
            "run_corrected"
            if self._corrected
            else f"run_sweeps-{type(self.model.likelihood).__name__}"
        )

    @property
    def basis(self) -> KernelColumns:
        """Kernel columns for compiled code."""
        return self.layout.basis

    @property
    def prior(self) -> Any:
        """Prior of the scales."""
        return self.model.prior

    def start(self, rng: np.random.Generator, chain: int) -> ChainState:
        """Start apart: 5 to 100 active vectors in turn, scales a factor apart."""
        layout, settings, model = self.layout, self.settings, self.model
        total, kernels = len(layout.ones), len(model.kernels)
        rows = np.zeros(self._largest + 1, np.int64)
        count = self._largest
        if model.sparse:
            most = min(self._largest, _MOST_AT_START)
            count = min(most, (5, most, 10, most // 2)[chain % 4])
            rows[:count] = rng.permutation(layout.candidates)[:count]
        else:
            rows[:count] = layout.candidates
        spread = 2.0 ** (chain % 4 - 1.5)
        working = np.atleast_2d(model.likelihood.start_working(layout.response)).copy()
        noise = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
        if model.noise_prior is not None:
            shape, rate = model.noise_prior
            noise[:2] = shape + 0.5 * self._weights.sum(), rate
        variances = np.full(1 + kernels, 2.0 * spread)
        variances[0] = 1.0
        scales = np.stack([kernel.length_scale for kernel in model.kernels])
        return ChainState(
            sweep=np.zeros(1, np.int64),
            n_active=np.array([count], dtype=np.int64),
            rows=rows,
            response=working,
            precision=layout.precision.copy(),
            noise=noise,
            parameters=model.likelihood.start_parameters(),
            variances=variances,
            length_scale=np.clip(scales, settings.box[..., 0], settings.box[..., 1]),
            slice_width=np.array([1.0, 1.0, 0.2, 0.5]),
            log_step=np.array([np.log(0.3)]),
            sites=np.vstack([working[0], np.ones(total)]),
            site_sums=np.zeros((3, total)),
            site_counts=np.zeros(2, np.int64),
            tallies=np.zeros((7, 2), np.int64),
            function=np.zeros(1 + self._largest * kernels + total if self._corrected else 0),
        )

    def allocate(self, plan: Plan) -> Draws:
        """Return empty arrays for one chain."""
        kept, largest, kernels = plan.draws, self._largest, len(self.model.kernels)
        learned = 0 if self.settings.width_mode == FIXED else self.features.shape[1]
        latents = np.atleast_2d(self.model.likelihood.start_working(self.response[:1])).shape[0]
        columns = largest * kernels if self.keep_states else -1
        return Draws(
            n_active=np.zeros(kept, np.int32),
            rows=np.zeros((kept, largest), np.int32),
            coefficients=np.zeros((kept, latents, largest * kernels)),
            intercept=np.zeros((kept, latents)),
            variances=np.zeros((kept, 1 + kernels)),
            length_scale=np.zeros((kept, kernels if learned else 0, learned)),
            noise_variance=np.zeros(kept),
            parameters=np.zeros((kept, len(self.model.likelihood.start_parameters()))),
            log_likelihood=np.zeros(kept),
            monitored=np.zeros((kept, len(self.monitored_rows))),
            means=np.zeros((kept, latents, columns + 1)),
            packed=np.zeros((kept, (columns + 1) * (columns + 2) // 2)),
            size_trace=np.zeros(plan.sweeps, np.int32),
        )

    def open(self, state: ChainState) -> Workspace:
        """Return the memory of a running chain."""
        layout = self.layout
        data = self.model.likelihood.compiled(layout.response[: layout.data_rows], state.parameters)
        if layout.data_rows < len(layout.ones):
            counted = np.array([self._weights.sum()])
            data = data._replace(weight=np.ones(layout.data_rows), counted=counted)
        return open_workspace(state, self.settings, data, layout.ones)

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
        """Run compiled sweeps until ``stop``."""
        rng, drawing_rng = rngs
        while state.sweep[0] < stop:
            goal, basis, drawn = stop, self.basis, _NONE_DRAWN
            if self._by_leg:
                goal = min(stop, int(state.sweep[0]) + self._leg_sweeps())
                basis, drawn = self._tabulate(drawing_rng, state, goal)
            run = run_corrected if self._corrected else run_sweeps
            smallest = run(
                rng, state, workspace, basis, self.prior, self.settings, draws, drawn,
                goal, plan.tune, plan.thin, fresh,
            )  # fmt: skip
            fresh = False
            self._check_pivot(smallest)

    def _leg_sweeps(self) -> int:
        columns = _FULL_TABLE_BYTES // (8 * len(self.features) * len(self.model.kernels))
        return max(1, (columns - self._largest) // max(1, self.settings.moves))

    def _tabulate(
        self, rng: np.random.Generator, state: ChainState, goal: int
    ) -> tuple[KernelColumns, np.ndarray]:
        """Draw the newcomers of the sweeps ahead and evaluate the kernel columns they need."""
        rows = self.layout.candidates
        shape = (goal - int(state.sweep[0]), self.settings.moves)
        drawn = rows[rng.integers(0, len(rows), size=shape)]
        needed = np.union1d(drawn, state.rows[: state.n_active[0]])
        slot = np.full(len(self.features), -1)
        slot[needed] = np.arange(len(needed))
        table = tabulate(self.model.kernels, self.features, needed)
        return self.basis._replace(table=table, slot=slot), drawn

    def _check_pivot(self, smallest: float) -> None:
        """Refuse a kernel whose matrix has shown a negative pivot, and a chain that broke down."""
        names = ", ".join(kernel.name for kernel in self.model.kernels)
        if np.isnan(smallest):
            raise FloatingPointError(
                f"Sampling broke down numerically with kernel={names}: the latent "
                "variables are no longer finite. Rescale the inputs or the kernel, or increase "
                f"jitter (now {self.model.jitter:g}), for instance a hundredfold."
            )
        size = float(np.max(np.abs(self.basis.diagonal)))
        if smallest < -1e-6 * size:
            raise ValueError(
                f"kernel={names} is not positive definite: its matrix at the active "
                f"vectors has the pivot {smallest:.3g}. Use another kernel."
            )

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws: data, kernel values, settings."""
        model = self.model
        parts: list[Any] = [self.features, self.response, self.basis.table]
        for kernel in model.kernels:
            parts += [kernel.kind, kernel.name, kernel.amplitude, kernel.length_scale]
            if self._by_leg and kernel.kind == TABLE:
                # too large to evaluate in full: a Python kernel on a spread of rows
                rows = np.linspace(0, len(self.features) - 1, 50).astype(int)
                parts.append(kernel.matrix(self.features[rows], self.features))
        return [
            *parts, *self.settings, *self.prior, model.likelihood.name, model.noise_prior,
            model.sparse, model.jitter,
            *(part for item in sorted(vars(model.likelihood).items()) for part in item),
        ]  # fmt: skip
