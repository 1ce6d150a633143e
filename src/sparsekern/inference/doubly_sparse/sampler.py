"""The doubly-sparse kernel model as a sampler for the chain runner."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ...bases.feature_columns import rebuild_features
from ...likelihoods._contract import SAMPLED
from ...likelihoods._row_weights import row_weights
from ...likelihoods.by_code import terms_data
from ...model import LARGEST_SLAB, DoublySparseModel, check_compatible
from ...priors import inclusion_log_odds, independent_log_weights
from ..chains.plan import Plan
from ..feature_search.graph import MOST_FEATURES, NEIGHBORS, correlation_graph
from ..feature_search.pairs import promising_pairs, rank_polynomials
from .collapsed_sweep import log_prior, run_collapsed
from .continuous_spike import run_continuous_spike
from .corrected_sweep import run_corrected
from .first_feature import single_feature_evidence
from .packed_state import packed_size
from .sweep import (
    MOVES,
    TRIED,
    DoublySparseDraws,
    DoublySparseSettings,
    DoublySparseState,
    DoublySparseWorkspace,
    open_workspace,
    run_doubly_sparse,
)

_ALONE, _STRETCHED = 0, 3  # rows of DIRECTIONS
_START_VECTORS = 10
_MOST_COLLAPSED = 2000  # rows; each search for a mode reads them all several times
_PAIRS = 8  # of features, in each list of those that may matter only together
_PAIR_ROWS = 500  # by which they are judged
_LEAP, _LEAST_LEAP = 8.0, 80  # steps for each vector that is expected, and in any case
_TRIED_BANDWIDTH = 0.3  # at which single features are compared for a start


class DoublySparseSampler:
    """Chains of a doubly-sparse kernel model.

    Parameters
    ----------
    model : DoublySparseModel
    features : ndarray of shape (n, p)
        Training rows.
    response : ndarray of shape (n,)
        Responses as the likelihood wants them.
    candidates : ndarray of int or None
        Training rows that may become active; None: all.
    toggles, pair_toggles, swaps, walks, moves, blocks, scans : int
        Toggled features and pairs of them, exchanged features, rounds of walks, active-set moves,
        blocks of them and latent scans of a sweep.
    leaps : int
        Leaps of every third sweep in tuning, with Gaussian noise; after it of every second or
        eighth, by how many were taken.
    n_monitored : int
        Training rows whose expected response is followed for convergence.
    """

    refresh_every = 1

    def __init__(
        self,
        model: DoublySparseModel,
        features: np.ndarray,
        response: np.ndarray,
        *,
        candidates: np.ndarray | None = None,
        toggles: int = 20,
        pair_toggles: int = 4,
        swaps: int = 2,
        walks: int = 4,
        moves: int = 20,
        blocks: int = 0,
        leaps: int = 0,
        scans: int = 3,
        n_monitored: int = 10,
    ) -> None:
        check_compatible(
            model, "The Gibbs sampler", SAMPLED, "a likelihood with a Gaussian working response"
        )
        n, p = features.shape
        latents = np.atleast_2d(model.likelihood.start_working(response[:1])).shape[0]
        provides = model.likelihood.provides
        known = len(model.likelihood.start_parameters()) == 0
        plain = model.spike_variance is None and model.select_vectors and n <= _MOST_COLLAPSED
        self._collapsed = "concave terms" in provides and known and plain
        self._corrected = "working response" not in provides and not self._collapsed
        self._normal = "inner products suffice" in provides and model.spike_variance is None
        if model.spike_variance is not None and self._corrected:
            raise ValueError(
                f"A spike of variance {model.spike_variance:g} cannot be used with the "
                f"{model.likelihood.name} likelihood, which lacks: working response; leave "
                "priors with spike=None."
            )
        if model.spike_variance is not None and latents > 1:
            raise ValueError(
                f"A spike of variance {model.spike_variance:g} cannot be used with the "
                f"{model.likelihood.name} likelihood; leave priors with spike=None, or use "
                "likelihood='logit', which has a model for each class."
            )
        self.model, self.features, self.response = model, features, response
        self._weights = row_weights(model.likelihood, n)
        self.monitored_rows = np.unique(np.linspace(0, n - 1, min(n, n_monitored)).astype(np.int64))
        rows = np.arange(n) if candidates is None else np.unique(candidates)
        self._columns = np.ascontiguousarray(features.T)
        chosen = model.select_vectors and model.spike_variance is None
        self._largest = min(model.max_active, len(rows)) if chosen else len(rows)
        self._room = min(model.max_features, p) if model.select_features else p
        bounds = {"n_active": (self._largest, len(rows)), "n_features": (self._room, p)}
        self.limits = {name: most for name, (most, all_) in bounds.items() if most < all_}
        self._leaps = self._normal and leaps > 0
        expected = min(model.vector_probability * len(rows), self._largest)
        slices = [] if model.slab_prior is None else [_ALONE]
        if slices and "free latents" in provides:
            slices.append(_STRETCHED)
        self.settings = DoublySparseSettings(
            log_weights=independent_log_weights(self._largest, model.vector_probability),
            candidates=rows,
            monitored_rows=self.monitored_rows,
            diagonal=np.full((1, n), float(self._largest + 1)),
            log_odds=inclusion_log_odds(model.feature_probability),
            graph=correlation_graph(
                self._columns, NEIGHBORS if model.select_features and p <= MOST_FEATURES else 0
            ),
            pairs=self._list_pairs(pair_toggles),
            toggles=toggles if model.select_features else 0,
            pair_toggles=pair_toggles,
            swaps=swaps,
            walks=walks,
            moves=moves if chosen else 0,
            blocks=blocks,
            leaps=leaps if self._leaps else 0,
            leap_steps=max(_LEAST_LEAP, round(_LEAP * expected)) if chosen else 1,
            scans=scans,
            directions=np.array(slices, dtype=np.int64),
            function_moves="function moves" in provides and bool(slices),
            row_weights=self._weights,
        )

    def _list_pairs(self, toggles: int) -> np.ndarray:
        """Return the pairs of features that may matter only together, by the responses alone."""
        none = np.zeros((0, 2), np.int64)
        p, n = self._columns.shape
        if not self.model.select_features or toggles == 0 or p > MOST_FEATURES or self._room < 2:
            return none
        rows = np.linspace(0, n - 1, min(n, _PAIR_ROWS)).astype(np.int64)
        polynomials = rank_polynomials(self._columns[:, rows])
        working = np.atleast_2d(self.model.likelihood.start_working(self.response))[:, rows]
        lists = [promising_pairs(polynomials, response, _PAIRS) for response in working]
        return np.unique(np.vstack([none, *lists]), axis=0)

    @property
    def _holds_function(self) -> bool:
        return self._corrected or self._collapsed

    @property
    def engine(self) -> str:
        """Name of the compiled code: there is one for each likelihood."""
        kind = "doubly_sparse" if self.model.spike_variance is None else "continuous_spike"
        kind = "collapsed" if self._collapsed else kind
        return f"run_{kind}-{type(self.model.likelihood).__name__}"

    def start(self, rng: np.random.Generator, chain: int) -> Any:
        """Start sparse: the best single feature for the first chain, none to four for the others.

        A kernel of many features is close to the identity matrix, from where no chain finds back.
        """
        started = rng.permutation(self.settings.candidates)[:_START_VECTORS]
        return self._start_from(started, rng, chain)

    def _start_from(
        self, started: np.ndarray, rng: np.random.Generator, chain: int
    ) -> DoublySparseState:
        """Start with the given active rows."""
        model, settings = self.model, self.settings
        n, p = self.features.shape
        rows = np.zeros(self._largest + 1, np.int64)
        count = self._largest
        slab = np.zeros(0 if model.spike_variance is None else n, np.int64)
        if model.spike_variance is not None:
            rows[:count] = settings.candidates
            slab[started if model.select_vectors else settings.candidates] = 1
        elif model.select_vectors:
            count = min(count, len(started))
            rows[:count] = started[:count]
        else:
            rows[:count] = settings.candidates
        working = np.atleast_2d(model.likelihood.start_working(self.response)).copy()
        noise = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
        if model.noise_prior is not None:
            shape, rate = model.noise_prior
            noise[:2] = shape + 0.5 * self._weights.sum(), rate
        variance = model.slab_variance
        if model.slab_prior is not None:
            variance = model.slab_prior[1] / (model.slab_prior[0] + 1.0) * 2.0 ** (chain % 4 - 1.5)
            variance = min(variance, 0.5 * LARGEST_SLAB)
        state = DoublySparseState(
            sweep=np.zeros(1, np.int64),
            n_active=np.array([count], dtype=np.int64),
            rows=rows,
            n_features=np.zeros(1, np.int64),
            features=np.zeros(self._room, np.int64),
            bandwidths=np.zeros(self._room),
            response=working,
            precision=self._weights.copy(),
            noise=noise,
            parameters=model.likelihood.start_parameters(),
            variances=np.array([model.intercept_variance, variance]),
            slice_width=np.array([1.0, 1.0, 0.2, 0.2, 0.5]),
            log_step=np.full(p, math.log(0.5)),
            steps=np.zeros(p, np.int64),
            log_ridge=np.zeros(3),
            ridge_steps=np.zeros(3, np.int64),
            leap_every=np.array([TRIED]),
            slab=slab,
            tallies=np.zeros((len(MOVES), 2), np.int64),
            function=np.zeros(1 + self._largest + n if self._holds_function else 0),
            site_sums=np.zeros((3, n if self._corrected else 0)),
            best=np.zeros(0),
        )
        if self._collapsed:
            state = state._replace(best=np.full(1 + packed_size(state), -np.inf))
        self._start_features(rng, chain, state)
        return state

    def _start_features(
        self, rng: np.random.Generator, chain: int, state: DoublySparseState
    ) -> None:
        p = self.features.shape[1]
        if not self.model.select_features:
            state.n_features[0] = p
            state.features[:] = np.arange(p)
            state.bandwidths[:] = 1.0 / p
            return
        if chain % 4 == 0 and self._room > 0:
            chosen = np.array([self._best_feature(state)])
        else:
            count = min(self._room, p, int(rng.integers(0, 5)))
            chosen = rng.permutation(p)[:count]
        state.n_features[0] = len(chosen)
        state.features[: len(chosen)] = chosen
        state.bandwidths[: len(chosen)] = rng.standard_exponential(len(chosen))
        if chain % 4 == 0:
            state.bandwidths[: len(chosen)] = _TRIED_BANDWIDTH

    def _best_feature(self, state: DoublySparseState) -> int:
        """Return the feature whose kernel alone has the largest evidence."""
        work = self._start_workspace(state)
        return int(np.argmax(single_feature_evidence(work, _TRIED_BANDWIDTH)))

    def _start_workspace(self, state: DoublySparseState) -> DoublySparseWorkspace:
        """Return memory in which a start is looked for."""
        return self._open_one(state)

    @property
    def knows_log_density(self) -> bool:
        """Whether nothing would have to be integrated out of :meth:`log_density`."""
        return self._collapsed or self._normal

    def log_density(self, state: DoublySparseState) -> float:
        """Return the log posterior of a state, constants apart."""
        own = copy.deepcopy(state)  # the sites of a mode are written to it
        work = self._open_one(own)
        evidence = rebuild_features(work.basis, work.factor, work.sums)
        return float(evidence + log_prior(own, self.model.prior, self.settings))

    def allocate(self, plan: Plan) -> DoublySparseDraws:
        """Return empty arrays for one chain."""
        kept, largest = plan.draws, self._largest
        latents = np.atleast_2d(self.model.likelihood.start_working(self.response[:1])).shape[0]
        return DoublySparseDraws(
            n_active=np.zeros(kept, np.int32),
            rows=np.zeros((kept, largest), np.int32),
            n_features=np.zeros(kept, np.int32),
            features=np.zeros((kept, self._room), np.int32),
            bandwidths=np.zeros((kept, self._room)),
            coefficients=np.zeros((kept, latents, largest)),
            intercept=np.zeros((kept, latents)),
            variances=np.zeros((kept, 2)),
            noise_variance=np.zeros(kept),
            parameters=np.zeros((kept, len(self.model.likelihood.start_parameters()))),
            log_likelihood=np.zeros(kept),
            monitored=np.zeros((kept, len(self.monitored_rows))),
            slab=np.zeros((kept, 0 if self.model.spike_variance is None else largest), np.int8),
            size_trace=np.zeros(plan.sweeps, np.int32),
            features_trace=np.zeros(plan.sweeps, np.int32),
        )

    def open(self, state: Any) -> Any:
        """Return the memory of a running chain."""
        return self._open_one(state)

    def _open_one(self, state: DoublySparseState) -> DoublySparseWorkspace:
        likelihood = self.model.likelihood
        data = likelihood.compiled(self.response, state.parameters)
        terms = terms_data(likelihood, self.response) if self._collapsed else None
        return open_workspace(state, self._columns, self.model.kind, data, terms, self._leaps)

    def advance(
        self,
        rngs: tuple[np.random.Generator, np.random.Generator],
        state: DoublySparseState,
        workspace: DoublySparseWorkspace,
        draws: DoublySparseDraws,
        stop: int,
        plan: Plan,
        fresh: bool,
    ) -> None:
        """Run compiled sweeps until ``stop``."""
        shared = (rngs[0], state, workspace, self.model.prior, self.settings, draws)
        lengths = (stop, plan.tune, plan.thin)
        if self._collapsed:
            finite = run_collapsed(*shared, *lengths)
        elif self._corrected:
            finite = run_corrected(*shared, *lengths)
        elif self.model.spike_variance is None:
            finite = run_doubly_sparse(*shared, *lengths)
        else:
            finite = run_continuous_spike(*shared, self.model.spike_variance, *lengths)
        if not finite:
            self._break_down()

    def _break_down(self) -> None:
        raise FloatingPointError(
            "Sampling broke down numerically: the latent variables are no longer finite. "
            "Rescale the inputs (standardize=True), or give priors with a slab of smaller rate."
        )

    def fingerprint_parts(self) -> list[Any]:
        """Return what decides the draws: data, kernel, settings."""
        model = self.model
        described = {name: value for name, value in vars(model).items() if name != "likelihood"}
        return [
            self.features, self.response, *self.settings, sorted(described.items()),
            model.likelihood.name,
            *(part for item in sorted(vars(model.likelihood).items()) for part in item),
        ]  # fmt: skip
