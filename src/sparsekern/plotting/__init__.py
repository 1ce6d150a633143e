"""Figures of fitted models, with matplotlib: chains, searches, surfaces, calibration and effects.

Every function draws into the axes it is given, or into a new figure if it is given none, and
returns the axes. None of them shows a figure or changes matplotlib's settings.
"""

from .active_trace import plot_active_trace, plot_feature_trace
from .calibration import plot_calibration
from .decision_surface import plot_decision_surface
from .feature_effect import plot_feature_effect
from .inclusion import plot_inclusion
from .models import plot_models
from .ranks import plot_ranks
from .search_path import plot_search
from .traces import plot_traces

__all__ = [
    "plot_active_trace",
    "plot_calibration",
    "plot_decision_surface",
    "plot_feature_effect",
    "plot_feature_trace",
    "plot_inclusion",
    "plot_models",
    "plot_ranks",
    "plot_search",
    "plot_traces",
]
