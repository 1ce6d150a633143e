r"""The fitted additive model: functions, variances, what each kernel contributes.

From rows: :math:`k_*=s+\sum_m\theta_mk_{m*}`, mean :math:`k_*^\top\alpha_o`, variance
:math:`s+\sum_m\theta_mk_{m**}-k_*^\top C_o^{-1}k_*`. From columns: with :math:`z_*` the features,
mean :math:`z_*^\top\mu_o` and variance :math:`v_oz_*^\top TB_o^{-1}Tz_*` plus what the
features leave out of :math:`k_{m**}`. The noise adds :math:`\langle1/\epsilon_o\rangle`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, solve_triangular

from .bound import Model, Scales
from .forms import ColumnForm, KernelForm, RowForm
from .resolvent import shared_root
from .whitening import Whitening

Block = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Spread:
    """Quadratic forms of the inverses of v_o I + A."""

    factor: np.ndarray  # Cholesky factor, or eigenvectors
    shifted: np.ndarray | None  # eigenvalues plus noise, (N, L)
    n_outputs: int

    @classmethod
    def of(cls, matrix: np.ndarray, noise: np.ndarray) -> Spread:
        """Factor."""
        root = shared_root(matrix, noise)
        if root is not None:
            return cls(root, None, len(noise))
        values, vectors = eigh(matrix, check_finite=False)
        return cls(vectors, np.maximum(values, 0.0)[:, None] + noise, len(noise))

    def half(self, rows: np.ndarray, output: int) -> np.ndarray:
        """Return H with H'H the quadratic form of the rows, shape (N, n)."""
        if self.shifted is None:
            return solve_triangular(self.factor, rows.T, lower=True)
        return (self.factor.T @ rows.T) / np.sqrt(self.shifted[:, [output]])

    def quadratic(self, rows: np.ndarray) -> np.ndarray:
        """Return r' (v_o I + A)^-1 r for every row and output, shape (n, L)."""
        if self.shifted is None:
            half = solve_triangular(self.factor, rows.T, lower=True)
            return np.repeat(np.einsum("kn,kn->n", half, half)[:, None], self.n_outputs, axis=1)
        return (rows @ self.factor) ** 2 @ (1.0 / self.shifted)


