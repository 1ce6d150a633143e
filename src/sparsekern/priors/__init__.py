"""Priors; each owns its log density and its draw."""

from .model_size import beta_binomial_log_weights
from .scales import ScalePriors
from .spike_and_slab import inclusion_log_odds, independent_log_weights

__all__ = [
    "ScalePriors",
    "beta_binomial_log_weights",
    "inclusion_log_odds",
    "independent_log_weights",
]
