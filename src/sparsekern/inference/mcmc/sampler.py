"""The generalized kernel model as a sampler for the chain runner."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...bases.kernel_columns import KernelColumns
from ...kernels.evaluate import TABLE
from ...model import Model, check_compatible
from ...priors import beta_binomial_log_weights
from .._contract import Plan
from .gibbs import (
    REFRESH_EVERY,
    ChainState,
    Draws,
    Settings,
    Workspace,
    open_workspace,
    run_sweeps,
)
from .length_scale import FIXED

# A kernel that compiled code cannot evaluate is tabulated: in full up to this many bytes, beyond
# that the columns a leg of the chain may ask for.
_FULL_TABLE_BYTES = 256 * 2**20
REQUIRES = frozenset({"collapsed latent scan", "unit precision"})
_NO_CANDIDATES = np.zeros((0, 0), np.int64)


class GeneralizedKernelSampler:
    """Chains of a generalized kernel model with a probit likelihood.

    Parameters
    ----------
    model : Model
    features : ndarray of shape (n, p)
        Training rows as the kernel sees them (the kernel matrix itself if precomputed).
    side : ndarray of shape (n,)
        Labels as -1.0 and +1.0.
    width_mode : int
        ``FIXED``, ``SHARED`` or ``PER_FEATURE`` of :mod:`.length_scale`.
    width_bounds : (float, float)
        Box of the length scales, in multiples of the kernel's own.
    moves, scans : int
        Active-set moves and latent scans of a sweep.
    joint_moves : int
        Active-set moves inside a joint move of set and function.
    n_monitored : int
        Training rows whose class probability is followed for convergence.
    """

    refresh_every = REFRESH_EVERY

    def __init__(
        self,
        model: Model,
        features: np.ndarray,
        side: np.ndarray,
        *,
        width_mode: int = FIXED,
        width_bounds: tuple[float, float] = (0.1, 10.0),
        moves: int = 10,
        scans: int = 3,
        joint_moves: int = 30,
        n_monitored: int = 10,
    ) -> None:
        check_compatible(
            model, "The collapsed Gibbs sampler", REQUIRES, "a likelihood with Gaussian latents"
        )
        n = len(features)
        kernel = model.kernel
        self.model, self.kernel, self.features = model, kernel, features
        self.sparse, self.prior = model.sparse, model.prior
        self._largest = min(model.max_active, n) if model.sparse else n
        rows = np.unique(np.linspace(0, n - 1, min(n, n_monitored)).astype(np.int64))
        self.settings = Settings(
            side=np.asarray(side, dtype=np.float64),
            log_weights=beta_binomial_log_weights(n, self._largest, model.size_shapes),
            box=np.outer(kernel.length_scale, width_bounds),
            monitored_rows=rows,
            moves=moves if model.sparse else 0,
            scans=scans,
            joint_moves=joint_moves if model.sparse else 0,
            width_mode=width_mode,
        )
        self._by_leg = False
        self.basis = self._make_basis()
        if self._by_leg:  # its newcomers are not known beforehand
            self.settings = self.settings._replace(joint_moves=0)

    def _make_basis(self) -> KernelColumns:
        n, kernel = len(self.features), self.kernel
        features, table, slot = self.features, np.zeros((0, n)), np.zeros(0, np.int64)
        diagonal = kernel.diagonal(features)
        if kernel.kind == TABLE:
            slot = np.arange(n)
            if kernel.precomputed:
                table, features = np.ascontiguousarray(features.T), np.zeros((n, 0))
            elif 8 * n * n <= _FULL_TABLE_BYTES:
                table = kernel.matrix(features, features)
            else:
                self._by_leg = True
        # relative to the kernel, so that its amplitude does not change the model
        jitter = self.model.jitter * max(float(np.mean(diagonal)), np.finfo(np.float64).tiny)
        columns = np.ascontiguousarray(features.T)  # no copy when the estimator stored it so
        return KernelColumns(columns, kernel.kind, kernel.amplitude, diagonal, table, slot, jitter)

    def start(self, rng: np.random.Generator, chain: int) -> ChainState:
        """Start over-dispersed: few and many active vectors in turn, scales a factor apart."""
        n = len(self.features)
        settings = self.settings
        rows = np.zeros(self._largest + 1, np.int64)
        count = n
        if self.sparse:
            count = min(self._largest, (5, self._largest, 10, self._largest // 2)[chain % 4])
        rows[:count] = rng.permutation(n)[:count] if self.sparse else np.arange(n)
        spread = 2.0 ** (chain % 4 - 1.5)
        return ChainState(
            sweep=np.zeros(1, np.int64),
            n_active=np.array([count], dtype=np.int64),
            rows=rows,
            latent=(0.8 * settings.side)[None].copy(),
            variances=np.array([1.0, 2.0 * spread]),
            length_scale=np.clip(self.kernel.length_scale, *settings.box.T),
            slice_width=np.array([1.0, 1.0, 0.2, 0.5]),
            log_step=np.array([np.log(0.3)]),
            sites=np.vstack([settings.side, np.ones(n)]),
            site_sums=np.zeros((3, n)),
            site_counts=np.zeros(2, np.int64),
            tallies=np.zeros((5, 2), np.int64),
        )

    def allocate(self, plan: Plan) -> Draws:
        """Return empty arrays for one chain."""
        kept, largest = plan.draws, self._largest
        learned = 0 if self.settings.width_mode == FIXED else self.features.shape[1]
        return Draws(
            n_active=np.zeros(kept, np.int32),
            rows=np.zeros((kept, largest), np.int32),
            coefficients=np.zeros((kept, largest)),
            intercept=np.zeros(kept),
            scale=np.zeros(kept),
            intercept_precision=np.zeros(kept),
            length_scale=np.zeros((kept, learned)),
            log_likelihood=np.zeros(kept),
            monitored=np.zeros((kept, len(self.settings.monitored_rows))),
            size_trace=np.zeros(plan.sweeps, np.int32),
        )

    def open(self, state: ChainState) -> Workspace:
        """Return the memory of a running chain."""
        return open_workspace(state, self.settings)

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
        rng, candidate_rng = rngs
        while state.sweep[0] < stop:
            goal, basis, candidates = stop, self.basis, _NO_CANDIDATES
            if self._by_leg:
                goal = min(stop, int(state.sweep[0]) + self._leg_sweeps())
                basis, candidates = self._tabulate(candidate_rng, state, goal)
            smallest = run_sweeps(
                rng, state, workspace, basis, self.prior, self.settings, draws, candidates,
                goal, plan.tune, plan.thin, fresh,
            )  # fmt: skip
            fresh = False
            self._check_pivot(smallest)

    def _leg_sweeps(self) -> int:
        columns = _FULL_TABLE_BYTES // (8 * len(self.features))
        return max(1, (columns - self._largest) // max(1, self.settings.moves))

    def _tabulate(
        self, rng: np.random.Generator, state: ChainState, goal: int
    ) -> tuple[KernelColumns, np.ndarray]:
        """Draw the newcomers of the sweeps ahead and evaluate the kernel columns they need."""
        n = len(self.features)
        shape = (goal - int(state.sweep[0]), self.settings.moves)
        candidates = rng.integers(0, n, size=shape)
        needed = np.union1d(candidates, state.rows[: state.n_active[0]])
        slot = np.full(n, -1)
        slot[needed] = np.arange(len(needed))
        table = self.kernel.matrix(self.features[needed], self.features)
        return self.basis._replace(table=table, slot=slot), candidates

    def _check_pivot(self, smallest: float) -> None:
        """Refuse a kernel whose matrix has shown a negative pivot, and a chain that broke down."""
        if np.isnan(smallest):
            raise FloatingPointError(
                f"Sampling broke down numerically with kernel={self.kernel.name}: the latent "
                "variables are no longer finite. Rescale the inputs or the kernel, or increase "
                f"jitter (now {self.model.jitter:g}), for instance a hundredfold."
            )
        size = float(np.max(np.abs(self.basis.diagonal)))
        if smallest < -1e-6 * size:
            raise ValueError(
                f"kernel={self.kernel.name} is not positive definite: its matrix at the active "
                f"vectors has the pivot {smallest:.3g}. Use another kernel."
            )

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws: data, kernel values, settings."""
        kernel, values = self.kernel, self.basis.table
        if self._by_leg:  # too large to evaluate in full: a Python kernel on a spread of rows
            rows = np.linspace(0, len(self.features) - 1, 50).astype(int)
            values = kernel.matrix(self.features[rows], self.features)
        return [
            self.features, values, kernel.kind, kernel.name, kernel.amplitude, kernel.length_scale,
            *self.settings, *self.prior, self.sparse, self.model.jitter,
        ]  # fmt: skip
