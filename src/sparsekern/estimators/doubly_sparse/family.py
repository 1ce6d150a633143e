"""What the estimators of the doubly-sparse kernel model share: from parameters to chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, check_pair, check_positive, check_share
from ...inference.chains.plan import Plan
from ...inference.doubly_sparse.collect import TrainingRows
from ...inference.doubly_sparse.sampler import DoublySparseSampler
from ...inference.feature_search.row_order import content_order
from ...inference.feature_search.screening import screen_features
from ...inference.feature_search.subsample import spread_rows
from ...inference.hybrid.screening import screen_by_evidence
from ...kernels.feature_sums import FEATURE_KERNELS
from ...likelihoods._contract import Likelihood
from ...model import DoublySparseModel
from ..shared.candidates import resolve_candidates
from ..shared.counts import check_count, check_moves
from .engines import choose_sampler
from .feature_draws import FeatureDrawsEstimator

LARGE = 2000  # rows, beyond which ``large_n`` has a say
DICTIONARY = 300  # candidates then, or
FIXED_ROWS = 1000  # rows
_SHARE_EXPECTED, _MOST_EXPECTED = 0.1, 5.0  # features, with expected_features=None
LARGE_N = ("dictionary", "fixed_rows", "active_subset")


class DoublySparseEstimator(FeatureDrawsEstimator):
    """Base of the estimators of the doubly-sparse model; they differ in their likelihood."""

    expected_features: float | None
    expected_vectors: float
    slab_prior: tuple[float, float]
    slab_variance: float | None
    spike_variance: float | None
    intercept_variance: float
    max_features: int
    max_active: int
    candidates: Any
    large_n: str
    select_features: bool
    select_vectors: bool
    screen: int | None
    screen_by: str
    feature_moves: int | None
    feature_swaps: int
    feature_pairs: int
    bandwidth_moves: int
    active_set_moves: int
    latent_scans: int
    temperatures: Any = None  # a parameter where the noise may be Gaussian

    def _fit_chains(
        self,
        X: np.ndarray,
        response: np.ndarray,
        likelihood: Likelihood,
        plan: Plan,
        noise_prior: tuple[float, float] | None = None,
    ) -> None:
        """Sample the posterior and keep it."""
        (sampler,) = self._make_samplers(X, [response], likelihood, noise_prior)
        (run,) = self._sample([sampler], plan)
        self._keep(self._collect(run, sampler, self._names))

    def _make_samplers(
        self,
        X: np.ndarray,
        responses: list[np.ndarray],
        likelihood: Any,
        noise_prior: tuple[float, float] | None = None,
    ) -> list[DoublySparseSampler]:
        """Return the same model of each response."""
        kind = FEATURE_KERNELS[check_choice("kernel", self.kernel, tuple(FEATURE_KERNELS))]
        options = self._check_model_parameters()
        every = self._prepare_training(X)
        sweep = self._check_sweep(len(every))
        large_n = check_choice("large_n", self.large_n, LARGE_N)
        subset = large_n == "active_subset" and len(every) > LARGE
        make_sampler = choose_sampler(likelihood, options, self.temperatures, subset)
        seed = self.random_state if isinstance(self.random_state, (int, np.integer)) else 0
        chance = check_random_state(seed)
        used = np.arange(len(every))
        if large_n == "fixed_rows" and len(every) > LARGE:
            several = len(responses) > 1  # one-vs-rest: spread over all classes
            spread = np.argmax(responses, axis=0) if several else responses[0]
            used = spread_rows(spread, FIXED_ROWS, chance)
            responses = [response[used] for response in responses]
            if "stand-in" in likelihood.provides:
                likelihood = likelihood.at_rows(used)
        varying = np.flatnonzero(np.ptp(every[used], axis=0) > 0)
        screened = varying if len(varying) else np.arange(every.shape[1])
        by = check_choice("screen_by", self.screen_by, ("correlation", "evidence"))
        if self.screen is not None:
            targets = np.column_stack([_columns(response) for response in responses])
            count = check_count("screen", self.screen)
            seen = every[np.ix_(used, screened)]
            if by == "evidence":
                # of equal responses the first rows are taken: which these are is left to chance
                order = content_order(X[used], targets[:, 0])
                chosen = screen_by_evidence(seen[order], targets[order], count, kind, self.n_jobs)
            else:
                chosen = screen_features(seen, targets, count)
            screened = screened[chosen]
        features = np.asfortranarray(every[np.ix_(used, screened)])
        self._rows = TrainingRows(every, used, screened)
        candidates = self._choose_candidates(features, chance, subset)
        n_candidates = len(features) if candidates is None else len(candidates)
        p = features.shape[1]
        model = DoublySparseModel(
            likelihood=likelihood,
            kind=kind,
            feature_probability=self._feature_probability(p),
            vector_probability=_share("expected_vectors", self.expected_vectors, n_candidates),
            noise_prior=noise_prior,
            **options,
        )
        sweep.setdefault("toggles", max(20, p // 50))
        return [
            make_sampler(model, features, response, candidates=candidates, **sweep)
            for response in responses
        ]

    def _check_sweep(self, n_rows: int) -> dict[str, int]:
        """Return what a sweep consists of; the toggles only where they are asked for."""
        sweep = {
            "swaps": check_count("feature_swaps", self.feature_swaps, 0),
            "pair_toggles": check_count("feature_pairs", self.feature_pairs, 0),
            "walks": check_count("bandwidth_moves", self.bandwidth_moves),
            "moves": check_count("active_set_moves", self.active_set_moves),
            "scans": check_count("latent_scans", self.latent_scans),
        }
        if self.feature_moves is not None:
            sweep["toggles"] = check_count("feature_moves", self.feature_moves)
        check_moves(self, n_rows)
        return sweep

    def _choose_candidates(
        self, features: np.ndarray, chance: np.random.RandomState, subset: bool
    ) -> np.ndarray | None:
        wanted = self.candidates
        if wanted is None and len(features) > LARGE and not subset:
            wanted = DICTIONARY
        some = len(features) < len(self._rows.every)
        if some and not isinstance(wanted, (int, np.integer)):
            if wanted is not None:
                raise ValueError(
                    "candidates names rows, but large_n='fixed_rows' uses some of them only; give "
                    "a number of candidates, or large_n='dictionary'."
                )
            return None
        return resolve_candidates(wanted, features, False, chance)

    def _feature_probability(self, p: int) -> float:
        expected = self.expected_features
        if expected is None:
            expected = min(max(1.0, _SHARE_EXPECTED * p), _MOST_EXPECTED)
        return _share("expected_features", expected, p)

    def _check_model_parameters(self) -> dict[str, Any]:
        check_flag("standardize", self.standardize)
        check_share("threshold", self.threshold)
        prior: tuple[float, float] | None = check_pair(
            "slab_prior", self.slab_prior, "(shape, rate)"
        )
        variance = 1.0
        if self.slab_variance is not None:
            prior, variance = None, check_positive("slab_variance", self.slab_variance)
        select_vectors = check_flag("select_vectors", self.select_vectors)
        spike = self.spike_variance
        if spike is not None:
            check_positive("spike_variance", spike)
            if not select_vectors:
                raise ValueError(
                    f"spike_variance={spike!r} has no part with select_vectors=False, where every "
                    "vector is in the slab; leave spike_variance=None."
                )
        return {
            "spike_variance": spike,
            "slab_prior": prior,
            "slab_variance": variance,
            "intercept_variance": check_positive("intercept_variance", self.intercept_variance),
            "max_features": check_count("max_features", self.max_features),
            "max_active": check_count("max_active", self.max_active),
            "select_features": check_flag("select_features", self.select_features),
            "select_vectors": select_vectors,
        }


def _share(name: str, expected: float, total: int) -> float:
    """Return the prior probability that makes the expected number what it is asked to be."""
    return min(check_positive(name, expected) / total, 0.5)


def _columns(response: np.ndarray) -> np.ndarray:
    """Return real responses and two classes as they are, more classes as indicators."""
    labels = np.unique(response)
    if len(labels) > 2 and np.array_equal(labels, np.arange(len(labels))):
        return (response[:, None] == labels).astype(np.float64)
    return response
