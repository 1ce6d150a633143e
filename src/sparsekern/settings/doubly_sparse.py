"""Groups of parameters of the doubly-sparse model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from .._checks import check_positive
from .group import Settings, in_a_sweep


@dataclass(frozen=True, kw_only=True)
class DoublySparsePriors(Settings):
    r"""Priors of ``DoublySparseClassifier``.

    Parameters
    ----------
    slab : (float, float) or float, default=(0.5, 50)
        Shape and rate of the gamma prior of :math:`1/\nu_1`, the precision of the coefficients; a
        number is :math:`\nu_1` itself, which is then known.
    spike : float or None, default=None
        Prior variance of the coefficients of inactive vectors, in the units of the slab's: the
        continuous spike of the paper, in an order of updates that keeps the posterior. Much slower
        than None, where they are zero; for comparison.
    intercept : float, default=100.0
        Prior variance of :math:`\beta_0`.
    expected_features : float or None, default=None
        Prior mean of the number of included features (at most half of those that are screened).
        None: a tenth of them, but one at least and five at most. Among hundreds of features, where
        many tell the classes apart, one alone predicts worse; among ten, more would be selected
        even from noise.
    expected_vectors : float or None, default=None
        Prior mean of the number of active vectors (at most half of the candidates). None:
        :math:`1.3\sqrt n` for n rows, but 8 at least and 60 at most. Fewer vectors predict about
        as well, but then each of them matters so much that length scales and vectors hold each
        other fast, and chains of many rows stand still.
    max_active : int, default=100
        Largest number of active vectors.
    select_features, select_vectors : bool, default=True
        With False every feature is included (length scales are still learned), or every candidate
        is active.
    """

    slab: Any = (0.5, 50)
    spike: float | None = None
    intercept: float = 100.0
    expected_features: float | None = None
    expected_vectors: float | None = None
    max_active: int = 100
    select_features: bool = True
    select_vectors: bool = True

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if isinstance(self.slab, Real):
            self._check_positive("slab")
        else:
            self._check_pairs("slab", meaning="(shape, rate) or a known variance")
        self._check_positive("intercept")
        for name in ("expected_features", "expected_vectors"):
            if getattr(self, name) is not None:
                self._check_positive(name)
        self._check_counts("max_active")
        self._check_flags("select_features", "select_vectors")
        if self.spike is None:
            return
        self._check_positive("spike")
        if not self.select_vectors:
            raise ValueError(
                f"{self._spoken('spike')}={self.spike!r} has no part with select_vectors=False, "
                "where every vector is in the slab; leave spike=None."
            )


@dataclass(frozen=True, kw_only=True)
class DoublySparseRegressionPriors(DoublySparsePriors):
    r"""Priors of ``DoublySparseRegressor``: those of :class:`DoublySparsePriors`, and of the noise.

    Prior variances of coefficients and intercept are in units of :math:`\sigma^2`.

    Parameters
    ----------
    expected_features : float or None, default=1.0
        Prior mean of the number of included features (at most half of those that are screened).
        None: a tenth of them, but one at least and five at most.
    noise : (float, float), default=(0.001, 0.001)
        Shape and rate of the gamma prior of :math:`\sigma^{-2}`, for responses scaled to unit
        variance (heavy tails: unit median deviation, times that of a Gaussian); negative binomial:
        of the inverse of the dispersion.
    degrees_of_freedom : float, array of float or "learned", default="learned"
        Of Student's law: known, or learned among the values given (``"learned"``: from 1 to 64).
        It has no part in other laws.
    slab, spike, intercept, expected_vectors, max_active, select_features, select_vectors
        See :class:`DoublySparsePriors`.
    """

    expected_features: float | None = 1.0
    noise: tuple[float, float] = (0.001, 0.001)
    degrees_of_freedom: Any = "learned"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_pairs("noise")
        self._check_degrees_of_freedom()


@dataclass(frozen=True, kw_only=True)
class DoublySparseMoves(Settings):
    """What a sweep of ``DoublySparseClassifier`` consists of, and which rows it looks at.

    Parameters
    ----------
    features : int or None, default=None
        Features drawn at random to be toggled; None: half of them, but 4 at least and, up to 1,000
        features, 20 at most; beyond, one in 50.
    swaps : int or None, default=None
        Exchanges of an included for an excluded feature, half of them for one that it is correlated
        with (with up to 5,000 features). None: as many as ``features``, 20 at most.
    pairs : int, default=4
        Toggles of two features at once, from a list of pairs that may matter only together by how
        products of simple functions of them go with the response (with up to 5,000 features).
    length_scales : int, default=4
        Walks on the length scale of every included feature, and as many on all of them at once,
        together with the scale of the coefficients.
    active_set : int, default=40
        Birth, death and swap moves of the active vectors.
    blocks : int, default=4
        Births and deaths of 2 to 32 active vectors at once, or, where ``max_active`` is 200 or
        more, of up to a third of it (128 at most).
    leaps : int, default=1
        Leaps to another peak of a length scale's posterior, which carry the active vectors along,
        with Gaussian noise: so many every third sweep in tuning, and every second or eighth after
        it, by how many were taken.
    latent_scans : int, default=3
        Scans of the latent variables, where the likelihood has them.
    large_n : {"dictionary", "fixed_rows", "active_subset"}, default="dictionary"
        Beyond 2,000 rows: 300 candidates (unless ``candidates`` says otherwise), all rows as data;
        or 1,000 rows only, drawn once and spread over the responses, the others ignored; or the
        scheme of the paper, for Gaussian noise, whose data are the active rows of each sweep: it is
        approximate (it leaves no posterior invariant) and needs many vectors, such as priors with
        ``expected_vectors=60, max_active=200``; their ``spike`` is .001 unless given.
    """

    features: int | None = in_a_sweep(None, 10_000)
    swaps: int | None = in_a_sweep(None, 10_000, lowest=0)
    pairs: int = in_a_sweep(4, 10_000, lowest=0)
    length_scales: int = in_a_sweep(4, 1_000)
    active_set: int = in_a_sweep(40, 10_000)
    blocks: int = in_a_sweep(4, 10_000, lowest=0)
    leaps: int = in_a_sweep(1, 1_000, lowest=0)
    latent_scans: int = in_a_sweep(3, 1_000)
    large_n: str = "dictionary"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_choice("large_n", "dictionary", "fixed_rows", "active_subset")


@dataclass(frozen=True, kw_only=True)
class DoublySparseRegressionMoves(DoublySparseMoves):
    """What a sweep of ``DoublySparseRegressor`` consists of.

    Parameters
    ----------
    temperatures : sequence of float or None, default=None
        Parallel tempering, for Gaussian noise: every chain becomes a ladder of replicas, replica r
        with the likelihood to the power :math:`1/T_r`, which exchange their states. Give rising
        numbers from 1 on, such as ``(1, 1.5, 2.5, 5)``, where chains disagree about features. It
        costs as many times more; ``acceptance_rates_["temperature_swap"]`` should be .2 or more.
    features, swaps, pairs, length_scales, active_set, blocks, leaps, latent_scans, large_n
        See :class:`DoublySparseMoves`.
    """

    temperatures: Any = None

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        if self.temperatures is None:
            return
        name = self._spoken("temperatures")
        listed = isinstance(self.temperatures, (tuple, list, np.ndarray))
        given = self.temperatures if listed and np.ndim(self.temperatures) == 1 else ()
        ladder = tuple(check_positive(name, value) for value in given)
        rising = all(low < high for low, high in pairwise(ladder))
        if len(ladder) < 2 or ladder[0] != 1.0 or not rising:
            raise ValueError(
                f"{name} must be None or at least two rising numbers of which the first is 1, "
                f"such as (1, 1.5, 2.5, 5); got {self.temperatures!r}."
            )
        self._keep("temperatures", ladder)


@dataclass(frozen=True, kw_only=True)
class DoublySparseSelection(Settings):
    """Which features are looked at, and which count as selected.

    Parameters
    ----------
    max_features : int, default=50
        Largest number of included features.
    threshold : float, default=0.5
        Inclusion probability from which a feature counts as selected; 0.5 is the median
        probability model. It may be changed after the fit, by
        ``set_params(selection__threshold=0.9)``.
    screen : int or None, default=None
        Number of features to keep before sampling, by their correlation, and that of their squares,
        with the response. It happens inside ``fit``, so that cross-validation stays honest. The
        prior then counts the features that are left. Constant features never take part.
    screen_by : {"correlation", "evidence"}, default="correlation"
        What ``screen`` goes by: correlations, or the evidence of a Gaussian process of each feature
        alone, which sees effects of any shape and takes about a millisecond a feature.
    """

    max_features: int = 50
    threshold: float = 0.5
    screen: int | None = None
    screen_by: str = "correlation"

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        self._check_counts("max_features")
        self._check_shares("threshold")
        if self.screen is not None:
            self._check_counts("screen")
        self._check_choice("screen_by", "correlation", "evidence")
