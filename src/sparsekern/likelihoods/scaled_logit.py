r"""Logistic likelihood with the slope of the probit at zero.

:math:`P(y=\pm1)=1/(1+e^{-\lambda yf})`, :math:`\lambda=\sqrt{8/\pi}`: heavier tails than probit on
the same scale of f. Its average over a normal f is nearly exact in closed form,
:math:`\sigma(\lambda m/\sqrt{1+v})`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit

from .._jit import jit
from .logit import logit_terms

PROBIT_SLOPE = math.sqrt(8.0 / math.pi)


class ScaledLogit:
    r"""Two classes, responses -1 and +1, :math:`P(y=1)=1/(1+e^{-\lambda f})`."""

    name: ClassVar[str] = "scaled_logit"
    support: ClassVar[str] = "labels"
    provides: ClassVar[frozenset[str]] = frozenset(
        {"terms", "averaged mean", "averaged argument", "probabilities"}
    )

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the probability of +1."""
        return expit(PROBIT_SLOPE * latent)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value of a probability."""
        return logit(mean) / PROBIT_SLOPE

    def averaged_argument(self, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """Return the latent value whose mean is nearly that of a normal f."""
        return means / np.sqrt(1.0 + variances)

    def averaged_mean(self, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """Return the probability of +1 for a normal f."""
        return self.mean(self.averaged_argument(means, variances))

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        r"""Return :math:`-\log(1+e^{-\lambda yf})`."""
        return -np.logaddexp(0.0, -PROBIT_SLOPE * response * latent)


@jit
def scaled_logit_terms(y, f, last, freedom):
    r"""Return :math:`-\log(1+e^{-\lambda yf})` and its derivatives, see :mod:`.terms`."""
    value, slope, curvature, _ = logit_terms(y, PROBIT_SLOPE * f, last, freedom)
    curvature *= PROBIT_SLOPE * PROBIT_SLOPE
    return value, PROBIT_SLOPE * slope, curvature, curvature
