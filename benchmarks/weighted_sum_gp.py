"""A Gaussian process on a weighted sum of kernels, weights and noise by maximum evidence (ML-II).

The reference that multiple kernel learning has to reach: K = sum_m w_m K_m + s I, with the log
evidence of all outputs (which share w and s) climbed from equal weights by L-BFGS along its exact
gradient.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.stats import norm

_BOX = (-12.0, 6.0)  # of log weights and log noise


class WeightedSumGP:
    """Fit on kernels of shape (P, n, n) and targets (n,) or (n, L); predict from (P, n, new)."""

    def fit(self, kernels: np.ndarray, targets: np.ndarray) -> WeightedSumGP:
        """Climb the log evidence from equal weights."""
        p, n, _ = kernels.shape
        targets = np.reshape(targets, (n, -1))
        self.centre, self.scale = targets.mean(axis=0), targets.std(axis=0)
        y = (targets - self.centre) / self.scale

        def negative(u: np.ndarray) -> tuple[float, np.ndarray]:
            weights = np.exp(u)
            total = np.tensordot(weights[:p], kernels, axes=1)
            total[np.diag_indices(n)] += weights[p]
            factor = cho_factor(total, lower=True)
            alpha = cho_solve(factor, y)
            inverse = cho_solve(factor, np.eye(n))
            log_determinant = 2.0 * np.log(np.diag(factor[0])).sum()
            value = 0.5 * np.sum(y * alpha) + 0.5 * y.shape[1] * log_determinant
            pull = alpha @ alpha.T - y.shape[1] * inverse
            slope = np.append(np.tensordot(kernels, pull, axes=2), np.trace(pull))
            return float(value), -0.5 * weights * slope

        start = np.append(np.full(p, -np.log(p)), -1.5)
        found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=[_BOX] * (p + 1))
        self.weights, self.noise = np.exp(found.x[:p]), float(np.exp(found.x[p]))
        total = np.tensordot(self.weights, kernels, axes=1)
        total[np.diag_indices(n)] += self.noise
        self._factor = cho_factor(total, lower=True)
        self._alpha = cho_solve(self._factor, y)
        return self

    def predict(self, kernels: np.ndarray, diagonals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means and standard deviations (n, L); ``diagonals`` (P, n) are k(x, x)."""
        cross = np.tensordot(self.weights, kernels, axes=1)
        explained = np.sum(cross * cho_solve(self._factor, cross), axis=0)
        variance = self.weights @ diagonals - explained + self.noise
        mean = self.centre + self.scale * (cross.T @ self._alpha)
        return mean, np.sqrt(np.maximum(variance, 1e-12))[:, None] * self.scale

    def probabilities(self, kernels: np.ndarray, diagonals: np.ndarray) -> np.ndarray:
        """Return class probabilities where targets were -1 and +1.

        A class is as probable as its predictive normal variable is the largest of independent
        ones, or with one column as that is above zero.
        """
        mean, deviation = self.predict(kernels, diagonals)
        if mean.shape[1] == 1:
            upper = norm.cdf(mean[:, 0] / deviation[:, 0])
            return np.column_stack([1.0 - upper, upper])
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        values = mean[:, :, None] + deviation[:, :, None] * nodes  # (n, L, nodes)
        below = norm.logcdf(
            (values[:, :, None] - mean[:, None, :, None]) / deviation[:, None, :, None]
        )
        own = np.arange(mean.shape[1])
        below[:, own, own] = 0.0
        shares = np.exp(below.sum(axis=2)) @ (weights / weights.sum())
        return shares / shares.sum(axis=1, keepdims=True)
