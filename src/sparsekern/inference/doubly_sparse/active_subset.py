r"""The paper's scheme for large n: the active vectors are also the only data. Approximate.

Rows and columns are restricted to the active set R of the sweep, of size k:

1. features and bandwidths, with coefficients and noise integrated out of the k rows of R;
2. :math:`\sigma^2`, then :math:`\beta_R` given it; 3. :math:`\nu_1`;
4. over all candidates j, in random order and with R held fixed: an inactive one draws
   :math:`\beta_j\sim N(0,1/(K_j^\top K_j+1/\sigma^2\nu_0))`, and j is active with log odds

   .. math::
       \log\frac\pi{1-\pi}+\log\frac{\phi(\beta_j;0,\sigma^2\nu_1)}{\phi(\beta_j;0,\sigma^2\nu_0)}
       +\frac{2\beta_jK_j^\top r_j+(\sigma^2-1)K_j^\top K_j\beta_j^2}{2\sigma^2},

   :math:`K_j=(k(x_i,x_j))_{i\in R}` and :math:`r_j` the residual without j. The active ones make
   the R of the next sweep.

Step 4 is exact for a pseudo-posterior with R fixed; with R moving the likelihood changes its
dimension and no posterior is left invariant. It is kept for comparison; a dictionary uses all rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._jit import jit
from ...bases.feature_columns import FeatureColumns, write_sums
from ...kernels.feature_sums import add_feature, kernel_of_sums
from ...likelihoods._compiled import monitor, total_log_likelihood
from ...linalg.copies import copy_vector
from ...linalg.whitened_factor import SHAPE, VARIANCE
from ...linalg.whitened_response import draw_coefficients, draw_noise
from ...priors.scales import draw_variance
from ..chains.plan import Plan
from .sampler import DoublySparseSampler
from .sweep import (
    DoublySparseDraws,
    DoublySparseState,
    DoublySparseWorkspace,
    open_workspace,
    store_features,
    sweep_features,
)


class SubsetWorkspace(NamedTuple):
    """Memory of one running chain."""

    data: Any  # all responses
    everyone: FeatureColumns  # all rows
    response: np.ndarray  # float64[n], of all rows
    noise_shape: float  # of the prior
    inner: DoublySparseState  # the active rows alone; what is not about rows is shared
    subset: DoublySparseWorkspace  # theirs, padded to one size by rows of precision zero
    member: np.ndarray  # int64[n], 1 where active
    coefficients: np.ndarray  # float64[n]
    order: np.ndarray  # int64[c], the candidates
    function: np.ndarray  # float64[1, n]
    sums: np.ndarray  # float64[n]
    values: np.ndarray  # float64[n]


@jit
def gather_subset(state, work):
    """Copy the active rows into the subset's own data."""
    inner, subset, k = work.inner, work.subset, state.n_active[0]
    inner.n_active[0] = k
    inner.noise[SHAPE] = work.noise_shape + 0.5 * k
    subset.spare.noise[SHAPE] = inner.noise[SHAPE]  # proposals are valued there
    for a in range(inner.precision.shape[0]):
        row = state.rows[a] if a < k else state.rows[0]
        inner.precision[a] = 1.0 if a < k else 0.0
        inner.response[0, a] = work.response[row]
        for feature in range(subset.basis.columns.shape[0]):
            subset.basis.columns[feature, a] = work.everyone.columns[feature, row]
    for a in range(k):
        inner.rows[a] = a


@jit
def scan_members(rng, work, residual, k, most, log_odds, noise, slab, spike):
    """Draw who is active, one candidate after the other; return how many are.

    ``residual`` belongs to the first k rows of the subset and follows every change.
    """
    everyone, columns = work.everyone, work.subset.basis.columns
    order, sums, values = work.order, work.sums[:k], work.values[:k]
    constant = log_odds + 0.5 * math.log(spike / slab)
    size = 0
    for row in order:
        size += work.member[row]
    for at in range(order.shape[0]):
        other = rng.integers(at, order.shape[0])
        row = order[other]
        order[other] = order[at]
        order[at] = row
        sums[:] = 0.0
        for place in range(everyone.n_features[0]):
            feature = everyone.features[place]
            add_feature(
                columns[feature, :k], everyone.columns[feature, row], everyone.bandwidths[place],
                everyone.kind, sums, sums,
            )  # fmt: skip
        kernel_of_sums(sums, everyone.kind, values)
        square, inner = 0.0, 0.0
        for i in range(k):
            square += values[i] * values[i]
            inner += values[i] * residual[i]
        active = work.member[row] > 0
        if active:
            coefficient = work.coefficients[row]
            inner += square * coefficient
        else:
            coefficient = rng.standard_normal() / math.sqrt(square + 1.0 / (noise * spike))
        energy = coefficient * coefficient / (2.0 * noise)
        odds = constant + energy * (1.0 / spike - 1.0 / slab)
        odds += coefficient * inner / noise + energy * (noise - 1.0) * square
        enters = rng.random() * (1.0 + math.exp(-odds)) < 1.0
        if enters and not active and size == most:
            continue  # the prior ends here
        if enters != active:
            change = -coefficient if enters else coefficient
            size += 1 if enters else -1
            for i in range(k):
                residual[i] += change * values[i]
        work.member[row] = 1 if enters else 0
        work.coefficients[row] = coefficient
    return size


@jit
def _draw_slab(rng, state, prior, coefficients, noise):
    squares = 0.0
    for a in range(state.n_active[0]):
        squares += coefficients[a] ** 2
    state.variances[1] = draw_variance(
        rng, prior, state.n_active[0], squares / noise, state.variances[1]
    )


