"""A model: a likelihood, kernels that make the basis, and priors; and who may run it."""

from __future__ import annotations

from dataclasses import dataclass

from .kernels import Kernel
from .likelihoods._contract import Likelihood
from .priors import SilvermanPrior


@dataclass(frozen=True)
class Model:
    """A Bayesian linear model in kernel-made columns.

    Attributes
    ----------
    likelihood : Likelihood
    kernels : tuple of Kernel
    prior : SilvermanPrior
        Prior of the coefficients' and the intercept's scale.
    size_shapes : (float, float)
        Shapes of the beta-binomial prior of the active set.
    max_active : int
        Largest active set.
    sparse : bool
        Whether the active set is learned; otherwise every training row is active.
    jitter : float
        Added to the diagonal of the kernel matrix at the active vectors, as part of the model.
    noise_prior : (float, float) or None
        Shape and rate of the precision of the noise, where the likelihood learns it.
    """

    likelihood: Likelihood
    kernels: tuple[Kernel, ...]
    prior: SilvermanPrior
    size_shapes: tuple[float, float]
    max_active: int
    sparse: bool
    jitter: float
    noise_prior: tuple[float, float] | None = None


def check_compatible(model: Model, engine: str, requires: frozenset[str], instead: str) -> None:
    """Raise, naming what is missing, unless the likelihood provides what the engine requires."""
    missing = sorted(requires - model.likelihood.provides)
    if missing:
        raise ValueError(
            f"{engine} cannot be used with the {model.likelihood.name} likelihood, which lacks: "
            f"{', '.join(missing)}. Use {instead} instead."
        )
