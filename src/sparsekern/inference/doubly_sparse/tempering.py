r"""Parallel tempering of the doubly-sparse sampler with Gaussian noise.

A chain becomes a ladder of replicas; replica r targets the posterior with the likelihood to the
power :math:`\kappa_r=1/T_r`, the first being the posterior itself. With Gaussian noise of unknown
variance the power is one more precision: :math:`\Omega=\kappa_rI` (times weights) and the shape
:math:`a+\kappa_rn/2` of the noise, so that every replica runs the ordinary sweep. After each sweep
one pair of neighbours offers to exchange features, bandwidths, vectors and slab,

.. math::
    \log r=\log m_{\kappa_i}(\theta_j)+\log m_{\kappa_j}(\theta_i)
    -\log m_{\kappa_i}(\theta_i)-\log m_{\kappa_j}(\theta_j).

Hidden variables of other likelihoods would have to be tempered too, and for probit and logit that
only rescales the slab, which is learned: nothing would be gained.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._jit import jit
from ...bases.feature_columns import rebuild_features
from ...linalg.whitened_factor import SHAPE, response_energy
from ..chains.plan import Plan
from ..moves.kept_draw import store_function
from .sampler import DoublySparseSampler
from .sweep import (
    DoublySparseDraws,
    DoublySparseState,
    DoublySparseWorkspace,
    end_tuning,
    store_features,
    sweep_once,
)

TEMPERATURE = 8  # row of the tallies


class TemperedState(NamedTuple):
    """The states of all replicas, the coldest first, one array for each part."""

    sweep: np.ndarray  # int64[1]
    n_active: np.ndarray
    rows: np.ndarray
    n_features: np.ndarray
    features: np.ndarray
    bandwidths: np.ndarray
    response: np.ndarray
    precision: np.ndarray
    noise: np.ndarray
    parameters: np.ndarray
    variances: np.ndarray
    slice_width: np.ndarray
    log_step: np.ndarray
    steps: np.ndarray
    log_ridge: np.ndarray
    ridge_steps: np.ndarray
    leap_every: np.ndarray
    slab: np.ndarray
    tallies: np.ndarray  # int64[13, 2], of the coldest alone
    function: np.ndarray
    site_sums: np.ndarray
    best: np.ndarray


@jit
def _trade(first, second):
    """Exchange what two arrays hold."""
    for i in range(first.shape[0]):
        held = first[i]
        first[i] = second[i]
        second[i] = held


@jit
def _trade_states(one, other):
    """Exchange features, bandwidths, vectors and slab; temperatures and step sizes stay."""
    _trade(one.n_active, other.n_active)
    _trade(one.rows, other.rows)
    _trade(one.n_features, other.n_features)
    _trade(one.features, other.features)
    _trade(one.bandwidths, other.bandwidths)
    _trade(one.variances, other.variances)


@jit
def _evidence(work):
    return rebuild_features(work.basis, work.factor, work.sums)


@jit
def exchange_replicas(rng, states, works, tallies):
    """Offer an exchange between a replica and the next warmer one, drawn at random."""
    at = rng.integers(0, len(states) - 1)
    before = _evidence(works[at]) + _evidence(works[at + 1])
    _trade_states(states[at], states[at + 1])
    after = _evidence(works[at]) + _evidence(works[at + 1])
    tallies[TEMPERATURE, 0] += 1
    if math.log(rng.random()) < after - before:
        tallies[TEMPERATURE, 1] += 1
    else:
        _trade_states(states[at], states[at + 1])


@jit
def run_tempered(rng, states, works, prior, settings, draws, stop, tune, thin):
    """Run until ``stop`` sweeps are done; return whether everything stayed finite."""
    cold, work = states[0], works[0]
    while cold.sweep[0] < stop:
        sweep = cold.sweep[0]
        for r in range(len(states)):
            if sweep == tune:
                end_tuning(states[r])
            sweep_once(rng, states[r], works[r], prior, settings, sweep < tune)
        draws.size_trace[sweep] = cold.n_active[0]
        draws.features_trace[sweep] = cold.n_features[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            store_function(rng, cold, work, settings, draws, kept // thin - 1)
            store_features(cold, draws, kept // thin - 1)
        if not math.isfinite(response_energy(work.factor)):
            return False
        exchange_replicas(rng, states, works, cold.tallies)
        cold.sweep[0] = sweep + 1
    return True


class TemperedSampler(DoublySparseSampler):
    """Chains of ladders of replicas.

    Parameters
    ----------
    temperatures : sequence of float
        From 1 upwards, at least two.
    *args, **kwargs
        As for :class:`.DoublySparseSampler`; the likelihood must be Gaussian.
    """

    def __init__(self, *args: Any, temperatures: tuple[float, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.temperatures = temperatures

    @property
    def engine(self) -> str:
        """Name of the compiled code."""
        return f"run_tempered-{len(self.temperatures)}"

    def start(self, rng: np.random.Generator, chain: int) -> TemperedState:
        """Start every replica from a sparse state of its own."""
        replicas = []
        for number, temperature in enumerate(self.temperatures):
            replica: DoublySparseState = super().start(rng, chain + number)
            replica.precision[:] *= 1.0 / temperature
            replica.noise[SHAPE] += 0.5 * self._weights.sum() * (1.0 / temperature - 1.0)
            replicas.append(replica)
        parts = {name: np.stack([getattr(r, name) for r in replicas]) for name in replica._fields}
        shared = {"sweep": replicas[0].sweep, "tallies": replicas[0].tallies}
        return TemperedState(**(parts | shared))

    knows_log_density = False  # replicas at other temperatures are there to leave such modes

    def open(self, state: Any) -> Any:
        """Return views of the replicas' states and the memory of each."""
        replicas: list[DoublySparseState] = []
        works: list[DoublySparseWorkspace] = []
        for r in range(len(self.temperatures)):
            parts = {name: part[r] for name, part in state._asdict().items() if part.ndim > 1}
            parts["tallies"] = state.tallies if r == 0 else np.zeros_like(state.tallies)
            replicas.append(DoublySparseState(sweep=state.sweep, **parts))
            works.append(self._open_one(replicas[-1]))
        return tuple(replicas), tuple(works)

    def advance(
        self,
        rngs: tuple[np.random.Generator, np.random.Generator],
        state: Any,
        workspace: Any,
        draws: DoublySparseDraws,
        stop: int,
        plan: Plan,
        fresh: bool,
    ) -> None:
        """Run compiled sweeps until ``stop``."""
        states, works = workspace
        if not run_tempered(
            rngs[0], states, works, self.model.prior, self.settings, draws, stop, plan.tune,
            plan.thin,
        ):  # fmt: skip
            self._break_down()

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws."""
        return [*super().fingerprint_parts(), self.temperatures]
