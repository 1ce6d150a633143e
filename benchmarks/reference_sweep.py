"""The sampler of Zhang, Dai and Jordan (2011), section 3.2, typed from the paper in NumPy.

One sweep: one birth, death or swap of the active set; one scan of the latent variables with the
coefficients integrated out; the coefficients; eta and g given the coefficients. (The paper lists
the coefficients after eta and g; that order does not leave the posterior invariant, because the
scan has just made the old coefficients stale. Here they come right after the scan.) Every move
factors the dense matrix Upsilon anew. Nothing of sparsekern is imported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import betaln, log_ndtr, ndtr, ndtri_exp


class ReferenceModel(NamedTuple):
    """Kernel matrix, labels -1.0 and +1.0, and priors as (shape, rate)."""

    kernel: np.ndarray
    side: np.ndarray
    max_active: int
    scale_prior: tuple[float, float]
    intercept_prior: tuple[float, float]
    size_prior: tuple[float, float] = (1.0, 1.0)
    jitter: float = 1e-8


class Factored(NamedTuple):
    """An active set with all that follows from it."""

    rows: np.ndarray
    design: np.ndarray  # [1, K_gamma]
    prior_matrix: np.ndarray  # K_gamma,gamma with jitter
    root: np.ndarray  # lower Cholesky factor of Upsilon
    log_posterior: float  # log p(s | gamma) + log p(gamma)


class ReferenceChain:
    """One chain; ``sweep`` advances it and returns what is followed."""

    def __init__(self, model: ReferenceModel, rng, rows, latent, g: float, eta: float) -> None:
        self.model, self.rng = model, rng
        self.rows = np.array(rows, dtype=np.int64)
        self.latent = np.array(latent, dtype=np.float64)
        self.g, self.eta = float(g), float(eta)

    def sweep(self) -> tuple[int, float, np.ndarray]:
        """Carry out one sweep; return the size, g and the latent function at the rows."""
        factored = self._move_active_set()
        center = self._draw_latents(factored)
        coefficients = self._draw_coefficients(factored, center)
        self._draw_scales(factored, coefficients)
        return len(self.rows), self.g, factored.design @ coefficients

    def _factor(self, rows: np.ndarray) -> Factored:
        model, n, k = self.model, len(self.latent), len(rows)
        design = np.ones((n, k + 1))
        design[:, 1:] = model.kernel[:, rows]
        prior_matrix = design[rows, 1:] + model.jitter * np.eye(k)
        upsilon = design.T @ design
        upsilon[0, 0] += self.eta
        upsilon[1:, 1:] += self.g * prior_matrix
        root = np.linalg.cholesky(upsilon)
        projected = solve_triangular(root, design.T @ self.latent, lower=True)
        log_evidence = (
            0.5 * projected @ projected
            - np.log(np.diag(root)).sum()
            + np.log(np.diag(np.linalg.cholesky(prior_matrix))).sum()
            + 0.5 * (np.log(self.eta) + k * np.log(self.g))
        )
        a, b = model.size_prior
        log_prior = betaln(k + a, n - k + b)
        return Factored(rows, design, prior_matrix, root, log_evidence + log_prior)

    def _move_probabilities(self, k: int) -> tuple[float, float]:
        if k == 0:
            return 1.0, 0.0
        return (0.3, 0.3) if k < self.model.max_active else (0.0, 1.0)

    def _move_active_set(self) -> Factored:
        n, k = len(self.latent), len(self.rows)
        birth, death = self._move_probabilities(k)
        choice = self.rng.random()
        inactive = np.setdiff1d(np.arange(n), self.rows, assume_unique=True)
        proposed, log_ratio = self.rows, 0.0
        if choice < birth or choice >= birth + death:
            proposed = np.append(proposed, self.rng.choice(inactive))
        if choice >= birth:
            proposed = np.delete(proposed, self.rng.integers(k))
        if choice < birth:
            reverse = self._move_probabilities(k + 1)[1]
            log_ratio = np.log(reverse * (n - k) / (birth * (k + 1)))
        elif choice < birth + death:
            reverse = self._move_probabilities(k - 1)[0]
            log_ratio = np.log(reverse * k / (death * (n - k + 1)))
        present, other = self._factor(self.rows), self._factor(proposed)
        log_ratio += other.log_posterior - present.log_posterior
        taken = other if np.log(self.rng.random()) < log_ratio else present
        self.rows = taken.rows
        return taken

    def _draw_latents(self, factored: Factored) -> np.ndarray:
        """Scan the latent variables; return Upsilon^-1 Phi' s (Appendix A of the paper)."""
        design, latent, side = factored.design, self.latent, self.model.side
        gain = np.ascontiguousarray(cho_solve((factored.root, True), design.T).T)
        leverage = np.einsum("ij,ij->i", design, gain)
        deviation = 1.0 / np.sqrt(1.0 - leverage)
        log_uniform = np.log(self.rng.random(len(latent)))
        center = gain.T @ latent
        for i in range(len(latent)):
            mean = (design[i] @ center - leverage[i] * latent[i]) * deviation[i] ** 2
            bound = side[i] * mean / deviation[i]
            new = mean - side[i] * deviation[i] * ndtri_exp(log_uniform[i] + log_ndtr(bound))
            center += (new - latent[i]) * gain[i]
            latent[i] = new
        return center

    def _draw_coefficients(self, factored: Factored, center: np.ndarray) -> np.ndarray:
        noise = self.rng.standard_normal(len(center))
        return center + solve_triangular(factored.root, noise, lower=True, trans="T")

    def _draw_scales(self, factored: Factored, coefficients: np.ndarray) -> None:
        intercept, beta = coefficients[0], coefficients[1:]
        shape, rate = self.model.intercept_prior
        self.eta = self.rng.gamma(shape + 0.5) / (rate + 0.5 * intercept**2)
        shape, rate = self.model.scale_prior
        energy = beta @ factored.prior_matrix @ beta
        self.g = self.rng.gamma(shape + 0.5 * len(beta)) / (rate + 0.5 * energy)


class ReferenceTrace:
    """A chain and what was followed along it."""

    def __init__(self, chain: ReferenceChain, monitored_rows: np.ndarray) -> None:
        self.chain, self._rows = chain, monitored_rows
        self.size: list[int] = []
        self.scale: list[float] = []
        self.log_likelihood: list[float] = []
        self.monitored: list[np.ndarray] = []

    def run(self, sweeps: int, keep: bool = True) -> None:
        """Carry out ``sweeps`` sweeps and, unless ``keep`` is false, write down each."""
        for _ in range(sweeps):
            size, scale, fitted = self.chain.sweep()
            if keep:
                self.size.append(size)
                self.scale.append(scale)
                self.log_likelihood.append(float(log_ndtr(self.chain.model.side * fitted).sum()))
                self.monitored.append(ndtr(fitted[self._rows]))
