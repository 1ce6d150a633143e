r"""Prediction of the multinomial machine: the mean of a softmax over normal latent values.

The integral has one dimension less than there are classes; it is taken over a fixed set of
quasi-random normal points, so that predictions are deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, softmax
from scipy.stats import qmc

from ...kernels.resolve import Kernel
from .expansion import kernel_columns, refuse_overflow
from .multinomial import MulticlassMachine

_POINTS = 128  # and their mirror images
_BLOCK_NUMBERS = 4_000_000


@lru_cache(maxsize=16)
def _normal_points(dimension: int) -> np.ndarray:
    uniform = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(0)).random(_POINTS)
    half = ndtri(np.clip(uniform, 1e-9, 1.0 - 1e-9))
    return np.concatenate([half, -half])


def mean_softmax(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return E softmax(f) for f ~ N(mean, covariance), rows first."""
    n_classes = mean.shape[1]
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    points = _normal_points(n_classes)
    out = np.empty_like(mean)
    step = max(1, _BLOCK_NUMBERS // (len(points) * n_classes))
    for start in range(0, len(mean), step):
        block = slice(start, start + step)
        latent = mean[block, None] + np.einsum("ncd,kd->nkc", root[block], points)
        out[block] = softmax(latent, axis=2).mean(axis=1)
    return out


@dataclass(frozen=True)
class MultinomialExpansion:
    """One function per class: biases and kernel columns, with the covariance of all weights."""

    kernel: Kernel
    rows: np.ndarray  # int64[r], training rows in use
    vectors: np.ndarray  # float64[r, p]
    place: np.ndarray  # int64[m], which of them each column takes; -1 for a bias
    signs: np.ndarray  # float64[m]
    of_class: np.ndarray  # int64[m]
    mean: np.ndarray  # float64[m]
    inverse: np.ndarray  # float64[m, m]

    def moments(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means, shape (n, C), and covariances, shape (n, C, C)."""
        n, n_classes = len(features), int(self.of_class.max()) + 1
        mean, covariance = np.zeros((n, n_classes)), np.empty((n, n_classes, n_classes))
        step = max(1, _BLOCK_NUMBERS // (len(self.mean) * n_classes))
        for start in range(0, n, step):
            block = slice(start, start + step)
            with np.errstate(over="ignore", invalid="ignore"):  # judged once, below
                design = self.columns(features[block])
                parts = []
                for c in range(n_classes):
                    mine = np.flatnonzero(self.of_class == c)
                    mean[block, c] = self.mean[mine] @ design[mine]
                    parts.append(self.inverse[:, mine] @ design[mine])
                stacked = np.stack(parts, axis=1)  # (m, C, rows)
                covariance[block] = np.einsum("acn,adn->ncd", stacked, stacked)
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            refuse_overflow(self.kernel)
        return mean, covariance

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Return the design at new rows, a row for each column."""
        out = np.ones((len(self.place), len(features)))
        if len(self.rows):
            values = kernel_columns(self.kernel, features, self.vectors, self.rows)
            inner = self.place >= 0
            out[inner] = self.signs[inner, None] * values[self.place[inner]]
        return out


def leave_one_out(state: MulticlassMachine, owner: list[np.ndarray]) -> np.ndarray:
    """Return the probabilities of all classes at every row, the row left out.

    ``owner[n]`` holds the active columns that go with row n (usually none). As for two classes the
    row's factor is divided out and its own columns are conditioned to be zero.
    """
    machine, size = state.machine, state.size
    p, design = state.probability, machine.design[:size]
    n, n_classes = p.shape
    inverse = np.tril(machine.inverse[:size, :size])
    mean = machine.mean[:size]
    latent = state.latent(machine.mean)
    at_mode = state.latent(machine.weight)
    bend = np.einsum("nc,cd->ncd", p, np.eye(n_classes)) - p[:, :, None] * p[:, None, :]
    shift = state.target - p + np.einsum("ncd,nd->nc", bend, at_mode)
    spread = np.zeros((size, n_classes, n))
    for c in range(n_classes):
        mine = np.flatnonzero(state.of_class[:size] == c)
        spread[:, c] = inverse[:, mine] @ design[mine]
    covariance = np.einsum("acn,adn->ncd", spread, spread)
    left = np.linalg.inv(np.eye(n_classes) - np.einsum("ncd,nde->nce", covariance, bend))
    cavity = np.einsum("ncd,nde->nce", left, covariance)
    pull = latent - np.einsum("ncd,nd->nc", covariance, shift)
    centre = np.einsum("ncd,nd->nc", left, pull)
    for row in range(n):
        if not len(owner[row]):
            continue
        mine = owner[row]
        sigma = inverse.T @ inverse[:, mine]  # columns of Sigma
        cross = spread[:, :, row].T @ inverse[:, mine]  # Cov(f_row, own weights)
        gain = bend[row] @ left[row]
        cavity_cross = cross + covariance[row] @ gain @ cross
        own_cov = sigma[mine] + cross.T @ gain @ cross
        own_mean = mean[mine] + cross.T @ gain @ (latent[row] - covariance[row] @ shift[row])
        own_mean -= cross.T @ (shift[row])
        solved = np.linalg.solve(own_cov, np.column_stack([own_mean, cavity_cross.T]))
        centre[row] -= cavity_cross @ solved[:, 0]
        cavity[row] -= cavity_cross @ solved[:, 1:]
    cavity = 0.5 * (cavity + cavity.transpose(0, 2, 1))
    return mean_softmax(centre, cavity)
