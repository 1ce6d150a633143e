r"""Responses: their centre and spread, counts and their exposure, and sentences for unusable ones.

The exposure of counts is a column of X: :math:`E[y_i]=e_i\,e^{f(x_i)}`. Its logarithm is added to
the function, and the column is no feature of the kernel (:class:`.inputs.Inputs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_array

from ...likelihoods.table import TABLE, Requires, find_law, offered
from ...predictive.law import PredictiveLaw
from ...predictive.mixture import Mixture
from .inputs import moments, refuse_dates


def resolve_law(estimator: Any, requires: Requires, degrees_of_freedom: Any) -> Any:
    """Return the law of the response that the parameters ``noise`` and ``counts`` ask for.

    Parameters
    ----------
    estimator : Estimator
    requires : Requires
        What its engine needs of a law.
    degrees_of_freedom : float, sequence of float or "learned"
        Of Student's law.
    """
    name = type(estimator).__name__
    for asked, other, support in (("noise", "counts", "counts"), ("counts", "noise", "reals")):
        value = getattr(estimator, asked)
        law = TABLE.get(value) if isinstance(value, str) else None
        if law is not None and law.support == support:
            raise ValueError(
                f"{asked}={value!r} is a law of {support}: use {other}={value!r} and leave {asked} "
                "at its default."
            )
    if estimator.counts is not None:
        law = find_law("counts", estimator.counts, ("counts",), requires, name)
        if estimator.noise != "gaussian":
            raise ValueError(
                f"noise={estimator.noise!r} is for real responses and counts={law.name!r} for "
                "counts; leave noise at its default, or counts=None."
            )
        return law()
    law = find_law("noise", estimator.noise, ("reals",), requires, name)
    if "degrees of freedom" not in law.provides:
        return law()
    if isinstance(degrees_of_freedom, str):  # "learned"
        return law()
    return law([float(value) for value in np.atleast_1d(degrees_of_freedom)])


def find_exposure(estimator: Any, law: Any) -> int | None:
    """Return the position of the column that the parameter ``offset`` names, or None."""
    asked = estimator.offset
    if asked is None:
        return None
    if law.support != "counts":
        laws = " or ".join(f"counts={name!r}" for name in offered(("counts",), (frozenset(),)))
        raise ValueError(
            f"offset={asked!r} is for counts, not for noise={law.name!r}; leave offset=None, or "
            f"use {laws}."
        )
    if estimator._is_precomputed():
        raise ValueError(
            f"offset={asked!r} names a column of X, but with kernel='precomputed' X is the kernel "
            "matrix; give the kernel as a function, or leave offset=None."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(asked, str):
        if names is None or asked not in list(names):
            known = "X has no column names" if names is None else f"X has {list(names)!r}"
            raise ValueError(
                f"offset={asked!r} names no column of X: {known}; give a name or a position."
            )
        asked = list(names).index(asked)
    count = estimator.n_features_in_
    whole = isinstance(asked, Integral) and not isinstance(asked, bool)
    if not whole or not 0 <= int(asked) < count:
        raise ValueError(
            f"offset must be None, the name or the position of a column of X (0 to {count - 1}), "
            f"got {asked!r}."
        )
    if count == 1:
        raise ValueError(
            f"offset={estimator.offset!r} is the only column of X; there must be another as a "
            "feature."
        )
    return int(asked)


def measure_response(
    y: Any, robust: bool = False, weights: np.ndarray | None = None
) -> tuple[np.ndarray, float, float]:
    """Return y as an array, its centre and its spread.

    Parameters
    ----------
    y : array-like of shape (n,)
    robust : bool
        Median and median deviation (times that of a Gaussian) in place of mean and standard
        deviation, so that a few gross errors do not squeeze all other responses together.
    weights : ndarray of shape (n,) or None
        How often each row counts; None: once. Not with ``robust``.
    """
    refuse_dates(y, "y")
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    largest = max(float(np.abs(y).max()), np.finfo(np.float64).tiny)
    centre = largest * float(moments(y / largest, weights)[0])
    spread = largest * float(moments((y - centre) / largest, weights)[1])
    if spread <= 1e-12 * largest:
        row, where = 0, "in every row"
        if weights is not None:
            row, where = int(np.argmax(weights)), "where sample_weight has its weight,"
        raise ValueError(
            f"y is constant ({float(y[row])!r} {where} up to rounding); there is nothing to learn."
        )
    if not 1e-70 < spread < 1e70:  # variances, and their variances, must be numbers
        raise ValueError(
            f"y has the standard deviation {spread:.3g}, which is out of range; "
            "rescale y, for instance by choosing another unit."
        )
    if robust:
        middle = float(np.median(y))
        typical = 1.4826 * float(np.median(np.abs(y - middle)))
        if typical > 1e-12 * abs(middle):  # zero where over half of the responses are the same
            centre, spread = middle, typical
    return y, centre, spread


def _check_counts(y: np.ndarray, law: Any) -> None:
    """Raise unless y holds counts."""
    if (y < 0).any() or (y != np.round(y)).any():
        raise ValueError(
            f"counts={law.name!r} needs whole numbers from 0 on as y; leave counts=None for other "
            "responses."
        )


@dataclass(frozen=True)
class Target:
    """Responses as the models see them: one column per output, real ones centred and scaled.

    Attributes
    ----------
    centre, spread : ndarray of shape (n_outputs,)
    single : bool
        Whether the user gave one output as a vector.
    exposure : int or None
        Of counts: the column of X with their exposure.
    exposure_name : str
        What the user calls it.
    log_rate : float
        Of counts: the logarithm of their mean, over that of the exposure.
    """

    centre: np.ndarray
    spread: np.ndarray
    single: bool = True
    exposure: int | None = None
    exposure_name: str = ""
    log_rate: float = 0.0

    @classmethod
    def measured(
        cls, y: Any, robust: bool = False, weights: np.ndarray | None = None
    ) -> tuple[Target, np.ndarray]:
        """Return the scale of real responses, and these on it, one column per output."""
        y = np.asarray(y)
        columns = [
            measure_response(column, robust, weights) for column in np.reshape(y, (len(y), -1)).T
        ]
        target = cls(
            np.array([centre for _, centre, _ in columns]),
            np.array([spread for _, _, spread in columns]),
            y.ndim == 1,
        )
        return target, target.scaled(np.column_stack([column for column, _, _ in columns]))

    @classmethod
    def of_law(cls, estimator: Any, X: np.ndarray, y: Any, law: Any) -> tuple[Target, np.ndarray]:
        """Return how a law sees one output, and the responses as it sees them.

        Real responses are centred and scaled, by median and median deviation (those of a Gaussian)
        where the law has heavy tails: a few gross errors shall not squeeze all other responses
        together. Counts stay; their function has the log of their mean as an offset.
        """
        column, weights = find_exposure(estimator, law), estimator._row_weights
        if law.support != "counts":
            target, response = cls.measured(y, "heavy tails" in law.provides, weights)
            return target, response[:, 0]
        y, centre, _ = measure_response(y, weights=weights)
        _check_counts(y, law)
        names = getattr(estimator, "feature_names_in_", None)
        named = "" if column is None else repr(column if names is None else str(names[column]))
        target = cls(np.zeros(1), np.ones(1), exposure=column, exposure_name=named)
        total = len(y) if weights is None else weights.sum()
        mean = float(logsumexp(target.log_exposure(X), b=weights) - np.log(total))
        return (
            cls(np.zeros(1), np.ones(1), True, column, named, float(np.log(centre)) - mean),
            y,
        )

    def log_exposure(self, X: np.ndarray) -> np.ndarray:
        """Return the logarithm of the exposure of every row, zero without such a column."""
        if self.exposure is None:
            return np.zeros(len(X))
        exposure = X[:, self.exposure]
        if not (exposure > 0).all():
            raise ValueError(
                f"The exposure, column {self.exposure_name} of X, must be positive; its smallest "
                f"value is {exposure.min():g}. Drop such rows, or leave offset=None."
            )
        return np.log(exposure)

    def offset(self, X: np.ndarray) -> np.ndarray:
        """Return what is added to the function at every row: log rate and log exposure."""
        return self.log_rate + self.log_exposure(X)

    def law_of_rows(
        self,
        law: Any,
        X: np.ndarray,
        noise_prior: tuple[float, float],
        weights: np.ndarray | None = None,
    ) -> tuple[Any, tuple[float, float] | None]:
        """Return a law for chains on these rows, and the noise prior that is left to the model.

        Counts carry what is added to the function, and the prior of their dispersion. ``weights``
        say how often each row counts, where the law can weigh rows.
        """
        if law.support != "counts":
            return law if weights is None else type(law)(weights), noise_prior
        return type(law)(self.offset(X), noise_prior, weights), None

    def scaled(self, y: np.ndarray) -> np.ndarray:
        """Return responses, the outputs last, on the scale of the models."""
        return (y - self.centre) / self.spread

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Return values of the models, the outputs last, in the units of y and as y came."""
        found = self.centre + self.spread * values
        return found[..., 0] if self.single else found

    def laws(self, outputs: list[Mixture]) -> list[PredictiveLaw]:
        """Return laws in the units of y, given one mixture per output."""
        return [
            PredictiveLaw.of_mixture(mixture, centre, spread)
            for mixture, centre, spread in zip(outputs, self.centre, self.spread, strict=True)
        ]

    @property
    def log_unit(self) -> float:
        """What a log density of all outputs is less by in the units of y."""
        return float(np.log(self.spread).sum())
