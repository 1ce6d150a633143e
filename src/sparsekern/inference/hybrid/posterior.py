r"""Predictions averaged over models and parameters.

Each model has points and weights for its parameters, which make a mixture of normal laws. Two ways
to use the data: all rows of the search at once, or, for very many rows, a small model of its own at
every point of prediction, made of the k nearest rows in the features of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ._contract import Backend, Batch
from .evidence import ParameterPrior, find_modes, fit_batch
from .rules import composite_rule
from .scoring import Features

_FIRST = 64  # points whose fits give the others their start
_CONSTANT_ROWS = 200
_NUMBERS = 4_000_000  # held for one block of predictions


class Components(NamedTuple):
    """Normal laws of the latent value at q points, to be mixed."""

    weights: np.ndarray  # float64[C, 1] or [C, q]
    means: np.ndarray  # float64[C, q]
    variances: np.ndarray  # float64[C, q]
    last: np.ndarray  # float64[C, 1] or [C, q], the last parameter


class WeightedModel(NamedTuple):
    """A feature set, its posterior weight, and points and weights of its parameters."""

    features: Features
    weight: float
    parameters: np.ndarray  # float64[T, m]
    weights: np.ndarray  # float64[T]


@dataclass(frozen=True)
class GlobalPosterior:
    """Models of all rows together.

    Attributes
    ----------
    columns, response : ndarray of shape (p, n), (n,)
        On the scale of the search.
    kind : int
    shared : bool
    models : list of WeightedModel
    """

    columns: np.ndarray
    response: np.ndarray
    kind: int
    shared: bool
    models: list[WeightedModel]

    def blocks(self, backend: Backend, points: np.ndarray) -> Iterator[tuple[slice, Components]]:
        """Yield slices of the points [q, p] and what is predicted there."""
        components = sum(len(model.weights) for model in self.models)
        step = max(1, _NUMBERS // max(components, len(self.response)))
        for first in range(0, len(points), step):
            block = slice(first, first + step)
            yield block, self._predict(backend, points[block])

    def _predict(self, backend: Backend, points: np.ndarray) -> Components:
        means, variances, weights, noise = [], [], [], []
        for model in self.models:
            batch = Batch(
                self.columns, self.kind, np.arange(self.columns.shape[1])[None],
                self.response[None], _as_array(model.features), np.array([len(model.features)]),
                self.shared,
            )  # fmt: skip
            there = points[None, :, list(model.features)] if model.features else points[None, :, :1]
            mean, variance = backend.predict(
                batch, model.parameters[None], np.ascontiguousarray(there)
            )
            means.append(mean[0])
            variances.append(variance[0])
            weights.append(model.weight * model.weights)
            noise.append(model.parameters[:, -1])
        return Components(
            np.concatenate(weights)[:, None], np.concatenate(means), np.concatenate(variances),
            np.concatenate(noise)[:, None],
        )  # fmt: skip


def _as_array(features: Features) -> np.ndarray:
    return np.array([features or (0,)], dtype=np.int64)


@dataclass(frozen=True)
class LocalPosterior:
    """A small model of its own at every point.

    Attributes
    ----------
    columns, response, kind, shared
        As for :class:`GlobalPosterior`; all rows.
    models : list of (features, weight)
    prior : ParameterPrior
    neighbors : int
        Rows of a local model.
    center : bool
        Whether local responses are centred.
    composite : bool
        Whether the uncertainty of the local parameters is integrated over.
    frozen : bool
        Whether all points share the parameters that the others only start from.
    usual : dict
        These parameters of every model, see :meth:`with_starts`; without them, the median of the
        first points is taken.
    """

    columns: np.ndarray
    response: np.ndarray
    kind: int
    shared: bool
    models: list[tuple[Features, float]]
    prior: ParameterPrior
    neighbors: int
    center: bool
    composite: bool
    frozen: bool
    usual: dict[Features, np.ndarray] = field(default_factory=dict)

    def with_starts(self, backend: Backend) -> LocalPosterior:
        """Return the same with the usual parameters of every model: the median over some rows.

        A point is then predicted alike whatever other points are asked for.
        """
        rows = np.unique(np.linspace(0, len(self.response) - 1, _FIRST).astype(np.int64))
        points, trees = np.ascontiguousarray(self.columns[:, rows].T), self._trees()
        usual: dict[Features, np.ndarray] = {}
        for features, weight in self.models:
            if features:
                self._predict(backend, points, features, weight, trees, usual)
        return replace(self, usual=usual)

    def _trees(self) -> dict[Features, cKDTree]:
        return {
            features: cKDTree(self.columns[list(features)].T)
            for features, _ in self.models
            if features
        }

    def blocks(self, backend: Backend, points: np.ndarray) -> Iterator[tuple[slice, Components]]:
        """Yield slices of the points [q, p] and what is predicted there."""
        trees, usual = self._trees(), dict(self.usual)
        step = max(_FIRST, _NUMBERS // (15 * len(self.models) * 8))
        edges = [0, *range(min(_FIRST, len(points)), len(points), step), len(points)]
        for first, last in pairwise(edges):
            if last > first:
                block = slice(first, last)
                parts = [
                    self._predict(backend, points[block], features, weight, trees, usual)
                    for features, weight in self.models
                ]
                yield (
                    block,
                    Components(*(np.concatenate(part) for part in zip(*parts, strict=True))),
                )

    def _predict(self, backend, points, features, weight, trees, usual):
        count = len(points)
        k = min(self.neighbors, len(self.response))
        if not features:
            return self._predict_constant(backend, count, weight)
        there = np.ascontiguousarray(points[:, list(features)])
        _, rows = trees[features].query(there, k=k, workers=backend.workers)
        rows = np.sort(rows.reshape(count, k), axis=1)  # the order of rows is only rounding
        targets = self.response[rows]
        centre = targets.mean(axis=1) if self.center else np.zeros(count)
        targets = targets - centre[:, None]
        batch = Batch(
            self.columns, self.kind, rows.astype(np.int64), targets,
            np.repeat(_as_array(features), count, axis=0), np.full(count, len(features)),
            self.shared,
        )  # fmt: skip
        m = 2 + (1 if self.shared else len(features))
        start = usual.get(features)
        if start is None:
            start = np.zeros(m)
            start[1:-1], start[-1] = np.log(2.0 * len(features)), np.log(0.3)
        parameters = np.tile(start, (count, 1))
        chosen, shares = parameters[:, None], np.ones(1)
        if not (self.frozen and features in usual):
            if self.composite and not self.frozen:
                fits = fit_batch(backend, batch, parameters, self.prior)
                modes = fits.parameters
                chosen, shares = composite_rule(modes, fits.hessian)
                chosen[fits.doubtful] = modes[fits.doubtful, None]  # their curvature is a guess
            else:
                modes = find_modes(backend, batch, parameters, self.prior)
                chosen = modes[:, None]
            usual.setdefault(features, np.median(modes, axis=0))
            if self.frozen:
                chosen = np.tile(usual[features], (count, 1))[:, None]
        mean, variance = backend.predict(batch, chosen, there[:, None])
        noise = chosen[:, :, -1].T
        return (
            np.tile(weight * shares[:, None], (1, count)), mean[:, :, 0].T + centre,
            variance[:, :, 0].T, noise,
        )  # fmt: skip

    def _predict_constant(self, backend, count, weight):
        """Return what the model without features says, from rows spread evenly."""
        rows = np.unique(np.linspace(0, len(self.response) - 1, _CONSTANT_ROWS).astype(np.int64))
        centre = self.response.mean() if self.center else 0.0
        batch = Batch(
            self.columns, self.kind, rows[None], self.response[rows][None] - centre,
            np.zeros((1, 1), np.int64), np.zeros(1, np.int64), self.shared,
        )  # fmt: skip
        fits = fit_batch(backend, batch, np.zeros((1, 2)), self.prior)
        mean, variance = backend.predict(batch, fits.parameters[:, None], np.zeros((1, 1, 1)))
        values = (weight, mean[0, 0, 0] + centre, variance[0, 0, 0], fits.parameters[0, -1])
        return tuple(np.full((1, count), value) for value in values)
