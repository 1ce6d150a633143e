"""Parameters of a hybrid search: checks, and the settings that they make."""

from __future__ import annotations

from typing import Any

from ..._checks import check_choice, check_flag, check_pair, check_positive, check_share
from ...inference.hybrid.evidence import ParameterPrior
from ...inference.hybrid.scoring import SearchSettings
from ...kernels.feature_sums import FEATURE_KERNELS
from ..shared.counts import check_count, check_jobs

WINDOW = 20.0


def check_search_parameters(estimator: Any) -> SearchSettings:
    """Return the settings; everything is checked before anything is changed."""
    check_choice("kernel", estimator.kernel, tuple(FEATURE_KERNELS))
    check_choice("device", estimator.device, ("auto", "cpu", "cuda"))
    check_positive("memory_limit", estimator.memory_limit)
    check_flag("scale", estimator.scale)
    check_choice("bandwidth", estimator.bandwidth, ("shared", "per_feature"))
    check_choice("progress", estimator.progress, ("auto", True, False))
    check_share("threshold", estimator.threshold)
    check_count("search_rows", estimator.search_rows, 2)
    check_count("n_starts", estimator.n_starts)
    check_choice("swaps", estimator.swaps, ("auto", True, False))
    if estimator.screen is not None:
        check_count("screen", estimator.screen)
    check_jobs(estimator.n_jobs)
    penalty = estimator.size_penalty
    if penalty != 0:
        check_positive("size_penalty", penalty)
    window = WINDOW if estimator.window == "auto" else check_positive("window", estimator.window)
    if window < 1:
        raise ValueError(f"window must be at least 1, got {estimator.window!r}.")
    return SearchSettings(
        prior=ParameterPrior(
            *(
                check_pair(name, estimator._prior_of(name), "(shape, rate)")
                for name in ("amplitude_prior", "bandwidth_prior", "noise_prior")
            )
        ),
        evidence=check_choice("evidence", estimator.evidence, ("laplace", "bic")),
        max_features=check_count("max_features", estimator.max_features),
        size_penalty=float(penalty),
        window=window,
        slack=check_positive("slack", estimator.slack),
        n_wander=check_count("n_wander", estimator.n_wander, 0),
        n_refine=check_count("n_refine", estimator.n_refine),
        refit_drift=check_flag("refit_drift", estimator.refit_drift),
        pairs=check_flag("pairs", estimator.pairs),
        close=check_flag("close", estimator.close),
    )
