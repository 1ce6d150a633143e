r"""Posterior draws of functions that rest on a few training rows each, and what is read from them.

Draw t holds intercepts and coefficients at its own few active vectors. The union of active vectors
over all draws is kept once; a draw is a row of indices into it. Prediction averages the response
over draws, :math:`\frac1T\sum_t\mathrm{mean}(f_t(x))`, in blocks of bounded memory. How a draw's
function is evaluated is for the kinds of expansion to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..likelihoods._contract import Likelihood, ResponseLaw
from .datatree import TreeParts
from .names import Names

_BLOCK_NUMBERS = 4_000_000  # latent values held at once
Self = TypeVar("Self", bound="ExpansionPosterior")


@dataclass(frozen=True)
class ExpansionPosterior:
    """Draws of latent functions c.

    Attributes
    ----------
    likelihood : Likelihood
    rows : ndarray of shape (v,)
        Sorted training rows that are active in any draw.
    vectors : ndarray of shape (v, p)
        Their features (empty columns for a precomputed kernel).
    counts : ndarray of shape (chains, draws)
        Active vectors of each draw.
    slots : ndarray of shape (chains, draws, k)
        Indices into ``rows``; only the first ``counts`` entries hold.
    coefficients : ndarray of shape (chains, draws, latents, k, kernels)
    intercepts : ndarray of shape (chains, draws, latents)
    noise_variances : ndarray of shape (chains, draws)
        Variance of the noise, one where it is known.
    parameters : ndarray of shape (chains, draws, r)
        The likelihood's own parameters.
    """

    likelihood: Likelihood
    rows: np.ndarray
    vectors: np.ndarray
    counts: np.ndarray
    slots: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    noise_variances: np.ndarray
    parameters: np.ndarray

    decisive: ClassVar[tuple[str, ...]] = ()  # scalars that chains are judged by, besides the usual

    @property
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.counts.size

    @property
    def n_latents(self) -> int:
        """Latent functions of each draw."""
        return self.intercepts.shape[-1]

    def thinned(self: Self, thin: int) -> Self:
        """Return every ``thin``-th draw of each chain."""
        kept = slice(None, None, thin)
        return replace(
            self,
            counts=self.counts[:, kept],
            slots=self.slots[:, kept],
            coefficients=self.coefficients[:, kept],
            intercepts=self.intercepts[:, kept],
            noise_variances=self.noise_variances[:, kept],
            parameters=self.parameters[:, kept],
        )

    def active_probabilities(self, names: Names) -> np.ndarray:
        """Return the share of draws in which each training row is active."""
        held = self._active()
        numbers = names.row_numbers(self.rows)[self.slots[held]]
        if names.row_map is not None:  # a row that is repeated counts once in a draw
            n = len(names.response)
            draw = np.flatnonzero(held) // held.shape[-1]
            numbers = np.unique(draw * n + numbers) % n
        return np.bincount(numbers, minlength=len(names.response)) / self.n_draws

    def _active(self) -> np.ndarray:
        """Return which places of ``slots`` hold an active vector."""
        return np.arange(self.slots.shape[-1]) < self.counts[..., None]

    def attributes(self, names: Names) -> dict[str, Any]:
        """Return what an estimator shows of the draws, as fitted attributes."""
        probabilities = self.active_probabilities(names)
        return {
            "active_probabilities_": probabilities,
            "active_vectors_": np.flatnonzero(probabilities),
        }

    @staticmethod
    def combined_attributes(members: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the attributes of one-vs-rest models together, those of the rows aside."""
        return {}

    def active_counts(self) -> np.ndarray:
        """Return the number of active vectors of each draw."""
        return self.counts

    def scalars(self, names: Names) -> dict[str, np.ndarray]:
        """Return scalars to judge chains by, in the units of the response."""
        scalars = {"n_active": self.active_counts().astype(np.float64)}
        if self.n_latents == 1:
            scalars["intercept"] = names.centre + names.spread * self.intercepts[..., 0]
        if "learned noise" in self.likelihood.provides:
            scalars["noise_variance"] = self.noise_variances * names.spread**2
        for number, name in enumerate(getattr(self.likelihood, "parameter_names", ())):
            scalars[name] = self.parameters[..., number]
        return scalars

    def add_to(self, parts: TreeParts, names: Names) -> None:
        """Add what is no scalar to the parts of a tree: coefficients, padded to one size.

        A place that a draw does not use has the training row -1 and the coefficient 0.
        """
        if self.n_latents > 1:
            parts.add("posterior", "intercept", self.intercepts, "contrast")
        held = np.arange(self.slots.shape[-1]) < self.counts[..., None]
        rows = np.where(held, np.append(names.row_numbers(self.rows), -1)[self.slots], -1)
        parts.add("sparse_coefficients", "training_row", rows, "slot")
        coefficients = np.where(held[:, :, None, :, None], self.coefficients, 0.0)
        sizes = dict(zip(("contrast", "slot", "kernel"), coefficients.shape[2:], strict=True))
        kept = [axis for axis in sizes if axis == "slot" or sizes[axis] > 1]
        coefficients = coefficients.reshape(*held.shape[:2], *(sizes[axis] for axis in kept))
        parts.add("sparse_coefficients", "coefficient", coefficients, *kept)

    def latent_blocks(self, features: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows of ``features``, latent draws of shape (draws, rows)), block after block.

        With several latent functions the latent draws have a third axis.
        """
        step = max(1, _BLOCK_NUMBERS // max(1, self.n_draws * self.n_latents))
        for start in range(0, len(features), step):
            block = slice(start, min(start + step, len(features)))
            with np.errstate(over="ignore", invalid="ignore"):  # judged once, below
                latent = np.stack(self._latent(features[block]), axis=-1)
                latent += self.intercepts.reshape(-1, 1, self.n_latents)
            if not np.isfinite(latent).all():
                raise ValueError(
                    f"kernel={self._kernel_names()} overflows at some rows of X: their values are "
                    "too large; check their units against the training data."
                )
            yield block, latent[..., 0] if self.n_latents == 1 else latent

    def _latent(self, features: np.ndarray) -> list[np.ndarray]:
        """Return the latent functions without intercept, each (draws, rows)."""
        raise NotImplementedError

    def _kernel_names(self) -> str:
        """Return what to call the kernel in a sentence."""
        raise NotImplementedError

    def mean_response(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response at each row, averaged over draws."""
        blocks = [self.likelihood.mean(f).mean(axis=0) for _, f in self.latent_blocks(features)]
        return np.concatenate(blocks)

    def response_draws(self, features: np.ndarray) -> np.ndarray:
        """Return the expected response of every draw at each row, shape (draws, rows[, ..])."""
        blocks = [self.likelihood.mean(latent) for _, latent in self.latent_blocks(features)]
        return np.concatenate(blocks, axis=1)

    @property
    def training_offset(self) -> np.ndarray | float:
        """What the likelihood adds to the function at the training rows."""
        known = "stand-in" in self.likelihood.provides
        offset = self.likelihood.offset if known else None  # type: ignore[attr-defined]
        return 0.0 if offset is None else offset

    def sample_responses(
        self, features: np.ndarray, rng: np.random.Generator, offset: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return a new response of every draw at each row, shape (draws, rows).

        ``offset`` is added to the function.
        """
        assert isinstance(self.likelihood, ResponseLaw)
        variance = self.noise_variances.reshape(-1, 1)
        parameters = self.parameters.reshape(self.n_draws, 1, -1)
        blocks = [
            self.likelihood.sample(rng, _shifted(latent, offset, block), variance, parameters)
            for block, latent in self.latent_blocks(features)
        ]
        return np.concatenate(blocks, axis=1)

    def pointwise_log_likelihood(self, features: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Return log p(y_i | draw) of training rows, shape (chains, draws, rows)."""
        out = np.empty((self.n_draws, len(features)))
        offset = self.training_offset
        variance = self.noise_variances.reshape(-1, 1)
        parameters = self.parameters.reshape(self.n_draws, 1, -1)
        for block, latent in self.latent_blocks(features):
            out[:, block] = self.likelihood.log_likelihood(
                response[block], _shifted(latent, offset, block), variance, parameters
            )
        return out.reshape(*self.counts.shape, len(features))


def _shifted(latent: np.ndarray, offset: np.ndarray | float, block: slice) -> np.ndarray:
    """Return functions with what is added to them at the rows of a block, if anything."""
    return latent + (offset[block] if isinstance(offset, np.ndarray) else offset)
