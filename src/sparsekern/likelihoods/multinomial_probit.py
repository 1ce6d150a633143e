r"""Multinomial probit likelihood for c classes.

:math:`s_{ij}=f_{ij}+\varepsilon_{ij}` with independent unit noise, and the label is the largest:
:math:`y_i=\arg\max_js_{ij}`. The c columns are unconstrained with independent priors, but labels
depend on differences alone, so the working response holds contrasts :math:`Z=SV`, with
:math:`V^\top V=I` and :math:`V^\top1=0`; the active set and the scales never see the mean part.
For a scan it is drawn anew, :math:`\bar s\sim N(0,Q)`, :math:`S=ZV^\top+\bar s1^\top/\sqrt c`, and
every entry is then drawn from its conditional law,

.. math:: N\big((m_{ij}-h_is_{ij})/(1-h_i),\ 1/(1-h_i)\big),\quad
          s_{iy_i}>\max_{l\ne y_i}s_{il},\quad s_{il}<s_{iy_i}.

Class probabilities are one-dimensional integrals over the largest latent value,
:math:`P(y=j)=\int\varphi(t-f_j)\prod_{l\ne j}\Phi(t-f_l)\,dt`, by the trapezoidal rule, which for
such integrands errs by less than 1e-9 at a step of 1/2.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._jit import jit, jit_apart
from ..linalg.factor_columns import refresh_cross
from ..linalg.triangular import dot
from ..linalg.whitened_factor import count_columns, refactor, write_column_scales
from ..linalg.whitened_response import hat_rows
from ..random.truncated_normal import excess_above
from ._compiled import register
from ._largest_normal import shift_of_largest
from .probit import least_free

_STEP, _REACH = 0.5, 9.0


class MultinomialData(NamedTuple):
    """Labels for compiled code."""

    labels: np.ndarray  # int64[n], 0..c-1
    contrasts: np.ndarray  # float64[c, c-1], V


def contrast_matrix(n_classes: int) -> np.ndarray:
    """Return V, the orthonormal contrasts of Helmert: class j against those before it."""
    contrasts = np.zeros((n_classes, n_classes - 1))
    for j in range(1, n_classes):
        contrasts[:j, j - 1] = -1.0
        contrasts[j, j - 1] = j
        contrasts[:, j - 1] /= math.sqrt(j * (j + 1.0))
    return contrasts


class MultinomialProbit:
    """Several classes, responses 0, 1, ...

    Latent values have the contrasts as their last axis, means the classes.
    """

    name: ClassVar[str] = "multinomial_probit"
    support: ClassVar[str] = "classes"
    provides: ClassVar[frozenset[str]] = frozenset(
        {"working response", "free latents", "truncated latents"}
    )

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.contrasts = contrast_matrix(n_classes)

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the probability of every class, last axis."""
        functions = np.ascontiguousarray(latent @ self.contrasts.T)
        flat = functions.reshape(-1, self.n_classes)
        out = np.empty_like(flat)
        _fill_probabilities(flat, out)
        return out.reshape(functions.shape)

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return log probabilities, which order classes as the probabilities do."""
        return np.log(mean)

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the log probability of each label, last axis of ``latent`` summed out."""
        means = self.mean(latent)
        labels = np.broadcast_to(np.asarray(response, dtype=np.int64), means.shape[:-1])
        chosen = np.take_along_axis(means, labels[..., None], axis=-1)[..., 0]
        return np.log(np.maximum(chosen, np.finfo(np.float64).tiny))

    def start_parameters(self) -> np.ndarray:
        """Return no parameters."""
        return np.zeros(0)

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return contrasts that put 0.8 on the class of each label."""
        return 0.8 * self.contrasts[np.asarray(response, dtype=np.int64)].T.copy()

    def truncated_start(self, response: np.ndarray, margin: float = 0.0) -> np.ndarray:
        """Return latent means, a column for each class, that are largest at the label."""
        return np.where(np.arange(self.n_classes) == response[:, None], 1.0, -0.5)

    def truncated_shift(
        self, response: np.ndarray, latent: np.ndarray, margin: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return E[s] - f given that the label's is the largest, and its log probability."""
        return shift_of_largest(response, latent)

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> MultinomialData:
        """Return the labels for compiled code."""
        return MultinomialData(np.asarray(response, dtype=np.int64), self.contrasts)


@jit
def _probability(functions, chosen):
    """Return the probability of class ``chosen`` at one point."""
    classes = functions.shape[0]
    top = functions[0]
    for j in range(1, classes):
        top = max(top, functions[j])
    total = 0.0
    for step in range(int(2.0 * _REACH / _STEP) + 1):
        t = top - _REACH + _STEP * step
        value = math.exp(-0.5 * (t - functions[chosen]) ** 2)
        for j in range(classes):
            if j != chosen:
                value *= 0.5 * math.erfc((functions[j] - t) * math.sqrt(0.5))
        total += value
    return total * _STEP / math.sqrt(2.0 * math.pi)


