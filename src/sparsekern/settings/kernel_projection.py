"""Groups of parameters of the kernel projection classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._checks import check_positive
from .group import SHAPE_RATE, Settings


@dataclass(frozen=True, kw_only=True)
class ProjectionPriors(Settings):
    r"""Priors of ``KernelProjectionClassifier``.

    Parameters
    ----------
    scale : float, ("half_cauchy", float) or None, default=None
        Scale of the half-normal (or half-Cauchy) law of s, one s for each kernel; None: 2. Rows of
        the design have mean square norm 1, so latent values are of the order of s, and beyond a few
        units the data hardly tell. For ``"least_squares"`` ten times that, as responses are. Not
        of ``"latent_noise"``.
    noise : (float, float) or None, default=None
        Shape and rate of the gamma prior of :math:`1/\sigma^2`; None: (1, 1). Not of
        ``"polya_gamma"``.
    precision : (float, float) or None, default=None
        Shape and rate of the gamma prior of :math:`\tau_{lk}`, a further precision of every single
        coefficient. None: there is none, all share s; ``"latent_noise"`` takes (1, 1).
    intercept : (float, float) or None, default=(1.0, 1.0)
        Shape and rate of the gamma prior of the precision of each intercept. None: the latent
        functions have no intercepts.
    select_kernels : bool, default=False
        Whether the scale of a kernel (of one of several, or the only one) may be zero: with
        probability :math:`1-\pi`, :math:`\pi\sim U(0,1)`, a kernel has no part in the latent
        function of a class (``"least_squares"``: of any class). Otherwise the law of s has the
        further factor :math:`s^2` (half-Cauchy: :math:`s^2/(1+s^2/A^2)`), so that no scale is next
        to nothing.
    classes : {"symmetric", "reference"}, default="symmetric"
        A latent function for every class; or none for the last one, as in the paper, which is then
        not like the others: contrasts between those have twice its prior variance.
    """

    scale: Any = None
    noise: tuple[float, float] | None = None
    precision: tuple[float, float] | None = None
    intercept: tuple[float, float] | None = (1.0, 1.0)
    select_kernels: bool = False
    classes: str = "symmetric"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_scale()
        for name in ("noise", "precision"):
            if getattr(self, name) is not None:
                self._check_pairs(name)
        if self.intercept is not None:
            self._check_pairs("intercept", meaning=f"{SHAPE_RATE}, or None for no intercept")
        self._check_flags("select_kernels")
        self._check_choice("classes", "symmetric", "reference")

    @property
    def half_cauchy(self) -> bool:
        """Whether the law of the scale is half-Cauchy."""
        return isinstance(self.scale, tuple | list)

    def _check_scale(self) -> None:
        name, scale = self._spoken("scale"), self.scale
        if self.half_cauchy and not (len(scale) == 2 and scale[0] == "half_cauchy"):
            raise ValueError(
                f"{name}={scale!r} is no law: give the scale of the half-normal law as a number, "
                "or ('half_cauchy', number)."
            )
        if self.half_cauchy:
            self._keep("scale", ("half_cauchy", check_positive(name, scale[1])))
        elif scale is not None:
            self._check_positive("scale")


@dataclass(frozen=True, kw_only=True)
class ProjectionSearchOptions(Settings):
    """What ``KernelProjectionClassifier`` decides before it samples, by parts of the rows.

    Parameters
    ----------
    max_components : int or None, default=None
        Of a search of the number of components: the largest; None: 15.
    n_splits : int or None, default=None
        Of such a search: random halves of the rows; None: 10.
    cost : float or None, default=None
        Of ``n_components="utility"``: what the share n'/n of components in training rows costs in
        accuracy; None: 1.
    rule : {"best", "one_standard_error"} or None, default=None
        Of a search: the number of the largest utility (None, too), or the smallest within one
        standard error (of the difference) of it.
    draws : int or None, default=None
        Kept draws of the one chain on each half or fold, after half as many sweeps; None: 250 on a
        half, 100 on a fold.
    """

    max_components: int | None = None
    n_splits: int | None = None
    cost: float | None = None
    rule: str | None = None
    draws: int | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        for name in ("max_components", "n_splits"):
            if getattr(self, name) is not None:
                self._check_counts(name)
        if self.cost is not None and (isinstance(self.cost, bool) or self.cost != 0):
            self._check_positive("cost")
        if self.rule is not None:
            self._check_choice("rule", "best", "one_standard_error")
        if self.draws is not None:
            self._check_counts("draws", most=10**6, why="the chains of the search are to be short")


@dataclass(frozen=True, kw_only=True)
class ProjectionPrediction(Settings):
    r"""How ``KernelProjectionClassifier`` predicts.

    Parameters
    ----------
    sharpness : float or "cv", default="cv"
        Power t of the pooled class probabilities, which are then normalised again. ``"cv"`` finds t
        on the folds that decide about the model and the width, with
        :math:`\log t\sim N(0,\frac14)` beforehand (of several widths, the mean of log t with their
        weights). 1 leaves them as they are; so are the draws of ``sample_proba``, whose mean (see
        ``pooling``) to the power t is ``predict_proba``.
    pooling : {"geometric", "arithmetic"} or None, default=None
        Mean of the draws of the class probabilities that predictions are made of: the geometric one
        is softmax of the posterior mean of the latent functions; the arithmetic one, the posterior
        probability, is less sure where classes are separated widely. None: geometric, but for
        ``"latent_noise"`` arithmetic, as in the paper.
    noise : bool, default=False
        Of ``"latent_noise"``: whether predictions add the latent noise. It made them worse.
    """

    sharpness: Any = "cv"
    pooling: str | None = None
    noise: bool = False

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if isinstance(self.sharpness, str):
            self._check_choice("sharpness", "cv")
        else:
            self._check_positive("sharpness")
        if self.pooling is not None:
            self._check_choice("pooling", "geometric", "arithmetic")
        self._check_flags("noise")
