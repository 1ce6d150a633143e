"""Priors on coefficients, scales and the size of the active set."""

from .model_size import beta_binomial_log_weights
from .silverman import SilvermanPrior

__all__ = ["SilvermanPrior", "beta_binomial_log_weights"]
