"""Groups of parameters of the vector machines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .group import Settings


@dataclass(frozen=True, kw_only=True)
class VectorMachinePriors(Settings):
    """Priors of ``RVMClassifier`` and ``RVMRegressor``.

    Parameters
    ----------
    intercept : float, default=100.0
        Prior variance of the intercept, which is always in the model; in regression in units of
        the noise variance.
    """

    intercept: float = 100.0

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if np.ndim(self.intercept) > 0:
            raise ValueError(
                f"{self._spoken('intercept')} must be a positive number, the prior variance of the "
                f"intercept, got {self.intercept!r}: a vector machine does not learn it."
            )
        self._check_positive("intercept")


@dataclass(frozen=True, kw_only=True)
class PCVMPriors(VectorMachinePriors):
    """Priors of ``PCVMClassifier``.

    Parameters
    ----------
    intercept : float, default=100.0
        Prior variance of the intercept, which is always in the model.
    precision : (float, float), default=(1.0, 0.5)
        Shape and rate of the gamma prior of the precision of each weight, for ``inference="em"``
        and ``"mcmc"``. The other methods choose the precisions by the evidence.
    """

    precision: tuple[float, float] = (1.0, 0.5)

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_pairs("precision")


@dataclass(frozen=True, kw_only=True)
class VectorMachineSearch(Settings):
    """Which widths ``RVMClassifier`` and ``RVMRegressor`` try, and how a fit at one of them goes.

    Parameters
    ----------
    length_scale_range : (float, float), default=(0.2, 3.0)
        Narrowest and widest of the widths, in median distances between training rows.
    n_length_scales : int, default=7
        Widths, evenly spaced on a logarithmic scale.
    min_gain : float or None, default=None
        Gain of the log evidence below which no step is worth while. A smaller one gives more
        vectors. None: 0.3 for classes (with ``selection="truncated"`` 0.01), 0.1 in regression.
    max_active : int or None, default=None
        Largest number of active vectors at one width.
    max_steps : int, default=1000
        Largest number of additions, changes and deletions at one width.
    kernel_precision : {"double", "single"}, default="double"
        Precision in which columns outside the model are held while they are ranked; those of the
        model are always in double precision. ``"single"`` halves the memory.
    """

    length_scale_range: tuple[float, float] = (0.2, 3.0)
    n_length_scales: int = 7
    min_gain: float | None = None
    max_active: int | None = None
    max_steps: int = 1000
    kernel_precision: str = "double"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_pairs("length_scale_range", meaning="(low, high)")
        low, high = self.length_scale_range
        if low > high:
            raise ValueError(
                f"{self._spoken('length_scale_range')} must be (low, high) with low <= high, got "
                f"{(low, high)!r}."
            )
        self._check_counts("n_length_scales", "max_steps")
        if self.min_gain is not None:
            self._check_positive("min_gain")
        if self.max_active is not None:
            self._check_counts("max_active")
        self._check_choice("kernel_precision", "double", "single")


@dataclass(frozen=True, kw_only=True)
class PCVMSearch(VectorMachineSearch):
    """Which widths ``PCVMClassifier`` tries, and how a fit at one of them goes.

    Parameters
    ----------
    length_scale_range, n_length_scales, min_gain, max_active, max_steps, kernel_precision
        See :class:`VectorMachineSearch`.
    selection : {"gaussian", "truncated"}, default="gaussian"
        Which one-dimensional evidence decides about a row: that of a normal or of a half-normal
        weight. The second takes many more rows and predicts no better. For
        ``inference="laplace"`` and ``"ep"``; ``"smoothed"`` has another rule.
    """

    selection: str = "gaussian"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_choice("selection", "gaussian", "truncated")
