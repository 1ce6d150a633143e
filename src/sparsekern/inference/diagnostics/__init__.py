"""Convergence of chains."""

from .convergence import convergence_problems, summarize_scalars
from .cusum import Hairiness, cusum_hairiness

__all__ = ["Hairiness", "convergence_problems", "cusum_hairiness", "summarize_scalars"]
