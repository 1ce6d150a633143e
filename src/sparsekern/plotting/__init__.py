"""Figures of fitted models and of comparisons, with matplotlib.

Every function draws into the axes it is given, or into a new figure if it is given none, and
returns the axes. None of them shows a figure or changes matplotlib's settings.
"""

from .active_trace import plot_active_trace, plot_feature_trace
from .calibration import plot_calibration
from .critical_difference import plot_critical_difference
from .decision_surface import plot_decision_surface
from .evidence_path import plot_evidence_path
from .feature_effect import plot_feature_effect
from .fitted_curve import plot_fit
from .inclusion import plot_inclusion
from .kernel_weights import plot_bound, plot_kernel_weights
from .models import plot_models
from .projections import (
    plot_class_probabilities,
    plot_components,
    plot_expected_utility,
    plot_projection_matrix,
)
from .ranks import plot_ranks
from .search_path import plot_search
from .traces import plot_traces
from .width_weights import plot_width_weights

__all__ = [
    "plot_active_trace",
    "plot_bound",
    "plot_calibration",
    "plot_class_probabilities",
    "plot_components",
    "plot_critical_difference",
    "plot_decision_surface",
    "plot_evidence_path",
    "plot_expected_utility",
    "plot_feature_effect",
    "plot_feature_trace",
    "plot_fit",
    "plot_inclusion",
    "plot_kernel_weights",
    "plot_models",
    "plot_projection_matrix",
    "plot_ranks",
    "plot_search",
    "plot_traces",
    "plot_width_weights",
]
