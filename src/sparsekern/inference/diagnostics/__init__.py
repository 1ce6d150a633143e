"""Convergence diagnostics."""

from .convergence import convergence_problems, summarize_scalars

__all__ = ["convergence_problems", "summarize_scalars"]
