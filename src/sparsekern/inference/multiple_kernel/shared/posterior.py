r"""The model and its mean-field posterior.

P kernels, N samples, L outputs; :math:`K_m` has a row for each of D vectors. Sample weights a, with
precisions :math:`\lambda`, make P intermediate outputs :math:`g^m_i\sim N(a^\top k_{m,i},
\upsilon^{-1})`; kernel weights e, with precisions :math:`\omega`, combine them,
:math:`y_i\sim N(e^\top g_i+b,\epsilon^{-1})`. Outputs share kernel weights (each has its own a and
G) or sample weights (each has its own e).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..gamma_factor import GammaFactor
from .weight_factor import DenseFactor, LowRankFactor


@dataclass(frozen=True)
class Hyperpriors:
    """Shape and scale of the gamma priors of all precisions."""

    sample: tuple[float, float] = (1.0, 1.0)  # lambda
    intermediate: tuple[float, float] = (1.0, 1.0)  # upsilon
    bias: tuple[float, float] = (1.0, 1.0)  # gamma
    kernel: tuple[float, float] = (1.0, 1.0)  # omega
    noise: tuple[float, float] = (1.0, 1.0)  # epsilon


@dataclass
class SampleWeights:
    """One block of sample weights with its intermediate outputs."""

    precision: GammaFactor  # lambda, (D,)
    mean: np.ndarray  # mu_a, (D,)
    projection: np.ndarray  # F = [mu_a' K_m]_m, (P, N)
    factor: DenseFactor | LowRankFactor  # of Sigma_a
    variance: np.ndarray  # diagonal of Sigma_a, (D,)
    trace: float  # tr(S Sigma_a)
    log_determinant: float  # log |Sigma_a|
    intermediate: np.ndarray  # M = E[G], (P, N)
    covariance: np.ndarray  # Sigma_g, (P, P)
    intermediate_precision: GammaFactor  # upsilon, ()


@dataclass
class KernelWeights:
    """One block of kernel weights."""

    precision: GammaFactor  # omega, (P,)
    mean: np.ndarray  # mu_e, (P,)
    covariance: np.ndarray  # V_e, (P, P)
    log_determinant: float  # log |V_e|
    nonnegative: bool = False  # half-normal prior, independent truncated normal factors
    entropy: float = 0.0  # of those, with the prior's ln 2, in place of (P + log |V_e|) / 2

    @property
    def second(self) -> np.ndarray:
        """E[e e']."""
        return np.outer(self.mean, self.mean) + self.covariance


@dataclass
class Output:
    """Bias and noise of one output, and which blocks it uses."""

    samples: int
    kernels: int
    bias: float
    bias_variance: float
    bias_cross: np.ndarray  # Cov(b, e), (P,)
    bias_precision: GammaFactor  # gamma, ()
    noise_precision: GammaFactor  # epsilon, ()
    conditional_precision: float = 1.0  # c of the Schur complement


@dataclass
class Posterior:
    """All factors."""

    samples: list[SampleWeights]
    kernels: list[KernelWeights]
    outputs: list[Output]
