"""Diagnostics for chains, to be used on any draws, and comparison of classifiers over data sets.

Every sampling estimator has those for chains, of its own draws, in ``diagnostics_``.
"""

from .inference.diagnostics import (
    ClassifierComparison,
    Hairiness,
    compare_classifiers,
    cusum_hairiness,
    summarize_scalars,
)

__all__ = [
    "ClassifierComparison",
    "Hairiness",
    "compare_classifiers",
    "cusum_hairiness",
    "summarize_scalars",
]
