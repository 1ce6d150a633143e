r"""The Gaussian part of the model in its three forms.

Outputs :math:`t_o\sim N(0,C_o)`, :math:`C_o=v_oI+s11^\top+\sum_j\theta_jA_j`, where the components
:math:`A_j` are whole kernels (:class:`KernelForm`) or single columns :math:`z_jz_j^\top`, seen from
the rows (:class:`RowForm`) or, where they are fewer than rows, from the columns with their Gram
matrix :math:`G=Z^\top Z` formed once (:class:`ColumnForm`). With :math:`\alpha_o=C_o^{-1}t_o`

.. math:: \frac{\partial}{\partial\theta_j}\sum_o\log N(t_o;0,C_o)
          =\tfrac12\sum_o(\alpha_o^\top A_j\alpha_o-\mathrm{tr}\,C_o^{-1}A_j).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular

from .resolvent import Resolvent, resolve, shared_root

_LOG_TWO_PI = math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Evaluation:
    """The log density of the targets and its derivatives.

    Attributes
    ----------
    value : float
    slope : ndarray of shape (J,)
        By the components' scales.
    noise_slope : ndarray of shape (L,)
        By the noise variances.
    fitted : ndarray of shape (N, L)
        Posterior means of the functions at the training samples.
    """

    value: float
    slope: np.ndarray
    noise_slope: np.ndarray
    fitted: np.ndarray


Smoother = Callable[[np.ndarray], np.ndarray]


def _evaluation(
    resolvent: Resolvent, noise: np.ndarray, targets: np.ndarray, slope: np.ndarray
) -> Evaluation:
    alpha = resolvent.solutions
    n, n_outputs = targets.shape
    value = -0.5 * float(np.sum(targets * alpha) + resolvent.log_determinants.sum())
    value -= 0.5 * n * n_outputs * _LOG_TWO_PI
    noise_slope = 0.5 * (np.sum(alpha * alpha, axis=0) - resolvent.traces)
    return Evaluation(value, slope, noise_slope, targets - alpha * noise)


@dataclass(frozen=True)
class KernelForm:
    """Whole kernels, shape (P, N, N)."""

    kernels: np.ndarray
    bias_variance: float

    @property
    def n_samples(self) -> int:
        """Training samples."""
        return self.kernels.shape[1]

    def covariance(self, scales: np.ndarray) -> np.ndarray:
        """Return the covariance of a function at the training samples."""
        p, n, _ = self.kernels.shape
        return (scales @ self.kernels.reshape(p, n * n)).reshape(n, n) + self.bias_variance

    def solve(self, scales: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return C_o^-1 t_o of all outputs."""
        return resolve(self.covariance(scales), noise, targets).solutions

    def smoother(self, scales: np.ndarray) -> Smoother:
        """Return the map from targets to posterior means, for unit noise."""
        return _smoother_of_rows(self.covariance(scales))

    def restricted(self, kept: np.ndarray) -> KernelForm:
        """Return the form of some components."""
        return KernelForm(self.kernels[kept], self.bias_variance)

    def evaluate(self, scales: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> Evaluation:
        """Return value and derivatives."""
        found = resolve(self.covariance(scales), noise, targets)
        gap = found.solutions @ found.solutions.T - found.inverse_sum
        slope = 0.5 * (self.kernels.reshape(len(scales), gap.size) @ gap.ravel())
        return _evaluation(found, noise, targets, slope)


@dataclass(frozen=True)
class RowForm:
    """Columns, shape (N, J), more of them than rows."""

    columns: np.ndarray
    bias_variance: float

    @property
    def n_samples(self) -> int:
        """Training samples."""
        return len(self.columns)

    def covariance(self, scales: np.ndarray) -> np.ndarray:
        """Return the covariance of a function at the training samples."""
        scaled = self.columns * np.sqrt(scales)
        return scaled @ scaled.T + self.bias_variance

    def solve(self, scales: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return C_o^-1 t_o of all outputs."""
        return resolve(self.covariance(scales), noise, targets).solutions

    def smoother(self, scales: np.ndarray) -> Smoother:
        """Return the map from targets to posterior means, for unit noise."""
        return _smoother_of_rows(self.covariance(scales))

    def restricted(self, kept: np.ndarray) -> RowForm | ColumnForm:
        """Return the form of some components, by columns where they are now the fewer."""
        return column_form(self.columns[:, kept], self.bias_variance)

    def evaluate(self, scales: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> Evaluation:
        """Return value and derivatives."""
        found = resolve(self.covariance(scales), noise, targets)
        slope = np.sum((found.solutions.T @ self.columns) ** 2, axis=0)
        slope -= np.einsum("nj,nj->j", self.columns, found.inverse_sum @ self.columns)
        return _evaluation(found, noise, targets, 0.5 * slope)


@dataclass(frozen=True)
class ColumnForm:
    """Columns, shape (N, J), fewer of them than rows; the last of ``gram`` is that of the bias."""

    columns: np.ndarray
    gram: np.ndarray
    bias_variance: float

    @classmethod
    def of(cls, columns: np.ndarray, bias_variance: float) -> ColumnForm:
        """Return the form with its Gram matrix."""
        n, width = columns.shape
        gram = np.empty((width + 1, width + 1))
        gram[:-1, :-1] = columns.T @ columns
        gram[-1, :-1] = gram[:-1, -1] = columns.sum(axis=0)
        gram[-1, -1] = n
        return cls(columns, gram, bias_variance)

    @property
    def n_samples(self) -> int:
        """Training samples."""
        return len(self.columns)

    def restricted(self, kept: np.ndarray) -> ColumnForm:
        """Return the form of some components."""
        chosen = np.append(kept, True)
        gram = self.gram[np.ix_(chosen, chosen)]
        return ColumnForm(self.columns[:, kept], gram, self.bias_variance)

    def reach(self, scales: np.ndarray) -> np.ndarray:
        """Return prior standard deviations of the weights, the bias last."""
        return np.sqrt(np.append(scales, self.bias_variance))

    def products(self, targets: np.ndarray) -> np.ndarray:
        """Return the columns' products with the targets, the bias last."""
        return np.vstack([self.columns.T @ targets, targets.sum(axis=0)])

    def evaluate(self, scales: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> Evaluation:
        r"""Return value and derivatives.

        With :math:`T=\mathrm{diag}\sqrt\theta` and :math:`B=vI+TGT` the weights are
        :math:`\mu=TB^{-1}TZ^\top t`, and :math:`vz_j^\top C^{-1}z_j=(G-GTB^{-1}TG)_{jj}`.
        """
        n = self.n_samples
        reach = self.reach(scales)
        products = self.products(targets)
        weights, log_inner, spread = self._solve(reach, noise, products)
        fitted = self.columns @ weights[:-1] + weights[-1]
        residual = products - self.gram @ weights  # v Z'alpha
        square = np.sum(targets * (targets - fitted), axis=0) / noise
        log_determinant = (n - len(reach)) * np.log(noise) + log_inner
        value = -0.5 * float(np.sum(square + log_determinant + n * _LOG_TWO_PI))
        quadratic = (np.diag(self.gram)[:, None] - spread) / noise  # z'C^-1 z
        slope = 0.5 * np.sum((residual / noise) ** 2 - quadratic, axis=1)
        gap = np.sum((targets - fitted) ** 2, axis=0) / noise**2
        trace = (n - reach**2 @ quadratic) / noise
        return Evaluation(value, slope[:-1], 0.5 * (gap - trace), fitted)

    def weights(self, scales: np.ndarray, noise: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return posterior means of the weights, the bias last."""
        return self._solve(self.reach(scales), noise, self.products(targets))[0]

    def _solve(
        self, reach: np.ndarray, noise: np.ndarray, products: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return weights, log |B| and the diagonal of G T B^-1 T G, for every output."""
        inner = reach[:, None] * self.gram * reach
        root = shared_root(inner, noise)
        if root is not None:
            weights = reach[:, None] * cho_solve((root, True), reach[:, None] * products)
            half = solve_triangular(root, reach[:, None] * self.gram, lower=True)
            spread = np.repeat(np.einsum("kj,kj->j", half, half)[:, None], len(noise), axis=1)
            return weights, np.full(len(noise), 2.0 * np.log(np.diag(root)).sum()), spread
        values, vectors = eigh(inner, check_finite=False)
        shifted = np.maximum(values, 0.0)[:, None] + noise  # (J, L)
        turned = reach[:, None] * vectors
        weights = turned @ ((turned.T @ products) / shifted)
        return weights, np.log(shifted).sum(axis=0), (self.gram @ turned) ** 2 @ (1.0 / shifted)

    def smoother(self, scales: np.ndarray) -> Smoother:
        """Return the map from targets to posterior means, for unit noise."""
        reach = self.reach(scales)
        inner = reach[:, None] * self.gram * reach
        inner[np.diag_indices_from(inner)] += 1.0
        root = cholesky(inner, lower=True, overwrite_a=True)

        def smooth(targets: np.ndarray) -> np.ndarray:
            products = reach[:, None] * self.products(targets)
            weights = reach[:, None] * cho_solve((root, True), products)
            return self.columns @ weights[:-1] + weights[-1]

        return smooth


def _smoother_of_rows(covariance: np.ndarray) -> Smoother:
    covariance[np.diag_indices_from(covariance)] += 1.0
    root = cholesky(covariance, lower=True, overwrite_a=True)
    return lambda targets: targets - cho_solve((root, True), targets)


Form = KernelForm | RowForm | ColumnForm


def column_form(columns: np.ndarray, bias_variance: float) -> RowForm | ColumnForm:
    """Return the cheaper form of columns."""
    n, width = columns.shape
    if width < n:
        return ColumnForm.of(columns, bias_variance)
    return RowForm(columns, bias_variance)
