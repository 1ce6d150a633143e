r"""Posterior draws on kernel principal components, and the predictions they make.

A draw gives a new row the class probabilities :math:`\mathrm{softmax}(p_*\beta)`. They are pooled
by their arithmetic mean, which is the posterior probability, or by their geometric one, normalised:
:math:`\mathrm{softmax}(p_*\bar\beta)`, the classes of the posterior mean of the latent functions.
Where classes are separated widely the arithmetic mean is less sure than it has reason to be: it is
little more than the share of all separating planes that agree, whatever their margin. Either may be
*sharpened*,

.. math:: q_k\propto\bar p_k^{\,t}.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from .datatree import TreeParts
from .names import Names

_BLOCK_NUMBERS = 4_000_000  # latent values held at once
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class ProjectionPosterior:
    """Draws of the latent functions of all classes.

    Attributes
    ----------
    sources : tuple
        What makes columns of rows, one for each kernel: ``training`` holds those of the training
        rows, ``project(features)`` returns those of others first.
    factors : tuple of float
        What the columns of each are multiplied with.
    coefficients : ndarray of shape (chains, draws, latents, columns)
        The intercept last.
    intercept : bool
    reference : bool
        Whether the last class has the latent value zero.
    noise : ndarray of shape (chains, draws, latents) or None
        Noise to be added to the latent functions, the same for every row.
    power : float
        Exponent t of the pooled probabilities.
    geometric : bool
        Whether draws are pooled by their geometric mean; otherwise by the arithmetic one.
    scales : ndarray of shape (chains, draws, kernels) or None
        Scales of the coefficients of each kernel, where the model has them.
    noise_variances : ndarray of shape (chains, draws) or None
        Variance of the noise of the latent functions, where the model has it.
    included : ndarray of shape (chains, draws, latents, columns) or None
        Which coefficients are not zero, where the model chooses.
    used : ndarray of shape (chains, draws, latents, kernels) or None
        Which kernels have a part, where the model chooses.
    """

    sources: tuple[Any, ...]
    factors: tuple[float, ...]
    coefficients: np.ndarray
    intercept: bool
    reference: bool
    noise: np.ndarray | None = None
    power: float = 1.0
    geometric: bool = False
    scales: np.ndarray | None = None
    noise_variances: np.ndarray | None = None
    included: np.ndarray | None = None
    used: np.ndarray | None = None

    @property
    def decisive(self) -> tuple[str, ...]:
        """Scalars that chains are judged by, besides the usual: scales where kernels are chosen."""
        return () if self.used is None else ("scale",)

    @property
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.coefficients.shape[0] * self.coefficients.shape[1]

    def thinned(self, thin: int) -> ProjectionPosterior:
        """Return every ``thin``-th draw of each chain."""
        arrays = ("coefficients", "noise", "scales", "noise_variances", "included", "used")
        given = {name: getattr(self, name) for name in arrays}
        fewer = {name: values[:, ::thin] for name, values in given.items() if values is not None}
        return replace(self, **fewer)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Return the design of new rows, shape (rows, columns)."""
        parts = [
            factor * source.project(features)[0]
            for source, factor in zip(self.sources, self.factors, strict=True)
        ]
        return self._with_intercept(parts)

    def training_columns(self) -> np.ndarray:
        """Return the design of the training rows."""
        parts = [
            factor * source.training
            for source, factor in zip(self.sources, self.factors, strict=True)
        ]
        return self._with_intercept(parts)

    def _with_intercept(self, parts: list[np.ndarray]) -> np.ndarray:
        ones = [np.ones((len(parts[0]), 1))] if self.intercept else []
        return np.hstack([*parts, *ones])

    def blocks(self, columns: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, class probabilities of shape (draws, rows, classes)), block by block."""
        latents = self.coefficients.shape[2]
        step = max(1, _BLOCK_NUMBERS // max(1, self.n_draws * (latents + self.reference)))
        flat = self.coefficients.reshape(self.n_draws * latents, -1)
        for start in range(0, len(columns), step):
            block = slice(start, min(start + step, len(columns)))
            latent = (flat @ columns[block].T).reshape(self.n_draws, latents, -1)
            if self.noise is not None:
                latent += self.noise.reshape(self.n_draws, latents, 1)
            latent = latent.transpose(0, 2, 1)
            if self.reference:
                latent = np.concatenate([latent, np.zeros((*latent.shape[:2], 1))], axis=2)
            yield block, softmax(latent, axis=2)

    def probabilities(self, columns: np.ndarray) -> np.ndarray:
        """Return predicted class probabilities of rows given by their columns."""
        if self.geometric:
            latent = columns @ self.coefficients.mean(axis=(0, 1)).T
            if self.noise is not None:
                latent += self.noise.mean(axis=(0, 1))
            if self.reference:
                latent = np.column_stack([latent, np.zeros(len(latent))])
            return softmax(self.power * latent, axis=1)
        means = [values.mean(axis=0) for _, values in self.blocks(columns)]
        return sharpened(np.concatenate(means), self.power)

    def mean_response(self, features: np.ndarray) -> np.ndarray:
        """Return those of rows by their features; for two classes, of the second."""
        found = self.probabilities(self.columns(features))
        return found[:, 1] if found.shape[1] == 2 else found

    def probability_draws(self, columns: np.ndarray) -> np.ndarray:
        """Return the class probabilities of every draw, shape (draws, rows, classes)."""
        return np.concatenate([values for _, values in self.blocks(columns)], axis=1)

    def response_draws(self, features: np.ndarray | None) -> np.ndarray:
        """Return :meth:`probability_draws` of rows by their features; None: the training rows."""
        return self.probability_draws(
            self.training_columns() if features is None else self.columns(features)
        )

    def pointwise_log_likelihood(
        self, features: np.ndarray | None, labels: np.ndarray
    ) -> np.ndarray:
        """Return log p(y_i | draw), shape (chains, draws, rows); no features: training rows."""
        out = np.empty((self.n_draws, len(labels)))
        columns = self.training_columns() if features is None else self.columns(features)
        for block, values in self.blocks(columns):
            own = np.take_along_axis(values, labels[None, block, None], axis=2)[..., 0]
            out[:, block] = np.log(np.maximum(own, _TINY))
        return out.reshape(*self.coefficients.shape[:2], len(labels))

    def residual(self, features: np.ndarray) -> np.ndarray:
        """Return the share of each row's squared distance from the centre that no column sees."""
        seen, total = np.zeros(len(features)), np.zeros(len(features))
        for source in self.sources:
            components, squared = source.project(features)
            seen += np.einsum("ij,ij->i", components, components)
            if squared is not None:
                total += squared
        return np.clip(1.0 - seen / np.where(total > 0.0, total, 1.0), 0.0, 1.0)

    def included_components(self) -> np.ndarray | None:
        """Return which coefficients but the intercepts are not zero."""
        if self.included is None:
            return None
        return self.included[..., : self.included.shape[-1] - self.intercept]

    def attributes(self, names: Names) -> dict[str, Any]:
        """Return what an estimator shows of the draws, as fitted attributes."""
        found = {}
        inside = self.included_components()
        if inside is not None:
            found["inclusion_probabilities_"] = inside.mean(axis=(0, 1))
        if self.scales is not None:
            found["kernel_scales_"] = np.median(self.scales, axis=(0, 1))
        if self.used is not None:
            found["kernel_inclusion_"] = self.used.mean(axis=(0, 1))
        return found

    def scalars(self, names: Names) -> dict[str, np.ndarray]:
        """Return scalars to judge chains by."""
        scalars = {}
        if self.noise_variances is not None:
            scalars["noise_variance"] = self.noise_variances
        if self.scales is not None:
            several = self.scales.shape[-1] > 1
            for number in range(self.scales.shape[-1]):
                scalars[f"scale[{number}]" if several else "scale"] = self.scales[..., number]
        inside = self.included_components()
        if inside is not None:
            scalars["n_included"] = inside.sum(axis=(2, 3)).astype(np.float64)
        return scalars

    def add_to(self, parts: TreeParts, names: Names) -> None:
        """Add coefficients, and what is chosen among them, to the parts of a tree."""
        if self.scales is not None and self.scales.shape[-1] > 1:
            parts.add("posterior", "scale", self.scales, "kernel")
        coefficients = self.coefficients
        if not self.reference:
            # softmax does not see what all classes share: reported free of it
            coefficients = coefficients - coefficients.mean(axis=2, keepdims=True)
        assert names.classes is not None
        parts.coords["class"] = names.classes[: coefficients.shape[2]]
        if self.intercept:
            parts.add("posterior", "intercept", coefficients[..., -1], "class")
            coefficients = coefficients[..., :-1]
        parts.add("posterior", "coefficient", coefficients, "class", "component")
        inside = self.included_components()
        if inside is not None:
            parts.add("posterior", "included", inside, "class", "component")
        if self.used is not None:
            parts.add("posterior", "used", self.used, "class", "kernel")


def sharpened(probabilities: np.ndarray, power: float) -> np.ndarray:
    """Return probabilities raised to a power and normalised, classes last."""
    if power == 1.0:
        return probabilities / probabilities.sum(axis=-1, keepdims=True)
    logs = power * np.log(np.maximum(probabilities, _TINY))
    return softmax(logs, axis=-1)
