"""Convergence of chains, and comparison of classifiers over data sets."""

from .classifier_comparison import ClassifierComparison
from .convergence import (
    LARGEST_R_HAT,
    LEAST_ESS_PER_CHAIN,
    convergence_problems,
    summarize_scalars,
    worst_standing,
)
from .cusum import Hairiness, cusum_hairiness
from .rank_tests import compare_classifiers

__all__ = [
    "LARGEST_R_HAT",
    "LEAST_ESS_PER_CHAIN",
    "ClassifierComparison",
    "Hairiness",
    "compare_classifiers",
    "convergence_problems",
    "cusum_hairiness",
    "summarize_scalars",
    "worst_standing",
]
