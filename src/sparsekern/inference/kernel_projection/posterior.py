r"""Posterior draws on kernel principal components, and the predictions they make.

A draw gives a new row the class probabilities :math:`\mathrm{softmax}(p_*\beta)`. They are pooled
by their arithmetic mean, which is the posterior probability, or by their geometric one, normalised:
:math:`\mathrm{softmax}(p_*\bar\beta)`, the classes of the posterior mean of the latent functions.
Where classes are separated widely the arithmetic mean is less sure than it has reason to be: it is
little more than the share of all separating planes that agree, whatever their margin. Either may be
*sharpened*,

.. math:: q_k\propto\bar p_k^{\,t},

with t the mode of a posterior of its own: :math:`\log t\sim N(0,\frac14)`, and as likelihood
predictions of training rows by chains that have not seen them. (Leave-one-out predictions by
importance sampling would come for nothing; with as many coefficients as rows they are far too
good.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

from .projections import KernelRows, Projection

_BLOCK_NUMBERS = 4_000_000  # latent values held at once
_LARGEST_LOG_POWER = 3.0
_LOG_POWER_SD = 0.5
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class ProjectionPosterior:
    """Draws of the latent functions of all classes.

    Attributes
    ----------
    sources : tuple of Projection or KernelRows
        What makes columns of rows, one for each kernel.
    factors : tuple of float
        What the columns of each are multiplied with.
    coefficients : ndarray of shape (chains, draws, latents, columns)
        The intercept last.
    intercept : bool
    reference : bool
        Whether the last class has the latent value zero.
    noise : ndarray of shape (chains, draws, latents) or None
        Noise to be added to the latent functions, the same for every row.
    power : float
        Exponent t of the pooled probabilities.
    geometric : bool
        Whether draws are pooled by their geometric mean; otherwise by the arithmetic one.
    """

    sources: tuple[Projection | KernelRows, ...]
    factors: tuple[float, ...]
    coefficients: np.ndarray
    intercept: bool
    reference: bool
    noise: np.ndarray | None = None
    power: float = 1.0
    geometric: bool = False

    @property
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.coefficients.shape[0] * self.coefficients.shape[1]

    def thinned(self, thin: int) -> ProjectionPosterior:
        """Return every ``thin``-th draw of each chain."""
        noise = None if self.noise is None else self.noise[:, ::thin]
        return replace(self, coefficients=self.coefficients[:, ::thin], noise=noise)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Return the design of new rows, shape (rows, columns)."""
        parts = [
            factor * source.project(features)[0]
            for source, factor in zip(self.sources, self.factors, strict=True)
        ]
        return self._with_intercept(parts)

    def training_columns(self) -> np.ndarray:
        """Return the design of the training rows."""
        parts = [
            factor * source.training
            for source, factor in zip(self.sources, self.factors, strict=True)
        ]
        return self._with_intercept(parts)

    def _with_intercept(self, parts: list[np.ndarray]) -> np.ndarray:
        ones = [np.ones((len(parts[0]), 1))] if self.intercept else []
        return np.hstack([*parts, *ones])

    def blocks(self, columns: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, class probabilities of shape (draws, rows, classes)), block by block."""
        latents = self.coefficients.shape[2]
        step = max(1, _BLOCK_NUMBERS // max(1, self.n_draws * (latents + self.reference)))
        flat = self.coefficients.reshape(self.n_draws * latents, -1)
        for start in range(0, len(columns), step):
            block = slice(start, min(start + step, len(columns)))
            latent = (flat @ columns[block].T).reshape(self.n_draws, latents, -1)
            if self.noise is not None:
                latent += self.noise.reshape(self.n_draws, latents, 1)
            latent = latent.transpose(0, 2, 1)
            if self.reference:
                latent = np.concatenate([latent, np.zeros((*latent.shape[:2], 1))], axis=2)
            yield block, softmax(latent, axis=2)

    def probabilities(self, columns: np.ndarray) -> np.ndarray:
        """Return predicted class probabilities of rows given by their columns."""
        if self.geometric:
            latent = columns @ self.coefficients.mean(axis=(0, 1)).T
            if self.noise is not None:
                latent += self.noise.mean(axis=(0, 1))
            if self.reference:
                latent = np.column_stack([latent, np.zeros(len(latent))])
            return softmax(self.power * latent, axis=1)
        means = [values.mean(axis=0) for _, values in self.blocks(columns)]
        return sharpened(np.concatenate(means), self.power)

    def probability_draws(self, columns: np.ndarray) -> np.ndarray:
        """Return the class probabilities of every draw, shape (draws, rows, classes)."""
        return np.concatenate([values for _, values in self.blocks(columns)], axis=1)

    def pointwise_log_likelihood(self, labels: np.ndarray) -> np.ndarray:
        """Return log p(y_i | draw) of the training rows, shape (chains, draws, rows)."""
        out = np.empty((self.n_draws, len(labels)))
        for block, values in self.blocks(self.training_columns()):
            own = np.take_along_axis(values, labels[None, block, None], axis=2)[..., 0]
            out[:, block] = np.log(np.maximum(own, _TINY))
        return out.reshape(*self.coefficients.shape[:2], len(labels))


def sharpened(probabilities: np.ndarray, power: float) -> np.ndarray:
    """Return probabilities raised to a power and normalised, classes last."""
    if power == 1.0:
        return probabilities / probabilities.sum(axis=-1, keepdims=True)
    logs = power * np.log(np.maximum(probabilities, _TINY))
    return softmax(logs, axis=-1)


def log_scores(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the log probability of every label, rows and classes being the last two axes."""
    own = probabilities[..., np.arange(len(labels)), labels]
    return np.log(np.maximum(own, _TINY))


def best_power(probabilities: np.ndarray, labels: np.ndarray) -> float:
    r"""Return the exponent t of the largest :math:`\sum_i\log q_i(y_i)-2\log^2t`.

    Rows and classes are the last two axes; over others, predictions of the same rows, the log
    scores are averaged.
    """
    logs = np.log(np.maximum(probabilities, _TINY))
    own = logs[..., np.arange(len(labels)), labels]
    repeats = own.size / len(labels)

    def loss(log_power: float) -> float:
        power = np.exp(log_power)
        score = np.sum(power * own - logsumexp(power * logs, axis=-1)) / repeats
        return float(0.5 * (log_power / _LOG_POWER_SD) ** 2 - score)

    bounds = (-_LARGEST_LOG_POWER, _LARGEST_LOG_POWER)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
