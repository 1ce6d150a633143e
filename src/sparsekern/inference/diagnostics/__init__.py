"""Convergence of chains, and comparison of classifiers over data sets."""

from .classifier_comparison import ClassifierComparison
from .convergence import convergence_problems, summarize_scalars
from .cusum import Hairiness, cusum_hairiness
from .rank_tests import compare_classifiers

__all__ = [
    "ClassifierComparison",
    "Hairiness",
    "compare_classifiers",
    "convergence_problems",
    "cusum_hairiness",
    "summarize_scalars",
]
