"""Kernel functions: what the user gives, compiled evaluation, width heuristics."""

from .resolve import Kernel, check_positive_definite, resolve_kernel
from .several import resolve_kernels
from .widths import distance_scale

__all__ = [
    "Kernel",
    "check_positive_definite",
    "distance_scale",
    "resolve_kernel",
    "resolve_kernels",
]
