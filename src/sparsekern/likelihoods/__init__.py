"""Likelihoods, one file each; :mod:`.table` finds them by name."""

from .gaussian import Gaussian
from .hinge import Hinge
from .laplace import Laplace
from .logit import Logit
from .multinomial_probit import MultinomialProbit
from .negative_binomial import NegativeBinomial
from .poisson import Poisson
from .probit import Probit
from .scaled_logit import ScaledLogit
from .student import StudentT

__all__ = [
    "Gaussian", "Hinge", "Laplace", "Logit", "MultinomialProbit", "NegativeBinomial", "Poisson",
    "Probit", "ScaledLogit", "StudentT",
]  # fmt: skip
