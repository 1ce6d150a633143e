"""Likelihoods, one file each."""

from .gaussian import Gaussian
from .hinge import Hinge
from .logit import Logit
from .multinomial_probit import MultinomialProbit
from .probit import Probit
from .student import StudentT

__all__ = ["Gaussian", "Hinge", "Logit", "MultinomialProbit", "Probit", "StudentT"]
