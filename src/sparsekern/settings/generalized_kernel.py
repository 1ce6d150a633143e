"""Groups of parameters of the generalized kernel model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .group import Settings, in_a_sweep


@dataclass(frozen=True, kw_only=True)
class GKMPriors(Settings):
    r"""Priors of ``GKMClassifier`` and ``SparseGPClassifier``.

    Parameters
    ----------
    scale : (float, float), default=(2, 0.05)
        Shape and rate of the gamma prior of g, the scale of the coefficients.
    intercept : (float, float), default=(0.5, 0.05)
        Shape and rate of the gamma prior of :math:`\eta`, the precision of the intercept.
    size : (float, float), default=(1, 1)
        Shapes of the beta prior of the probability that a row is active.
    max_active : int or None, default=100
        Largest number of active vectors; clipped to the number of rows. None: 400, fewer beyond
        10,000 rows or with several kernels, but 100 at least.
    sparse : bool, default=True
        Whether to learn the active set. With False every row is active (BGKM).
    amplitude : (float, float), default=(2, 0.4)
        Shape and rate of the gamma prior of each amplitude, with several kernels; ``scale`` then
        has no part.
    zero_probability : float, default=0.5
        Prior probability that an amplitude is zero, with several kernels.
    length_scale_bounds : (float, float), default=(0.1, 10.0)
        With ``learn_length_scale`` the prior of a length scale is uniform between these two times
        its starting value.
    jitter : float, default=1e-8
        Added to the diagonal of the kernel matrix at the active vectors, relative to the mean of
        the kernel's diagonal.
    """

    scale: tuple[float, float] = (2, 0.05)
    intercept: tuple[float, float] = (0.5, 0.05)
    size: tuple[float, float] = (1, 1)
    max_active: int | None = 100
    sparse: bool = True
    amplitude: tuple[float, float] = (2, 0.4)
    zero_probability: float = 0.5
    length_scale_bounds: tuple[float, float] = (0.1, 10.0)
    jitter: float = 1e-8

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_pairs("scale", "intercept", "amplitude")
        self._check_pairs("size", meaning="of beta shapes")
        if self.max_active is not None:
            self._check_counts("max_active")
        self._check_flags("sparse")
        self._check_shares("zero_probability")
        self._check_positive("jitter")
        self._check_pairs("length_scale_bounds", meaning="(low, high)")
        low, high = self.length_scale_bounds
        if not low < high:
            raise ValueError(
                f"{self._spoken('length_scale_bounds')} must be (low, high) with low < high, got "
                f"{(low, high)!r}."
            )


@dataclass(frozen=True, kw_only=True)
class GKMRegressionPriors(GKMPriors):
    r"""Priors of ``GKMRegressor``: those of :class:`GKMPriors`, and of the noise.

    Parameters
    ----------
    scale : (float, float), default=(1, 0.01)
        Shape and rate of the gamma prior of g, the scale of the coefficients.
    max_active : int or None, default=None
        Largest number of active vectors; clipped to the number of rows. None: 400, fewer beyond
        10,000 rows or with several kernels, but 100 at least.
    noise : (float, float), default=(1, 0.1)
        Shape and rate of the gamma prior of :math:`\sigma^{-2}`, for responses scaled to unit
        variance (heavy tails: unit median deviation, times that of a Gaussian); negative binomial:
        of the inverse of the dispersion.
    degrees_of_freedom : float, array of float or "learned", default="learned"
        Of Student's law: known, or learned among the values given (``"learned"``: from 1 to 64).
        It has no part in other laws.
    intercept, size, sparse, amplitude, zero_probability, length_scale_bounds, jitter
        See :class:`GKMPriors`.
    """

    scale: tuple[float, float] = (1, 0.01)
    max_active: int | None = None
    noise: tuple[float, float] = (1, 0.1)
    degrees_of_freedom: Any = "learned"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_pairs("noise")
        self._check_degrees_of_freedom()


@dataclass(frozen=True, kw_only=True)
class GKMMoves(Settings):
    """What a sweep of ``GKMClassifier`` and ``SparseGPClassifier`` consists of.

    Parameters
    ----------
    active_set : int, default=10
        Birth, death and swap moves.
    blocks : int, default=2
        Births and deaths of 2 to 32 vectors at once. They are left out for kernels that are not
        compiled.
    joint : int, default=30
        Birth, death and swap moves inside one joint move of active set, scales and latent function,
        made every third sweep; 0 leaves it out. It is left out, too, for kernels that are not
        compiled on more than about 5,800 rows.
    latent_scans : int, default=3
        Scans of the latent variables.
    """

    active_set: int = in_a_sweep(10, 10_000)
    blocks: int = in_a_sweep(2, 10_000, lowest=0)
    joint: int = in_a_sweep(30, 10_000, lowest=0)
    latent_scans: int = in_a_sweep(3, 1_000)
