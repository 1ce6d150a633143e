r"""Draws of whole functions from the models of a search.

Given a feature set and its parameters the latent function is a Gaussian process of covariance
:math:`\lambda k+v_0`, and its posterior precision at the training rows is :math:`K^{-1}+W` (W is
:math:`1/\sigma^2` for Gaussian noise, else the curvature of Laplace's method). Matheron's rule
makes the deviation from the posterior mean out of a draw g of the prior and :math:`\epsilon\sim
N(0,I)`:

.. math::
    g(x)-k_*^\top W^{1/2}B^{-1}(W^{1/2}g(X)+\epsilon),\qquad B=I+W^{1/2}KW^{1/2}.

g is a sum of random cosines. Every draw has frequencies of its own, so that over draws the
covariance of g is the kernel's, however few cosines there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.spatial.distance import cdist

from ..._jit import jit
from ...kernels.evaluate import LAPLACIAN, MATERN32, RBF
from ...predictive.even_draws import even_draws
from ._contract import Backend, Batch
from .compiled import pick
from .inner_laplace import _evaluate, _scratch
from .laplace_backend import LaplaceBackend
from .posterior import GlobalPosterior, LocalPosterior, WeightedModel
from .scoring import Features

_COSINES = 64
_FREEDOM = {MATERN32: 3}  # of the frequencies; the other Matern kernel has 5


def draw_functions(
    posterior: GlobalPosterior | LocalPosterior, backend: Backend, points: np.ndarray, count: int
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield slices of the points [q, p], latent draws [count, q], and their last parameter.

    Draw t is the same function at every call. Where every point has a model of its own there is no
    function to draw: a draw then has the same quantile at all points.
    """
    for block, parts in posterior.blocks(backend, points):
        chosen, quantiles = even_draws(parts.weights[:, 0], count)
        if isinstance(posterior, GlobalPosterior):
            deviation = _deviations(posterior, backend, points[block], chosen)
        else:
            deviation = quantiles[:, None] * np.sqrt(parts.variances[chosen])
        yield block, parts.means[chosen] + deviation, parts.last[chosen]


def _deviations(
    posterior: GlobalPosterior, backend: Backend, points: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Return draws of f minus its mean, [T, q], each from the component chosen for it."""
    out = np.empty((len(chosen), len(points)))
    first = 0
    for model in posterior.models:
        used = np.unique(chosen[(chosen >= first) & (chosen < first + len(model.weights))])
        if len(used):
            batch = _batch_of(posterior, model.features)
            parameters = np.ascontiguousarray(model.parameters[used - first])
            precisions, intercept = _precisions(backend, batch, parameters)
            for component, u, precision in zip(used, parameters, precisions, strict=True):
                draws = np.flatnonzero(chosen == component)
                law = _Law(posterior, model, u, intercept)
                out[draws] = _conditioned(law, precision, points, draws)
        first += len(model.weights)
    return out


def _batch_of(posterior: GlobalPosterior, features: Features) -> Batch:
    """Return the one problem of a feature set, all rows in it."""
    return Batch(
        posterior.columns, posterior.kind, np.arange(posterior.columns.shape[1])[None],
        posterior.response[None], np.array([features or (0,)], dtype=np.int64),
        np.array([len(features)]), posterior.shared,
    )  # fmt: skip


class _Law:
    """The prior of one feature set and one parameter vector."""

    def __init__(
        self, posterior: GlobalPosterior, model: WeightedModel, u: np.ndarray, intercept: float
    ) -> None:
        self.kind, self.amplitude, self.intercept = posterior.kind, np.exp(u[0]), intercept
        self.features = list(model.features)
        self.rates = np.broadcast_to(np.exp(-u[1:-1]), (len(self.features),))
        self.rows = posterior.columns[self.features].T

    def kernel(self, points: np.ndarray) -> np.ndarray:
        """Return the covariance between points (of the features) and training rows."""
        if not self.features:
            shape = (len(points), self.rows.shape[0])
            return np.full(shape, self.amplitude + self.intercept)
        root = self.rates if self.kind == LAPLACIAN else np.sqrt(self.rates)
        metric = "cityblock" if self.kind == LAPLACIAN else "sqeuclidean"
        sums = cdist(points * root, self.rows * root, metric)
        if self.kind in (LAPLACIAN, RBF):
            values = np.exp(-sums)
        elif self.kind == MATERN32:
            r = np.sqrt(6.0 * sums)
            values = (1.0 + r) * np.exp(-r)
        else:
            r = np.sqrt(10.0 * sums)
            values = (1.0 + r + r * r / 3.0) * np.exp(-r)
        return self.amplitude * values + self.intercept

    def prior_draw(self, rng: np.random.Generator, places: np.ndarray) -> np.ndarray:
        """Return a draw of the prior at places [m, s]."""
        constant = np.sqrt(self.intercept) * rng.standard_normal()
        if not self.features:
            return np.full(len(places), constant + np.sqrt(self.amplitude) * rng.standard_normal())
        shape = (len(self.features), _COSINES)
        if self.kind == LAPLACIAN:
            frequencies = self.rates[:, None] * rng.standard_cauchy(shape)
        else:
            frequencies = np.sqrt(2.0 * self.rates)[:, None] * rng.standard_normal(shape)
            if self.kind != RBF:
                freedom = _FREEDOM.get(self.kind, 5)
                frequencies *= np.sqrt(freedom / rng.chisquare(freedom, _COSINES))
        phases = rng.uniform(0.0, 2.0 * np.pi, _COSINES)
        weights = np.sqrt(2.0 * self.amplitude / _COSINES) * rng.standard_normal(_COSINES)
        return constant + np.cos(places @ frequencies + phases) @ weights


def _conditioned(
    law: _Law, precision: np.ndarray, points: np.ndarray, draws: np.ndarray
) -> np.ndarray:
    """Return the posterior deviations of some draws at points, [len(draws), q]."""
    root = np.sqrt(precision)
    there = points[:, law.features]
    inner = root[:, None] * law.kernel(law.rows) * root
    inner[np.diag_indices_from(inner)] += 1.0
    factor = cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
    places = np.vstack([law.rows, there])
    n = len(law.rows)
    found, pulls = np.empty((len(draws), len(there))), np.empty((n, len(draws)))
    for place, draw in enumerate(draws):
        rng = np.random.default_rng([int(draw)])  # the same at every call
        noise = rng.standard_normal(n)
        prior = law.prior_draw(rng, places)
        found[place] = prior[n:]
        pulls[:, place] = root * prior[:n] + noise
    solved = root[:, None] * cho_solve((factor, True), pulls, check_finite=False)
    return found - (law.kernel(there) @ solved).T


def _precisions(backend: Backend, batch: Batch, parameters: np.ndarray) -> tuple[np.ndarray, float]:
    """Return W of one problem at parameters [T, m], and the prior variance of a constant."""
    n = batch.rows.shape[1]
    if not isinstance(backend, LaplaceBackend):
        return np.tile(np.exp(-parameters[:, -1:]), (1, n)), 0.0
    out = np.empty((len(parameters), n))
    write_curvatures(batch, parameters, backend._law, out)
    return out, backend._law[2]


@jit
def write_curvatures(batch, parameters, law, out):
    """Write the curvatures of Laplace's method at every parameter vector of problem 0."""
    scratch = _scratch(batch.rows.shape[1])
    rows, target = pick(batch.rows, 0), pick(batch.targets, 0)
    for t in range(parameters.shape[0]):
        scratch[5][:] = 0.0
        _evaluate(batch, 0, parameters[t], rows, target, law, scratch)
        out[t] = scratch[8]
