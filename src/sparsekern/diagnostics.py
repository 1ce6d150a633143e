"""Diagnostics for chains and comparisons, to be used on any draws.

Every sampling estimator has them for its own draws in ``diagnostics_``.
"""

from .inference.diagnostics import Hairiness, cusum_hairiness, summarize_scalars

__all__ = ["Hairiness", "cusum_hairiness", "summarize_scalars"]
