"""Data sets: generators with known Bayes error, one real set, and a loader for files."""

from .breast_cancer import load_breast_cancer_means
from .loading import load
from .overlapping_gaussians import make_overlapping_gaussians
from .ring_and_blob import make_ring_and_blob
from .ringnorm_twonorm import make_ringnorm, make_twonorm
from .ripley import make_ripley
from .sparse_functions import make_additive, make_bump
from .spirals import make_spirals
from .waveform import make_waveform

__all__ = [
    "load",
    "load_breast_cancer_means",
    "make_additive",
    "make_bump",
    "make_overlapping_gaussians",
    "make_ring_and_blob",
    "make_ringnorm",
    "make_ripley",
    "make_spirals",
    "make_twonorm",
    "make_waveform",
]
