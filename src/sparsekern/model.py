"""A model: a likelihood, kernels that make the basis, and priors; and who may run it."""

from __future__ import annotations

from dataclasses import dataclass

from .kernels import Kernel
from .likelihoods._contract import Likelihood
from .likelihoods.table import Requires, lacking, suits
from .priors import ScalePriors


@dataclass(frozen=True)
class Model:
    """A Bayesian linear model in kernel-made columns.

    Attributes
    ----------
    likelihood : Likelihood
    kernels : tuple of Kernel
    prior : ScalePriors
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
    prior: ScalePriors
    size_shapes: tuple[float, float]
    max_active: int
    sparse: bool
    jitter: float
    noise_prior: tuple[float, float] | None = None


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
        prior=ScalePriors(*scale_prior, *intercept_prior, zero_probability),
        size_shapes=size_prior,
        max_active=max_active,
        sparse=sparse,
        jitter=jitter,
        noise_prior=noise_prior,
    )


LARGEST_SLAB = 1e6  # where the prior of the slab's variance ends; far beyond, digits are lost


@dataclass(frozen=True)
class DoublySparseModel:
    r"""A kernel expansion that selects features inside the kernel, and active vectors.

    Attributes
    ----------
    likelihood : Likelihood
    kind : int
        Code of the kernel, see :mod:`.kernels.feature_sums`.
    feature_probability : float
        Prior probability that a feature is included; bandwidths are :math:`Exp(1)`.
    vector_probability : float
        Prior probability that a candidate is active.
    slab_prior : (float, float) or None
        Shape and rate of the precision :math:`1/\nu_1` of the coefficients; None: known.
    slab_variance : float
        :math:`\nu_1` where it is known.
    intercept_variance : float
    max_features, max_active : int
        Where the priors end.
    select_features, select_vectors : bool
        Whether features and vectors are selected; otherwise all are in.
    noise_prior : (float, float) or None
        Shape and rate of the precision of the noise, where the likelihood learns it. Prior
        variances of coefficients and intercept are then in units of that of the noise.
    spike_variance : float or None
        Prior variance :math:`\nu_0` of the coefficients of inactive vectors; None: they are zero.
    """

    likelihood: Likelihood
    kind: int
    feature_probability: float
    vector_probability: float
    slab_prior: tuple[float, float] | None
    slab_variance: float
    intercept_variance: float
    max_features: int
    max_active: int
    select_features: bool = True
    select_vectors: bool = True
    noise_prior: tuple[float, float] | None = None
    spike_variance: float | None = None

    @property
    def prior(self) -> ScalePriors:
        """Prior of the scales; the intercept's is known."""
        shape, rate = self.slab_prior or (0.0, 0.0)
        return ScalePriors(shape, rate, 0.0, 0.0, 0.0, LARGEST_SLAB)


def check_compatible(
    model: Model | DoublySparseModel, engine: str, requires: Requires, instead: str
) -> None:
    """Raise, naming what is missing, unless the likelihood provides what the engine requires."""
    if not suits(model.likelihood, requires):
        raise ValueError(
            f"{engine} cannot be used with the {model.likelihood.name} likelihood, which lacks: "
            f"{lacking(model.likelihood, requires)}. Use {instead} instead."
        )