@jit
def _fill_probabilities(functions, out):
    """Write the probabilities of all classes for every row of ``functions``."""
    classes = functions.shape[1]
    below = np.empty(classes)
    for i in range(functions.shape[0]):
        row = functions[i]
        top = row[0]
        for j in range(1, classes):
            top = max(top, row[j])
        out[i] = 0.0
        for step in range(int(2.0 * _REACH / _STEP) + 1):
            t = top - _REACH + _STEP * step
            everyone = 1.0
            for j in range(classes):
                below[j] = 0.5 * math.erfc((row[j] - t) * math.sqrt(0.5))
                everyone *= below[j]
            for j in range(classes):
                # all others below t; t - f_j > -9, so the quotient is safe
                out[i, j] += math.exp(-0.5 * (t - row[j]) ** 2) * everyone / below[j]
        total = 0.0
        for j in range(classes):
            total += out[i, j]
        for j in range(classes):
            out[i, j] /= total


@jit
def _complete(data, rng, factor, full):
    """Write S = Z V' + s 1'/sqrt(c) with the mean part drawn anew from N(0, Q)."""
    classes, n = full.shape
    q = count_columns(factor)
    scale, weights, mean = factor.short[2], factor.short[0], factor.long[0]
    write_column_scales(factor, factor.variances, q, scale)
    for a in range(q + 1):
        weights[a] = scale[a] * rng.standard_normal()
    mean[:] = 0.0
    if q > 0:
        np.dot(weights[1 : q + 1], factor.whitened[:q], mean)
    share = 1.0 / math.sqrt(classes)
    for i in range(n):
        mean[i] = share * (mean[i] + weights[0] * factor.ones[i] + rng.standard_normal())
    for j in range(classes):
        for i in range(n):
            value = mean[i]
            for m in range(classes - 1):
                value += data.contrasts[j, m] * factor.response[m, i]
            full[j, i] = value


@jit
def _scan(data, rng, full, projected, hat, free):
    """Draw every latent value once; ``projected`` holds E S_j and is kept up to date."""
    classes, n = full.shape
    size = hat.shape[1]
    for i in range(n):
        row, left, winner = hat[i], free[i], data.labels[i]
        deviation = 1.0 / math.sqrt(left)
        for j in range(classes):
            old = full[j, i]
            mean = (dot(row, projected[j], size) - (1.0 - left) * old) / left
            if j == winner:
                bound = -math.inf
                for m in range(classes):
                    if m != j:
                        bound = max(bound, full[m, i])
                new = bound + deviation * excess_above(rng, (bound - mean) / deviation)
            else:
                bound = full[winner, i]
                new = bound - deviation * excess_above(rng, (mean - bound) / deviation)
            for a in range(size):
                projected[j, a] += row[a] * (new - old)
            full[j, i] = new


@jit
def _stretch(rng, full, projected, size):
    """Radial move: redraw the length of S given its direction."""
    classes, n = full.shape
    form = 0.0
    for j in range(classes):
        form += dot(full[j], full[j], n) - dot(projected[j], projected[j], size)
    if form <= 0.0:  # all digits cancelled: a null move
        return
    factor = math.sqrt(2.0 * rng.standard_gamma(0.5 * n * classes) / form)
    full *= factor
    projected *= factor


@jit_apart
def _update_working(data, rng, factor, diagonal, scans, memory):
    """Scan all latent values with the coefficients integrated out; the factor is left exact."""
    n, classes = data.labels.shape[0], data.contrasts.shape[0]
    full = np.empty((classes, n))
    _complete(data, rng, factor, full)
    hat, free = hat_rows(factor, memory.hat), memory.free
    least_free(factor, diagonal, hat, free)
    projected = np.dot(full, hat)
    for _ in range(scans):
        if factor.abandoned[0] != 0:
            break
        _scan(data, rng, full, projected, hat, free)
        _stretch(rng, full, projected, hat.shape[1])
    for m in range(classes - 1):
        response = factor.response[m]
        response[:] = 0.0
        for j in range(classes):
            for i in range(n):
                response[i] += data.contrasts[j, m] * full[j, i]
    refresh_cross(factor)
    refactor(factor)


@jit
def _functions_at(data, functions, row):
    classes = data.contrasts.shape[0]
    here = np.zeros(classes)
    for j in range(classes):
        for m in range(classes - 1):
            here[j] += data.contrasts[j, m] * functions[m, row]
    return here


@jit
def _total_log_likelihood(data, functions, variance):
    """Return the log probability of all labels."""
    total = 0.0
    for i in range(data.labels.shape[0]):
        value = _probability(_functions_at(data, functions, i), data.labels[i])
        total += math.log(max(value, 1e-300))
    return total


@jit
def _monitor(data, functions, row):
    """Return the probability of the label that the row has."""
    return _probability(_functions_at(data, functions, row), data.labels[row])


register(
    MultinomialData,
    update_working=_update_working,
    total_log_likelihood=_total_log_likelihood,
    monitor=_monitor,
)
