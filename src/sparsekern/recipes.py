"""One readable row per published model."""

from __future__ import annotations

from .kernels import Kernel
from .likelihoods import Probit
from .model import Model
from .priors import SilvermanPrior


def generalized_kernel_classifier(
    kernel: Kernel,
    *,
    scale_prior: tuple[float, float],
    intercept_prior: tuple[float, float],
    size_prior: tuple[float, float],
    max_active: int,
    sparse: bool,
    jitter: float,
) -> Model:
    """FBGKM (``sparse=True``) and BGKM (``sparse=False``) of Zhang, Dai and Jordan (2011)."""
    return Model(
        likelihood=Probit(),
        kernel=kernel,
        prior=SilvermanPrior(*scale_prior, *intercept_prior),
        size_shapes=size_prior,
        max_active=max_active,
        sparse=sparse,
        jitter=jitter,
    )