@jit
def _store(state, work, settings, draws, intercept, coefficients, noise, at):
    """Write down the function just drawn, and what it says about all rows."""
    function = work.function
    function[0] = intercept
    for a in range(state.n_active[0]):
        write_sums(work.everyone, state.rows[a], work.sums)
        kernel_of_sums(work.sums, work.everyone.kind, work.values)
        for i in range(function.shape[1]):
            function[0, i] += coefficients[a] * work.values[i]
        draws.rows[at, a] = state.rows[a]
        draws.coefficients[at, 0, a] = coefficients[a]
    draws.n_active[at] = state.n_active[0]
    draws.intercept[at, 0] = intercept
    copy_vector(state.variances, draws.variances[at])
    draws.noise_variance[at] = noise
    draws.log_likelihood[at] = total_log_likelihood(work.data, function, noise)
    for m in range(settings.monitored_rows.shape[0]):
        draws.monitored[at, m] = monitor(work.data, function, settings.monitored_rows[m])
    store_features(state, draws, at)


@jit
def run_active_subset(rng, state, work, prior, settings, draws, spike, stop, tune, thin):
    """Run until ``stop`` sweeps are done; return whether the noise stayed finite."""
    factor, fitted = work.subset.factor, work.subset.functions[0]
    coefficients = work.subset.memory.coefficients
    most = settings.log_weights.shape[0] - 1
    log_odds = settings.log_weights[1] - settings.log_weights[0]
    while state.sweep[0] < stop:
        sweep, k = state.sweep[0], state.n_active[0]
        if sweep == tune:
            state.tallies[:] = 0
        gather_subset(state, work)
        sweep_features(rng, work.inner, work.subset, settings, sweep < tune)
        draw_noise(rng, factor)
        noise = factor.noise[VARIANCE]
        intercept = draw_coefficients(rng, factor, 0, coefficients, fitted)
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            at = kept // thin - 1
            _store(state, work, settings, draws, intercept, coefficients, noise, at)
        _draw_slab(rng, state, prior, coefficients, noise)
        work.member[:] = 0
        copy_vector(settings.candidates, work.order)  # the same whatever went before
        for a in range(k):
            work.member[state.rows[a]] = 1
            work.coefficients[state.rows[a]] = coefficients[a]
            fitted[a] = work.inner.response[0, a] - fitted[a]
        size = scan_members(rng, work, fitted, k, most, log_odds, noise, state.variances[1], spike)
        if size > 0:  # an empty set would be left without data: the old one stays
            state.n_active[0] = 0
            for row in settings.candidates:
                if work.member[row] > 0:
                    state.rows[state.n_active[0]] = row
                    state.n_active[0] += 1
        draws.size_trace[sweep] = state.n_active[0]
        draws.features_trace[sweep] = state.n_features[0]
        state.sweep[0] = sweep + 1
        if not math.isfinite(noise):
            return False
    return True


class ActiveSubsetSampler(DoublySparseSampler):
    """Chains of the active-subset scheme, for Gaussian noise.

    Parameters
    ----------
    spike : float
        Prior variance of an inactive coefficient, in units of the noise's.
    *args, **kwargs
        As for :class:`.DoublySparseSampler`; the likelihood must be Gaussian.
    """

    def __init__(self, *args: Any, spike: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.spike = spike

    @property
    def engine(self) -> str:
        """Name of the compiled code."""
        return "run_active_subset"

    def start(self, rng: np.random.Generator, chain: int) -> DoublySparseState:
        """Start with rows spread evenly over the order of their responses."""
        order = self.settings.candidates[np.argsort(self.response[self.settings.candidates])]
        count = min(self._largest, max(10, round(self.model.vector_probability * len(order))))
        edges = np.linspace(0, len(order), min(count, len(order)) + 1).astype(np.intp)
        return self._start_from(order[rng.integers(edges[:-1], edges[1:])], rng, chain)

    def open(self, state: DoublySparseState) -> Any:
        """Return the memory of a running chain: n numbers a few times, and the subset's own."""
        most, p = self._largest, self.features.shape[1]
        inner = state._replace(
            n_active=np.zeros(1, np.int64),
            rows=np.zeros(most + 1, np.int64),
            response=np.zeros((1, most)),
            precision=np.zeros(most),
        )
        likelihood, n = self.model.likelihood, len(self.response)
        small = likelihood.compiled(np.zeros(most), state.parameters)
        subset = open_workspace(inner, np.zeros((p, most)), self.model.kind, small)
        return SubsetWorkspace(
            data=likelihood.compiled(self.response, state.parameters),
            everyone=subset.basis._replace(columns=self._columns),
            response=np.asarray(self.response, dtype=np.float64),
            noise_shape=float((self.model.noise_prior or (0.0, 0.0))[0]),
            inner=inner,
            subset=subset,
            member=np.zeros(n, np.int64),
            coefficients=np.zeros(n),
            order=self.settings.candidates.copy(),
            function=np.zeros((1, n)),
            sums=np.zeros(n),
            values=np.zeros(n),
        )

    knows_log_density = False  # the data are other rows in every sweep

    def _start_workspace(self, state: DoublySparseState) -> DoublySparseWorkspace:
        work = self.open(state)
        gather_subset(state, work)
        return work.subset

    def advance(
        self,
        rngs: tuple[np.random.Generator, np.random.Generator],
        state: DoublySparseState,
        workspace: Any,
        draws: DoublySparseDraws,
        stop: int,
        plan: Plan,
        fresh: bool,
    ) -> None:
        """Run compiled sweeps until ``stop``."""
        if not run_active_subset(
            rngs[0], state, workspace, self.model.prior, self.settings, draws, self.spike, stop,
            plan.tune, plan.thin,
        ):  # fmt: skip
            self._break_down()

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws."""
        return [*super().fingerprint_parts(), "active_subset", self.spike]
