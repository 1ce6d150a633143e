"""Groups of parameters of the hybrid-search Gaussian processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._checks import check_positive
from .group import Settings


@dataclass(frozen=True, kw_only=True)
class HybridPriors(Settings):
    r"""Priors of ``HybridSearchGPClassifier``.

    Parameters
    ----------
    amplitude : (float, float), default=(1, 1)
        Shape and rate of the gamma prior of :math:`1/\lambda`, with :math:`\lambda` the variance of
        the function.
    length_scale : (float, float), default=(1, 1)
        Shape and rate of the gamma prior of :math:`1/(2\ell^2)`, with :math:`\ell` the length scale
        (Laplacian kernel: of :math:`1/\ell`).
    intercept : float, default=10.0
        Known prior variance of a constant in the function. It has no part where noise is Gaussian.
    size_penalty : float, default=1.0
        Power of :math:`\binom p{|\gamma|}^{-1}` in the prior of a feature set :math:`\gamma`; 0
        makes all feature sets equally probable.
    """

    amplitude: tuple[float, float] = (1, 1)
    length_scale: tuple[float, float] = (1, 1)
    intercept: float = 10.0
    size_penalty: float = 1.0

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_pairs("amplitude", "length_scale")
        known = f"{self._spoken('intercept')}, a known prior variance,"
        self._keep("intercept", check_positive(known, self.intercept))
        if isinstance(self.size_penalty, bool) or self.size_penalty != 0:
            self._check_positive("size_penalty")


@dataclass(frozen=True, kw_only=True)
class HybridRegressionPriors(HybridPriors):
    r"""Priors of ``HybridSearchGPRegressor``: those of :class:`HybridPriors`, and of the noise.

    Parameters
    ----------
    noise : (float, float) or None, default=None
        Shape and rate of the gamma prior of :math:`1/\sigma^2`, for scaled responses (negative
        binomial: of the inverse of the dispersion). None: (1, 0.1), which holds :math:`\sigma`
        above about :math:`\sqrt{.2/n}`; with Student's law (0.1, 1e-6), which lets it be as small
        as it is.
    degrees_of_freedom : float, default=4.0
        Of Student's law.
    amplitude, length_scale, intercept, size_penalty
        See :class:`HybridPriors`.
    """

    noise: tuple[float, float] | None = None
    degrees_of_freedom: float = 4.0

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if self.noise is not None:
            self._check_pairs("noise")
        self._check_positive("degrees_of_freedom")


@dataclass(frozen=True, kw_only=True)
class HybridSelection(Settings):
    """Which features ``HybridSearchGP*`` look at, and which count as selected.

    Parameters
    ----------
    max_features : int, default=10
        Largest number of features in a model.
    threshold : float, default=0.5
        Inclusion probability from which a feature counts as selected; 0.5 is the median
        probability model. It may be changed after the fit.
    screen : int or None, default=None
        Number of features that are kept before the search, by the evidence of each alone. It
        happens inside ``fit``, so that cross-validation stays honest.
    """

    max_features: int = 10
    threshold: float = 0.5
    screen: int | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_counts("max_features")
        self._check_shares("threshold")
        if self.screen is not None:
            self._check_counts("screen")


@dataclass(frozen=True, kw_only=True)
class HybridSearchOptions(Settings):
    """How ``HybridSearchGPClassifier`` searches.

    Parameters
    ----------
    evidence : {"laplace", "bic"}, default="laplace"
        How the parameters of a model are integrated out: Laplace's method, or Schwarz's criterion.
    window : float or "auto", default="auto"
        Models less probable than the best one by more than this factor are left out; "auto": 20,
        and 500 where correlated features are exchanged and the search sees all rows.
    slack : float, default=12.0
        How far (log scale) beyond the window a model may seem, at the parameters of another one,
        and still be fitted.
    n_wander : int, default=20
        Random steps without an improvement after which the search ends.
    n_refine : int, default=5
        Neighbours that are fitted at every step.
    refit_drift : bool, default=False
        Whether a wandering model that differs from the best one by three features or more is fitted
        before its neighbours are scored; else they are scored at the best one's parameters.
    n_starts : int, default=1
        Searches, from the feature of largest correlation, then others; the model without features
        is tried in any case.
    swaps : {"auto", True, False}, default="auto"
        Whether correlated features are exchanged for each other; "auto": if two have a correlation
        beyond .9.
    pairs : bool, default=True
        Whether, where no single change improves, two features are added at once that may matter
        only together, as in :math:`x_1x_2`. Of more than 5,000 features those best alone are
        paired.
    close : bool, default=True
        Whether the neighbours of every model of the window are looked at in the end.
    rows : int, default=500
        With more rows than this the search works on this number of them. Which rows they are does
        not depend on the order of the data. Classes keep their shares, but for a class of less than
        5 %, which keeps up to 5 % of these rows.
    """

    evidence: str = "laplace"
    window: Any = "auto"
    slack: float = 12.0
    n_wander: int = 20
    n_refine: int = 5
    refit_drift: bool = False
    n_starts: int = 1
    swaps: Any = "auto"
    pairs: bool = True
    close: bool = True
    rows: int = 500

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_choice("evidence", "laplace", "bic")
        self._check_choice("swaps", "auto", True, False)
        self._check_flags("refit_drift", "pairs", "close")
        self._check_positive("slack")
        self._check_counts("n_wander", lowest=0)
        self._check_counts("n_refine", "n_starts")
        self._check_counts("rows", lowest=2)
        if not (isinstance(self.window, str) and self.window == "auto"):
            self._check_positive("window")
            if self.window < 1:
                name = self._spoken("window")
                raise ValueError(f"{name} must be at least 1, got {self.window!r}.")


@dataclass(frozen=True, kw_only=True)
class HybridRegressionSearch(HybridSearchOptions):
    """How ``HybridSearchGPRegressor`` searches.

    Parameters
    ----------
    method : {"hybrid", "mcmc"}, default="hybrid"
        ``"mcmc"`` samples features and parameters by Metropolis moves: exact and slow, for
        comparison; it needs a shared length scale and Gaussian noise. The number of draws of each
        chain is that of :class:`HybridPrediction`.
    grid : {"value", "winsorized", "probability", "random"}, default="value"
        How the rows of the search are spread over the values of y. By value finds more; winsorized
        (between the .1 and 99.9 % quantiles) suits a few outliers, by probability many; at random
        is for comparison.
    tune, chains : int, default=500, 2
        Sweeps before the first draw, and chains, of ``method="mcmc"``.
    memory_limit : float, default=4.0
        Gigabytes that a device may use.
    evidence, window, slack, n_wander, n_refine, refit_drift, n_starts, swaps, pairs, close, rows
        See :class:`HybridSearchOptions`.
    """

    method: str = "hybrid"
    grid: str = "value"
    tune: int = 500
    chains: int = 2
    memory_limit: float = 4.0

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_choice("method", "hybrid", "mcmc")
        self._check_choice("grid", "value", "winsorized", "probability", "random")
        self._check_counts("tune", lowest=0)
        self._check_counts("chains")
        self._check_positive("memory_limit")


@dataclass(frozen=True, kw_only=True)
class HybridPrediction(Settings):
    """How ``HybridSearchGP*`` predict.

    Parameters
    ----------
    integration : {"composite", "draws", "mode", "frozen"}, default="composite"
        Uncertainty of the parameters in predictions: by a rule of 15 points, by ``draws`` draws, or
        not at all; ``"frozen"``: local models share the median of their parameters.
    draws : int, default=1000
        Draws of ``integration="draws"``, ``sample_mean`` and ``sample_proba``, and of each chain of
        ``method="mcmc"``.
    local_neighbors : int, default=50
        Rows of a local model. With more than 2,000 rows (classes, counts and noise that is not
        Gaussian: more rows than the search works on) every prediction has its own model.
    """

    integration: str = "composite"
    draws: int = 1000
    local_neighbors: int = 50

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_choice("integration", "composite", "draws", "mode", "frozen")
        self._check_counts("draws")
        self._check_counts("local_neighbors", lowest=2)
