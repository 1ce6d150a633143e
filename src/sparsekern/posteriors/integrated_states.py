r"""Posterior states with the coefficients integrated out.

State t keeps a triangle :math:`T_t` and means; at a new row, :math:`e=T_t(1,k_t(x))`, the latent
functions are :math:`N(m_{tc},v_t)` with :math:`v_t=e^\top e` and :math:`m_{tc}=e^\top c_{tc}`.
Averages over states then carry no noise from drawing coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .kernel_expansion import KernelExpansionPosterior

_BLOCK_NUMBERS = 4_000_000  # numbers held at once


@dataclass(frozen=True)
class KernelStatePosterior(KernelExpansionPosterior):
    """Draws of active sets and scales, each with the law of its functions.

    Attributes
    ----------
    means : ndarray of shape (chains, draws, latents, 1 + k * kernels)
        Means of intercept and coefficients, the kernels taking turns.
    packed : tuple of ndarray
        Rows of each state's triangle one after the other, chain after chain.
    jitter : ndarray of shape (kernels,)
        As in the model.
    """

    means: np.ndarray
    packed: tuple[np.ndarray, ...]
    jitter: np.ndarray

    def thinned(self, thin: int) -> KernelStatePosterior:
        """Return every ``thin``-th draw of each chain."""
        chains, draws = self.counts.shape
        kept = [c * draws + t for c in range(chains) for t in range(0, draws, thin)]
        fewer = super().thinned(thin)
        assert isinstance(fewer, KernelStatePosterior)
        return replace(
            fewer, means=self.means[:, ::thin], packed=tuple(self.packed[t] for t in kept)
        )

    def _widths(self, state: int) -> list[np.ndarray]:
        if self.length_scales is None:
            return [kernel.length_scale for kernel in self.kernels]
        return list(self.length_scales.reshape(self.n_draws, len(self.kernels), -1)[state])

    def _kernel_rows(
        self, state: int, features: np.ndarray, shared: list[np.ndarray] | None
    ) -> np.ndarray:
        """Return (1, k(x)) of a state for all rows, shape (1 + k * kernels, rows)."""
        slots = self.slots.reshape(self.n_draws, -1)[state, : self.counts.ravel()[state]]
        out = np.ones((1 + len(slots) * len(self.kernels), len(features)))
        for number, kernel in enumerate(self.kernels):
            if shared is not None:
                values = shared[number][slots]
            else:
                wide = kernel.with_length_scale(self._widths(state)[number])
                values = wide.matrix(self.vectors[slots], features)
            out[1 + number :: len(self.kernels)] = values
        return out

    def _shared(self, features: np.ndarray) -> list[np.ndarray] | None:
        """Return the kernels between the union of active vectors and the rows (fixed widths)."""
        if self.length_scales is not None:
            return None
        return [
            np.ascontiguousarray(features[:, self.rows].T)
            if kernel.precomputed
            else kernel.matrix(self.vectors, features)
            for kernel in self.kernels
        ]

    def moment_blocks(self, features: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield (rows, means (states, rows, latents), variances (states, rows)), block by block."""
        latents = self.n_latents
        step = max(1, _BLOCK_NUMBERS // max(1, self.n_draws * (latents + 1) + len(self.rows)))
        coefficients = self.means.reshape(self.n_draws, latents, -1)
        for start in range(0, len(features), step):
            block = slice(start, min(start + step, len(features)))
            here = features[block]
            shared = self._shared(here)
            means = np.empty((self.n_draws, len(here), latents))
            variances = np.empty((self.n_draws, len(here)))
            for t in range(self.n_draws):
                columns = self._kernel_rows(t, here, shared)
                size = len(columns)
                triangle = np.zeros((size, size))
                triangle[np.tril_indices(size)] = self.packed[t]
                variances[t] = np.square(triangle @ columns).sum(axis=0)
                means[t] = (coefficients[t, :, :size] @ columns).T
            if not np.isfinite(means).all():
                names = ", ".join(kernel.name for kernel in self.kernels)
                raise ValueError(
                    f"kernel={names} overflows at some rows of X: their values are too "
                    "large; check their units against the training data."
                )
            yield block, means, variances

    def _probit_blocks(self, features: np.ndarray) -> Iterator[np.ndarray]:
        r"""Yield :math:`E[\mathrm{mean}(f)]` of every state: the probit of :math:`m/\sqrt{1+v}`."""
        for _, means, variances in self.moment_blocks(features):
            scaled = means / np.sqrt(1.0 + variances)[..., None]
            yield self.likelihood.mean(scaled[..., 0] if self.n_latents == 1 else scaled)

    def mean_response(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response at each row, averaged over states."""
        return np.concatenate([block.mean(axis=0) for block in self._probit_blocks(features)])

    def response_draws(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response of every state at each row, shape (states, rows[, ..])."""
        return np.concatenate(list(self._probit_blocks(features)), axis=1)

    def latent_moments(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the latent functions, shape (rows, latents)."""
        means, variances = [], []
        for _, m, v in self.moment_blocks(features):
            means.append(m.mean(axis=0))
            variances.append(m.var(axis=0) + v.mean(axis=0)[:, None])
        return np.concatenate(means), np.concatenate(variances)

    def support_residual(self, features: np.ndarray) -> np.ndarray:
        r"""Return the share of the prior variance that the active vectors do not see.

        :math:`1-|L_M^{-1}k(x)|^2/k(x,x)`, averaged over states; with several kernels weighted by
        their prior variances.
        """
        assert self.prior_variances is not None
        weights = self.prior_variances[..., 1:].reshape(self.n_draws, -1)
        sizes = [kernel.diagonal(features) for kernel in self.kernels]
        missing, total = np.zeros(len(features)), np.zeros(len(features))
        shared = self._shared(features)
        among = self._shared_among()
        for t in range(self.n_draws):
            columns = self._kernel_rows(t, features, shared)[1:]
            slots = self.slots.reshape(self.n_draws, -1)[t, : self.counts.ravel()[t]]
            for number, kernel in enumerate(self.kernels):
                values = columns[number :: len(self.kernels)]
                if among is None:
                    wide = kernel.with_length_scale(self._widths(t)[number])
                    matrix = wide.matrix(self.vectors[slots], self.vectors[slots])
                else:
                    matrix = among[number][np.ix_(slots, slots)]
                matrix = matrix + self.jitter[number] * np.eye(len(slots))
                seen = np.zeros(len(features))
                if len(slots):
                    seen = np.einsum("ij,ij->j", values, np.linalg.solve(matrix, values))
                weight = weights[t, number]
                missing += weight * np.clip(sizes[number] - seen, 0.0, None)
                total += weight * sizes[number]
        return missing / np.where(total > 0, total, 1.0)

    def _shared_among(self) -> list[np.ndarray] | None:
        if self.length_scales is not None or any(kernel.precomputed for kernel in self.kernels):
            return None
        return [kernel.matrix(self.vectors, self.vectors) for kernel in self.kernels]
