r"""The additive model and its evidence bound.

.. math:: y_o=b_o+\sum_mf_{mo}+\varepsilon,\quad f_{mo}\sim GP(0,K_m/\lambda_m),\quad
          b_o\sim N(0,s),\quad\varepsilon\sim N(0,\epsilon_o^{-1}),

with gamma priors (shape, scale) of :math:`\lambda_m` and :math:`\epsilon_o`. In terms of weights:
:math:`f_m=Z_mu_m`, :math:`Z_mZ_m^\top=K_m`, :math:`u_m\sim N(0,I/\lambda_m)`, a vector of its own
for each kernel, and group sparsity through :math:`\lambda_m`. With sample sparsity
:math:`f_m=K_m^\top a_m`, :math:`a_{md}\sim N(0,1/(\lambda_m\tau_d))`: row d has the precision
:math:`\tau_d` in every kernel.

:math:`q=q(u,b)\prod q(\lambda_m)\prod q(\tau_d)\prod q(\epsilon_o)`. The optimal q of the weights
is the Gaussian posterior at the mean precisions, so that the bound with it put in is

.. math:: \mathcal L=\sum_o\log N(y_o;0,C_o)+\sum_\tau\{c_\tau(\langle\log\tau\rangle
          -\log\langle\tau\rangle)-KL(q(\tau)\|p(\tau))\},

:math:`C_o=\langle\epsilon_o\rangle^{-1}I+s11^\top+\sum_mK_m/\langle\lambda_m\rangle`, the sum over
all precisions, :math:`c_\tau` half the number of normal variables a precision belongs to. The
optimal gamma shapes, :math:`\alpha+c_\tau`, are known; what is left is a function of the mean
precisions, with :math:`\partial/\partial\log\bar\tau=\alpha-\bar\tau/\beta` beside the Gaussian
part: the log evidence of a Gaussian process on a weighted sum of kernels, penalised. It is
maximised directly; coordinate updates, one factor at a time, climb the same hill slowly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..gamma_factor import GammaFactor, Prior
from .forms import Evaluation, Form


@dataclass(frozen=True)
class AdditivePriors:
    """Shape and scale of the gamma priors; kernels may have scales of their own."""

    kernel: Prior = (1e-10, 1e10)  # lambda
    sample: Prior = (1e-10, 1e10)  # tau
    noise: Prior = (0.2, 5.0)  # epsilon

    def restricted(self, kernels: np.ndarray) -> AdditivePriors:
        """Return the priors of some kernels, by mask or place."""
        shape, scale = self.kernel
        if np.ndim(scale) == 0:
            return self
        return replace(self, kernel=(shape, np.asarray(scale)[kernels]))


@dataclass(frozen=True)
class Scales:
    """Reciprocals of the mean precisions."""

    kernel: np.ndarray  # (P,)
    sample: np.ndarray | None  # (D,), None without sample sparsity
    noise: np.ndarray  # (L,)

    def pack(self, learn_noise: bool) -> np.ndarray:
        """Return logarithms of all that is learned."""
        parts = [self.kernel]
        if self.sample is not None:
            parts.append(self.sample)
        if learn_noise:
            parts.append(self.noise)
        return np.log(np.concatenate(parts))

    def restricted(self, kernels: np.ndarray, rows: np.ndarray | None) -> Scales:
        """Return the scales without those that the masks leave out."""
        sample = None if self.sample is None or rows is None else self.sample[rows]
        return Scales(self.kernel[kernels], sample, self.noise)

    def unpacked(self, logs: np.ndarray) -> Scales:
        """Return scales from logarithms."""
        values, p = np.exp(logs), len(self.kernel)
        end = p if self.sample is None else p + len(self.sample)
        return Scales(
            values[:p],
            None if self.sample is None else values[p:end],
            values[end:] if len(values) > end else self.noise,
        )


@dataclass(frozen=True)
class Model:
    """A form of the Gaussian part, and whose precision each of its components has.

    Attributes
    ----------
    form : Form
    kernel_of : ndarray of shape (J,)
    row_of : ndarray of shape (J,) or None
    ranks : ndarray of shape (P,)
        Weights of each kernel.
    priors : AdditivePriors
    learn_noise : bool
        False for latent outputs, whose noise is 1.
    """

    form: Form
    kernel_of: np.ndarray
    row_of: np.ndarray | None
    ranks: np.ndarray
    priors: AdditivePriors
    learn_noise: bool = True

    def component_scales(self, scales: Scales) -> np.ndarray:
        """Return the scale of every component."""
        found = scales.kernel[self.kernel_of]
        if self.row_of is not None and scales.sample is not None:
            found = found * scales.sample[self.row_of]
        return found

    def factors(self, scales: Scales, n_outputs: int) -> list[tuple[GammaFactor, np.ndarray]]:
        """Return the gamma factors and half the counts of the variables they belong to."""
        found = [_factor(scales.kernel, 0.5 * n_outputs * self.ranks, self.priors.kernel)]
        if scales.sample is not None and self.row_of is not None:
            count = np.bincount(self.row_of, minlength=len(scales.sample))
            found.append(_factor(scales.sample, 0.5 * n_outputs * count, self.priors.sample))
        if self.learn_noise:
            half = np.full(len(scales.noise), 0.5 * self.form.n_samples)
            found.append(_factor(scales.noise, half, self.priors.noise))
        return found

    def evaluate(self, scales: Scales, targets: np.ndarray) -> tuple[float, np.ndarray, Evaluation]:
        """Return the bound, its gradient by the logarithms of the scales, and the Gaussian part."""
        components = self.component_scales(scales)
        inner = self.form.evaluate(components, scales.noise, targets)
        bound = inner.value
        slopes = []
        by_log = components * inner.slope
        priors = [self.priors.kernel, self.priors.noise]
        if self.row_of is not None:
            priors.insert(1, self.priors.sample)
        for number, (factor, half) in enumerate(self.factors(scales, targets.shape[1])):
            bound += float(np.sum(half * (factor.mean_log - np.log(factor.mean))))
            bound -= factor.divergence()
            alpha, beta = priors[number]
            slope = factor.mean / beta - alpha
            if number == 0:
                slope = slope + np.bincount(self.kernel_of, by_log, len(slope))
            elif number == 1 and self.row_of is not None:
                slope = slope + np.bincount(self.row_of, by_log, len(slope))
            else:
                slope = slope + scales.noise * inner.noise_slope
            slopes.append(slope)
        return bound, np.concatenate(slopes), inner

    def restricted(self, kernels: np.ndarray, rows: np.ndarray | None) -> Model:
        """Return the model without the kernels and rows that the masks leave out."""
        kept = kernels[self.kernel_of]
        row_of = None
        if self.row_of is not None and rows is not None:
            kept = kept & rows[self.row_of]
            row_of = (np.cumsum(rows) - 1)[self.row_of[kept]]
        kernel_of = (np.cumsum(kernels) - 1)[self.kernel_of[kept]]
        ranks = self.ranks[kernels]
        if row_of is not None:
            ranks = np.bincount(kernel_of, minlength=len(ranks))
        form = self.form.restricted(kept)
        return Model(
            form, kernel_of, row_of, ranks, self.priors.restricted(kernels), self.learn_noise
        )


def _factor(
    scale: np.ndarray, half_count: np.ndarray, prior: Prior
) -> tuple[GammaFactor, np.ndarray]:
    """Return the factor with the optimal shape and this reciprocal mean."""
    shape = prior[0] + half_count
    return GammaFactor(shape, 1.0 / (scale * shape), prior), half_count
