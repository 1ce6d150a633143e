r"""The complete support vector machine of Mallick, Ghosh and Ghosh (2005), in plain NumPy.

.. math:: P(y\mid z)\propto e^{-(1-yz)_+},\qquad z=u+h+\varepsilon,\quad\varepsilon\sim N(0,I),
          \quad h\sim N(0,K/g),\quad u\sim N(0,1/\eta)

The hinge is normalised over the two labels, so that it is a law of y. Every row is active. A sweep:
u and h given z (in the eigenbasis of K), both precisions, and Metropolis steps for z, proposed from
its law given u + h. Nothing of sparsekern is imported.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit

_SCALE_PRIOR, _INTERCEPT_PRIOR = (2.0, 0.05), (0.5, 0.05)
_JITTER = 1e-8
_STEPS = 5  # Metropolis steps of the latent variables in a sweep
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)


def label_probability(latent: np.ndarray) -> np.ndarray:
    """Return P(y = 1 | z): the hinge of both labels, normalised."""
    return expit(np.maximum(1.0 + latent, 0.0) - np.maximum(1.0 - latent, 0.0))


class CompleteSVM:
    """Gaussian kernel exp(-d^2/D^2), D the mean distance, on standardised inputs."""

    def __init__(self, draws: int = 500, tune: int = 500, seed: int = 0) -> None:
        self.draws, self.tune, self.seed = draws, tune, seed

    def fit(self, features: np.ndarray, labels: np.ndarray) -> CompleteSVM:
        """Sample the posterior; labels are two values, the larger one is +1."""
        rng = np.random.default_rng(self.seed)
        self.classes_ = np.unique(labels)
        side = np.where(labels == self.classes_[1], 1.0, -1.0)
        self._centre = features.mean(axis=0)
        spread = features.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        self._rows = (features - self._centre) / self._spread
        distances = cdist(self._rows, self._rows)
        n = len(side)
        self._width = distances.sum() / (n * (n - 1))
        kernel = np.exp(-((distances / self._width) ** 2)) + _JITTER * np.eye(n)
        values, basis = np.linalg.eigh(kernel)
        values = np.maximum(values, _JITTER)
        ones = basis.T @ np.ones(n)
        latent, g, eta = 0.8 * side, 1.0, 1.0
        self._coefficients = np.empty((self.draws, n))
        self._intercepts = np.empty(self.draws)
        self.accepted = 0.0
        for sweep in range(self.tune + self.draws):
            rotated = basis.T @ latent
            shrunk = g / (g + values)  # eigenvalues of (I + K/g)^-1
            precision = eta + (shrunk * ones**2).sum()
            mean = (shrunk * ones * rotated).sum() / precision
            intercept = mean + rng.standard_normal() / np.sqrt(precision)
            kept = 1.0 - shrunk
            part = kept * (rotated - intercept * ones) + np.sqrt(kept) * rng.standard_normal(n)
            shape, rate = _SCALE_PRIOR
            g = rng.gamma(shape + 0.5 * n) / (rate + 0.5 * (part**2 / values).sum())
            shape, rate = _INTERCEPT_PRIOR
            eta = rng.gamma(shape + 0.5) / (rate + 0.5 * intercept**2)
            function = intercept + basis @ part
            for _ in range(_STEPS):
                proposal = function + rng.standard_normal(n)
                ratio = label_probability(side * proposal) / label_probability(side * latent)
                taken = rng.random(n) < ratio
                latent = np.where(taken, proposal, latent)
            if sweep >= self.tune:
                at = sweep - self.tune
                self._coefficients[at] = basis @ (part / values)
                self._intercepts[at] = intercept
                self.accepted += taken.mean() / self.draws
        return self

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """Return class probabilities, averaged over draws and over the noise of z."""
        rows = (features - self._centre) / self._spread
        kernel = np.exp(-((cdist(self._rows, rows) / self._width) ** 2))
        function = self._coefficients @ kernel + self._intercepts[:, None]
        total = np.zeros(len(features))
        for node, weight in zip(_NODES, _WEIGHTS / _WEIGHTS.sum(), strict=True):
            total += weight * label_probability(function + node).mean(axis=0)
        return np.column_stack([1.0 - total, total])

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the more probable class."""
        return self.classes_[(self.predict_proba(features)[:, 1] > 0.5).astype(int)]