@dataclass(frozen=True)
class AdditivePosterior:
    """A fitted model of some kernels, named by their places among all.

    Attributes
    ----------
    model : Model
    scales : Scales
    kernels, rows : ndarray
        Places of the kernels that are left, and, with sample sparsity, of the rows.
    whitenings : list of Whitening or None
        Features of each kernel that is left; None where whole kernels or their rows serve.
    noise_variance : ndarray of shape (L,)
        Expected noise variance.
    """

    model: Model
    scales: Scales
    kernels: np.ndarray
    rows: np.ndarray | None
    whitenings: list[Whitening] | None
    noise_variance: np.ndarray
    solutions: np.ndarray  # (N, L) from rows, (J + 1, L) from columns
    spread: Spread

    def features(self, cross: Block, n: int) -> np.ndarray:
        """Return the columns of new rows; ``cross(m)`` is their kernel with the vectors."""
        parts = []
        for place, kernel in enumerate(self.kernels):
            block = cross(int(kernel))
            if self.whitenings is not None:
                parts.append(self.whitenings[place].features(block))
            else:
                assert self.rows is not None
                parts.append(block[:, self.rows])
        return np.hstack(parts) if parts else np.empty((n, 0))

    def covariance_with_rows(self, cross: Block, n: int) -> np.ndarray:
        """Return the prior covariance of a function between n new rows and the training rows."""
        form = self.model.form
        if isinstance(form, RowForm):
            size = self.model.component_scales(self.scales)
            return (self.features(cross, n) * size) @ form.columns.T + form.bias_variance
        rows = np.full((n, form.n_samples), form.bias_variance)
        for scale, kernel in zip(self.scales.kernel, self.kernels, strict=True):
            rows += scale * cross(int(kernel))
        return rows

    def moments(
        self, cross: Block, diagonal: Block, n: int, deviations: bool = True
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return means and variances of the functions of n rows, shape (n, L), without noise.

        ``diagonal(m)`` is each row's kernel with itself.
        """
        form, scales = self.model.form, self.scales
        if isinstance(form, KernelForm):
            prior = np.full(n, form.bias_variance)
            if deviations:
                for scale, kernel in zip(scales.kernel, self.kernels, strict=True):
                    prior += scale * diagonal(int(kernel))
            return self._from_rows(self.covariance_with_rows(cross, n), prior, deviations)
        columns = self.features(cross, n)
        size = self.model.component_scales(scales)
        left = np.zeros(n)
        if deviations and self.whitenings is not None:
            square = columns**2
            for place, kernel in enumerate(self.kernels):
                own = square[:, self.model.kernel_of == place].sum(axis=1)
                left += scales.kernel[place] * np.maximum(diagonal(int(kernel)) - own, 0.0)
        if isinstance(form, RowForm):
            rows = (columns * size) @ form.columns.T + form.bias_variance
            prior = columns**2 @ size + form.bias_variance + left
            return self._from_rows(rows, prior, deviations)
        mean = columns @ self.solutions[:-1] + self.solutions[-1]
        if not deviations:
            return mean, None
        scaled = np.column_stack([columns, np.ones(n)]) * form.reach(size)
        return mean, scales.noise * self.spread.quadratic(scaled) + left[:, None]

    def _from_rows(
        self, rows: np.ndarray, prior: np.ndarray, deviations: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        mean = rows @ self.solutions
        if not deviations:
            return mean, None
        # where a kernel is not quite positive definite a variance may come out below zero
        return mean, np.maximum(prior[:, None] - self.spread.quadratic(rows), 0.0)

    def for_prediction(self) -> AdditivePosterior:
        """Return the posterior without what only the fit needed."""
        form = self.model.form
        if isinstance(form, RowForm):
            return self
        small: KernelForm | ColumnForm
        if isinstance(form, KernelForm):
            small = KernelForm(np.empty((0, form.n_samples, 0)), form.bias_variance)
        else:
            small = ColumnForm(np.empty((form.n_samples, 0)), np.empty((0, 0)), form.bias_variance)
        return replace(self, model=replace(self.model, form=small))

    def contributions(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return mean and deviation of each kernel's variance over the training rows.

        The variance :math:`f_m^\top Hf_m/N` (H centres) is a quadratic form of normal variables:
        mean :math:`\mu^\top H\mu+\mathrm{tr}HS`, variance
        :math:`2\mathrm{tr}(HS)^2+4\mu^\top HSH\mu`, averaged over outputs.
        """
        mean, variance = np.zeros(len(self.kernels)), np.zeros(len(self.kernels))
        n_outputs = self.solutions.shape[1]
        for place in range(len(self.kernels)):
            for output in range(n_outputs):
                centre, cover, gram = self._part(place, output)
                inner = gram @ cover
                pulled = gram @ centre
                mean[place] += centre @ pulled + np.trace(inner)
                variance[place] += 2.0 * np.sum(inner * inner.T) + 4.0 * pulled @ cover @ pulled
        n = self.model.form.n_samples * n_outputs
        return mean / n, np.sqrt(np.maximum(variance, 0.0)) / n

    def _part(self, place: int, output: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean and covariance of a kernel's weights (or values), and the centred Gram."""
        form = self.model.form
        mine = self.model.kernel_of == place
        size = self.model.component_scales(self.scales)
        if isinstance(form, ColumnForm):
            reach = form.reach(size)[:-1][mine]
            unit = np.zeros((int(mine.sum()), len(self.solutions)))
            unit[np.arange(len(unit)), np.flatnonzero(mine)] = reach
            half = self.spread.half(unit, output)
            cover = self.scales.noise[output] * (half.T @ half)
            sums = form.gram[-1, :-1][mine]
            gram = form.gram[:-1, :-1][np.ix_(mine, mine)] - np.outer(sums, sums) / form.n_samples
            return self.solutions[:-1][mine, output], cover, gram
        if isinstance(form, KernelForm):
            prior = size[place] * form.kernels[place]
        else:
            scaled = form.columns[:, mine] * np.sqrt(size[mine])
            prior = scaled @ scaled.T
        half = self.spread.half(prior, output)
        n = len(prior)
        return prior @ self.solutions[:, output], prior - half.T @ half, np.eye(n) - 1.0 / n


def make_posterior(
    model: Model,
    scales: Scales,
    targets: np.ndarray,
    kernels: np.ndarray,
    rows: np.ndarray | None,
    whitenings: list[Whitening] | None,
) -> AdditivePosterior:
    """Factor what predictions need."""
    form, size = model.form, model.component_scales(scales)
    if isinstance(form, ColumnForm):
        reach = form.reach(size)
        spread = Spread.of(reach[:, None] * form.gram * reach, scales.noise)
        solutions = form.weights(size, scales.noise, targets)
    else:
        covariance = form.covariance(size)
        spread = Spread.of(covariance, scales.noise)
        solutions = form.solve(size, scales.noise, targets)
    if model.learn_noise:
        noise_variance = model.factors(scales, targets.shape[1])[-1][0].mean_inverse
    else:
        noise_variance = scales.noise
    return AdditivePosterior(
        model, scales, kernels, rows, whitenings, noise_variance, solutions, spread
    )
