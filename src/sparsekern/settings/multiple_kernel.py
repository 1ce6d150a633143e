"""Groups of parameters of multiple kernel learning."""

from __future__ import annotations

from dataclasses import dataclass

from .group import Settings


@dataclass(frozen=True, kw_only=True)
class MKLPriors(Settings):
    """Priors of ``BayesianMKLClassifier``.

    Parameters
    ----------
    kernel_sparsity : bool or None, default=None
        Whether kernels may leave the model: a flat gamma prior of the precisions of kernel weights
        in place of one of shape 1 (and mean 1; with ``vectors="per_kernel"`` the number of kernels,
        except for latent outputs). None: for regression yes; for classes only with
        ``vectors="shared"`` and ``likelihood="regression"``, since labels let kernels go too
        easily.
    sample_sparsity : bool, default=False
        The same for training rows. The fit without it is the starting point. Predictions are then
        too sure of themselves, as those of relevance vector machines are.
    nonnegative : bool, default=False
        Whether kernel weights must not be negative; for ``vectors="shared"``.

    Examples
    --------
    >>> from sparsekern import BayesianMKLClassifier
    >>> from sparsekern.settings import MKLPriors
    >>> model = BayesianMKLClassifier(priors=MKLPriors(kernel_sparsity=True))
    >>> model.set_params(priors__sample_sparsity=True).priors
    MKLPriors(kernel_sparsity=True, sample_sparsity=True, nonnegative=False)
    """

    kernel_sparsity: bool | None = None
    sample_sparsity: bool = False
    nonnegative: bool = False

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if self.kernel_sparsity is not None:
            self._check_flags("kernel_sparsity")
        self._check_flags("sample_sparsity", "nonnegative")


@dataclass(frozen=True, kw_only=True)
class MKLRegressionPriors(MKLPriors):
    """Priors of ``BayesianMKLRegressor``: those of :class:`MKLPriors`, and of the noise.

    Parameters
    ----------
    noise : (float, float) or None, default=None
        Shape and rate of the gamma prior of the noise precision, for y of variance one. None:
        (0.2, 0.2) with ``vectors="per_kernel"``, (1, 1) with ``"shared"``. Lower both if there is
        next to no noise.
    kernel_sparsity, sample_sparsity, nonnegative
        See :class:`MKLPriors`.
    """

    noise: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if self.noise is not None:
            self._check_pairs("noise")
