"""One readable row per published model."""

from __future__ import annotations

from .kernels import Kernel
from .likelihoods._contract import Likelihood
from .model import Model
from .priors import SilvermanPrior


def generalized_kernel_model(
    likelihood: Likelihood,
    kernels: tuple[Kernel, ...],
    *,
    scale_prior: tuple[float, float],
    intercept_prior: tuple[float, float],
    size_prior: tuple[float, float],
    max_active: int,
    sparse: bool,
    jitter: float,
    zero_probability: float = 0.0,
    noise_prior: tuple[float, float] | None = None,
) -> Model:
    """FBGKM (``sparse=True``) and BGKM (``sparse=False``) of Zhang, Dai and Jordan (2011).

    With their probit likelihood this is the model of the paper.
    """
    return Model(
        likelihood=likelihood,
        kernels=kernels,
        prior=SilvermanPrior(*scale_prior, *intercept_prior, zero_probability),
        size_shapes=size_prior,
        max_active=max_active,
        sparse=sparse,
        jitter=jitter,
        noise_prior=noise_prior,
    )
