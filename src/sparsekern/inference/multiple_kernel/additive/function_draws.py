r"""Draws of the functions of a fitted additive model.

A function is its mean, plus what the training rows leave open of the part of it that they span,
:math:`a(x)^\top\zeta`, plus what they do not see. With :math:`K=V\Lambda V^\top` the prior
covariance of the training rows, :math:`a(x)=\{v/(\Lambda(\Lambda+v))\}^{1/2}V^\top k_*`, so that
:math:`|a|^2=k_*^\top(K^{-1}-(K+vI)^{-1})k_*`. From columns, :math:`a=\sqrt vC^{-1}Tz_*`. The rest
of the variance, which is small near training rows, has one quantile at all rows of a draw.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .forms import ColumnForm, KernelForm, RowForm
from .posterior import AdditivePosterior, Block

_SMALL = 1e-10  # of the largest eigenvalue: directions that training rows do not span


class AdditiveDraws:
    """Draws of the functions of all outputs, the same at every call.

    Parameters
    ----------
    posterior : AdditivePosterior
    """

    def __init__(self, posterior: AdditivePosterior) -> None:
        self.posterior = posterior
        self._turns: list[np.ndarray] | None = None

    def at(
        self, cross: Block, diagonal: Block, n: int, draws: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of the functions at n rows and the variances of the noise.

        Parameters
        ----------
        cross, diagonal : callable
            As for :meth:`AdditivePosterior.moments`.
        n : int
        draws : ndarray of int, shape (T,)
            Which draws.

        Returns
        -------
        functions : ndarray of shape (T, n, L)
        noise : ndarray of shape (T, L)
        """
        posterior = self.posterior
        mean, variance = posterior.moments(cross, diagonal, n)
        assert variance is not None
        out = np.empty((len(draws), *mean.shape))
        for output, spanned in enumerate(self.spanned(cross, n)):
            rest = np.maximum(variance[:, output] - np.sum(spanned**2, axis=1), 0.0)
            normal = np.stack(
                [
                    np.random.default_rng([int(draw), output]).standard_normal(spanned.shape[1] + 1)
                    for draw in draws
                ]
            )
            directions = np.column_stack([np.sqrt(rest), spanned])
            out[:, :, output] = mean[:, output] + normal @ directions.T
        return out, np.tile(posterior.noise_variance, (len(draws), 1))

    def spanned(self, cross: Block, n: int) -> list[np.ndarray]:
        """Return a(x) of every row, for each output."""
        posterior = self.posterior
        form, scales = posterior.model.form, posterior.scales
        n_outputs = posterior.solutions.shape[1]
        size = posterior.model.component_scales(scales)
        if isinstance(form, ColumnForm):
            columns = posterior.features(cross, n)
            scaled = np.column_stack([columns, np.ones(n)]) * form.reach(size)
            return [
                np.sqrt(scales.noise[output]) * posterior.spread.half(scaled, output).T
                for output in range(n_outputs)
            ]
        rows = posterior.covariance_with_rows(cross, n)
        return [rows @ turn for turn in self._row_turns(form)]

    def _row_turns(self, form: KernelForm | RowForm) -> list[np.ndarray]:
        """Return, for each output, V times the root of v / (lambda (lambda + v))."""
        if self._turns is None:
            spread, noise = self.posterior.spread, self.posterior.scales.noise
            if spread.shifted is None:  # one factor of K + vI for all outputs
                matrix = spread.factor @ spread.factor.T
                matrix[np.diag_indices_from(matrix)] -= noise[0]
                values, vectors = eigh(matrix, check_finite=False)
            else:
                values, vectors = spread.shifted[:, 0] - noise[0], spread.factor
            kept = values > _SMALL * values.max(initial=0.0)
            values, vectors = values[kept], vectors[:, kept]
            self._turns = [vectors * np.sqrt(v / (values * (values + v))) for v in noise]
        return self._turns
