"""Models of one response at several widths of the kernel, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, softmax

from ...kernels.resolve import Kernel
from ...likelihoods.table import TABLE
from ...likelihoods.terms import CODES
from ...predictive.class_shares import normalized_shares
from .classification import Candidates, without_rows
from .weight_draws import expansion_draws
from .weights import width_weights


@dataclass(frozen=True)
class WidthAverage:
    """Models of one response, one per width, and their weights."""

    fits: list[Any]
    weights: np.ndarray

    @classmethod
    def by_rule(cls, rule: str, fits: list[Any], held_out: list[Any]) -> WidthAverage:
        """Return fits with the weights that a rule gives them; see :func:`.width_weights`."""
        return cls(fits, width_weights(rule, fits, held_out))

    @property
    def kept(self) -> list[tuple[float, Any]]:
        """Models with a weight."""
        return [(w, fit) for w, fit in zip(self.weights, self.fits, strict=True) if w > 0]

    @property
    def best(self) -> Any:
        """The model with the largest weight."""
        return self.fits[int(np.argmax(self.weights))]

    @property
    def rows(self) -> np.ndarray:
        """Training rows active in any model with a weight."""
        return np.unique(np.concatenate([fit.rows for _, fit in self.kept]))

    def row_weights(self, numbers: np.ndarray, count: int) -> np.ndarray:
        """Return for each training row the weight of the widths at which it is active.

        Parameters
        ----------
        numbers : ndarray of shape (m,)
            For every row of the model its number among the training rows.
        count : int
            Training rows.
        """
        total = np.zeros(count)
        for weight, fit in self.kept:
            total[numbers[fit.rows]] += weight  # once, where a row is repeated
        return np.minimum(total, 1.0)  # weights add up to one but for rounding

    # of classes

    @property
    def left_out(self) -> np.ndarray:
        """Probability of each training row's own label, the row left out."""
        own = np.sum([weight * np.exp(fit.log_left_out) for weight, fit in self.kept], axis=0)
        return np.minimum(own, 1.0)  # the weights' sum is one but for rounding

    def probability(self, features: np.ndarray) -> np.ndarray:
        """Return the probability of +1, or of every class."""
        kept = self.kept
        total = kept[0][0] * kept[0][1].probability(features)
        for weight, fit in kept[1:]:
            total += weight * fit.probability(features)
        return total

    def side_probability(self, features: np.ndarray) -> np.ndarray:
        r"""Return the probability that f is positive, :math:`\sum_kw_k\Phi(m_k/s_k)`."""
        total = np.zeros(len(features))
        for weight, fit in self.kept:
            mean, variance = fit.expansion.moments(features)
            total += weight * ndtr(mean[:, 0] / np.sqrt(variance))
        return total


def fit_held_out(
    fit: Callable[..., Any],
    kernel: Kernel,
    features: np.ndarray,
    response: np.ndarray,
    candidates: Candidates,
    fold: tuple[np.ndarray, np.ndarray],
    report: Callable[[], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a fold and the log density of their responses, fitted without them.

    Parameters
    ----------
    fit : callable
        Fits one model to a kernel, rows, responses and candidates.
    kernel : Kernel
    features : ndarray of shape (n, p)
    response : ndarray of shape (n,) or (n, outputs)
    candidates : Candidates
    fold : (ndarray, ndarray)
        Rows kept and rows held out.
    report : callable, optional
    """
    kept, held = fold
    inner = features[np.ix_(kept, kept)] if kernel.precomputed else features[kept]
    outer = features[np.ix_(held, kept)] if kernel.precomputed else features[held]
    fitted = fit(kernel, inner, response[kept], without_rows(candidates, kept), report=report)
    return held, fitted.log_density(outer, response[held])


# one average, of two classes or of all together, or one for each class against the rest


def class_probabilities(averages: Sequence[WidthAverage], features: np.ndarray) -> np.ndarray:
    """Return the probability of the second of two classes, or of every class."""
    found = [average.probability(features) for average in averages]
    return found[0] if len(found) == 1 else normalized_shares(found)


def class_draws(averages: Sequence[WidthAverage], features: np.ndarray, thin: int) -> np.ndarray:
    """Return draws of the same, shape (draws, n) or (draws, n, classes)."""
    draws = [
        expansion_draws(average.kept, features, thin, stream)
        for stream, average in enumerate(averages)
    ]
    if draws[0].shape[2] > 1:
        return softmax(draws[0], axis=2)
    code = averages[0].best.likelihood
    law = TABLE[next(name for name, number in CODES.items() if number == code)]()
    positive = [law.mean(latent[:, :, 0]) for latent in draws]
    return positive[0] if len(positive) == 1 else normalized_shares(positive)


def judge_left_out(
    averages: Sequence[WidthAverage], codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's left-out probability of its class, and whether it is taken wrong.

    Parameters
    ----------
    averages : sequence of WidthAverage
    codes : ndarray of shape (n,)
        The classes: -1 and +1 for two, 0, 1, .. for more.
    """
    own = [average.left_out for average in averages]
    if codes.min() < 0:
        return own[0], own[0] < 0.5
    true = codes.astype(np.intp)
    if len(own) == 1:
        each = np.sum([weight * fit.left_out for weight, fit in averages[0].kept], axis=0)
    else:
        classes = np.arange(len(own))[:, None]
        each = normalized_shares(list(np.where(classes == true, own, 1.0 - np.array(own))))
    return each[np.arange(len(each)), true], each.argmax(axis=1) != true
