r"""The reference sampler: every candidate's weight, its precision and the latent variables.

Given the others, :math:`z_n\sim N(f_n,1)` on the side of :math:`y_n`; :math:`w_i` is normal with
precision :math:`\alpha_i+|\Phi_i|^2`, restricted to :math:`w_i\ge0` unless it is the bias; and
:math:`\alpha_i\sim\mathrm{Gamma}(a+\frac12,\ \text{rate}\ b+\frac12w_i^2)`. Nothing is
approximated and nothing is sparse: it says what the quick methods should have found.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._jit import jit
from ...linalg.triangular import dot
from ...random.half_line_moments import log_normal_cdf
from ...random.truncated_normal import excess_above, normal_on_side
from ..chains.plan import Plan


class GibbsState(NamedTuple):
    """All that a chain needs to go on."""

    sweep: np.ndarray  # int64[1]
    weight: np.ndarray  # float64[m + 1], bias first
    alpha: np.ndarray  # float64[m + 1]
    latent: np.ndarray  # float64[n]
    tallies: np.ndarray  # int64[0, 2]: nothing is ever refused


class GibbsDraws(NamedTuple):
    """Kept draws of one chain."""

    n_active: np.ndarray  # int32[T]
    rows: np.ndarray  # int32[T, m]
    coefficients: np.ndarray  # float64[T, 1, m], with the sign of the column
    intercept: np.ndarray  # float64[T, 1]
    noise_variance: np.ndarray  # float64[T]
    parameters: np.ndarray  # float64[T, 0]
    log_likelihood: np.ndarray  # float64[T]
    monitored: np.ndarray  # float64[T, q]
    size_trace: np.ndarray  # int32[sweeps]


@jit
def sweep_once(rng, state, design, squares, labels, shape, rate, learn, fitted):
    """Carry out one sweep; ``fitted`` is left at the values of the function."""
    n, count = labels.shape[0], state.weight.shape[0]
    fitted[:] = 0.0
    for i in range(count):
        for j in range(n):
            fitted[j] += state.weight[i] * design[i, j]
    residual = state.latent
    for j in range(n):
        residual[j] = normal_on_side(rng, fitted[j], 1.0, labels[j]) - fitted[j]
    for i in range(count):
        column = design[i]
        precision = state.alpha[i] + squares[i]
        centre = state.weight[i] * squares[i] + dot(column, residual, n)
        centre /= precision
        sd = 1.0 / math.sqrt(precision)
        if i == 0:
            new = centre + sd * rng.standard_normal()
        else:
            # the excess over zero keeps its digits where the mean lies far below
            new = sd * excess_above(rng, -centre / sd)
            if learn:
                scale = rate + 0.5 * new * new
                state.alpha[i] = rng.standard_gamma(shape + 0.5) / scale
        change = new - state.weight[i]
        state.weight[i] = new
        for j in range(n):
            residual[j] -= change * column[j]
            fitted[j] += change * column[j]
    for j in range(n):
        residual[j] += fitted[j]  # the latent variables themselves


@jit
def run_gibbs(
    rng,
    state,
    design,
    squares,
    labels,
    signs,
    shape,
    rate,
    learn,
    monitored,
    draws,
    stop,
    tune,
    thin,
):
    """Run until ``stop`` sweeps are done."""
    n, m = labels.shape[0], signs.shape[0]
    fitted = np.empty(n)
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        sweep_once(rng, state, design, squares, labels, shape, rate, learn, fitted)
        draws.size_trace[sweep] = m
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            at = kept // thin - 1
            draws.n_active[at] = m
            draws.intercept[at, 0] = state.weight[0]
            for i in range(m):
                draws.rows[at, i] = i
                draws.coefficients[at, 0, i] = signs[i] * state.weight[i + 1]
            draws.noise_variance[at] = 1.0
            total = 0.0
            for j in range(n):
                total += log_normal_cdf(labels[j] * fitted[j])
            draws.log_likelihood[at] = total
            for q in range(monitored.shape[0]):
                draws.monitored[at, q] = 0.5 * math.erfc(-fitted[monitored[q]] * math.sqrt(0.5))
        state.sweep[0] = sweep + 1


class GibbsSampler:
    """Chains of the model with all candidates, for the shared chain runner.

    Parameters
    ----------
    design : ndarray of shape (m + 1, n)
        Columns with their signs, the bias first.
    signs : ndarray of shape (m,)
    labels : ndarray of shape (n,)
    precision_prior : (float, float)
        Shape and rate of each precision.
    bias_precision : float
    precisions : ndarray of shape (m,), optional
        Hold the precisions at these values.
    """

    refresh_every = 1
    engine = "pcvm_gibbs"

    def __init__(
        self,
        design: np.ndarray,
        signs: np.ndarray,
        labels: np.ndarray,
        precision_prior: tuple[float, float],
        bias_precision: float,
        n_monitored: int = 10,
        precisions: np.ndarray | None = None,
    ) -> None:
        self.design, self.signs, self.response = design, signs, labels
        self.prior, self.bias_precision, self.precisions = (
            precision_prior,
            bias_precision,
            precisions,
        )
        self._squares = np.einsum("in,in->i", design, design)
        n = len(labels)
        self.monitored_rows = np.unique(np.linspace(0, n - 1, min(n, n_monitored)).astype(np.int64))

    def start(self, rng: np.random.Generator, chain: int) -> GibbsState:
        """Return small weights, over-dispersed between chains."""
        count = len(self.design)
        alpha = np.full(count, self.bias_precision)
        alpha[1:] = 10.0 ** rng.uniform(-1, 1) if self.precisions is None else self.precisions
        weight = np.abs(rng.standard_normal(count)) / np.sqrt(count * (1.0 + alpha))
        return GibbsState(
            np.zeros(1, np.int64), weight, alpha, self.response.copy(), np.zeros((0, 2), np.int64)
        )

    def allocate(self, plan: Plan) -> GibbsDraws:
        """Return empty arrays for one chain."""
        kept, m = plan.draws, len(self.signs)
        return GibbsDraws(
            n_active=np.zeros(kept, np.int32),
            rows=np.zeros((kept, m), np.int32),
            coefficients=np.zeros((kept, 1, m)),
            intercept=np.zeros((kept, 1)),
            noise_variance=np.zeros(kept),
            parameters=np.zeros((kept, 0)),
            log_likelihood=np.zeros(kept),
            monitored=np.zeros((kept, len(self.monitored_rows))),
            size_trace=np.zeros(plan.sweeps, np.int32),
        )

    def open(self, state: Any) -> None:
        """Nothing is needed besides the state."""

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws."""
        return [self.design, self.response, self.prior, self.bias_precision, self.precisions]

    def advance(
        self,
        rngs: tuple[np.random.Generator, np.random.Generator],
        state: GibbsState,
        workspace: None,
        draws: GibbsDraws,
        stop: int,
        plan: Plan,
        fresh: bool,
    ) -> None:
        """Run sweeps until ``stop`` are done."""
        run_gibbs(
            rngs[0], state, self.design, self._squares, self.response, self.signs, *self.prior,
            self.precisions is None, self.monitored_rows, draws, stop, plan.tune, plan.thin,
        )  # fmt: skip
