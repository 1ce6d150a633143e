"""Chains of sparsekern's sampler on one thread, advanced in steps and timed."""

from __future__ import annotations

import numpy as np
from measuring import seconds

from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.chains.runner import start_chains
from sparsekern.inference.generalized_kernel.sampler import GeneralizedKernelSampler
from sparsekern.kernels import resolve_kernels
from sparsekern.likelihoods import Probit
from sparsekern.likelihoods._contract import Likelihood
from sparsekern.model import generalized_kernel_model

# the estimator's defaults, (shape, rate)
SCALE_PRIOR, INTERCEPT_PRIOR, JITTER = (2.0, 0.05), (0.5, 0.05), 1e-8


def make_sampler(
    features: np.ndarray,
    side: np.ndarray,
    *,
    likelihood: Likelihood | None = None,
    max_active: int = 100,
    size_prior: tuple[float, float] = (1.0, 1.0),
    moves: int = 10,
    scans: int = 3,
    joint_moves: int = 30,
    n_monitored: int = 5,
) -> GeneralizedKernelSampler:
    """Return the sampler that GKMClassifier would use for standardised ``features``."""
    model = generalized_kernel_model(
        likelihood or Probit(),
        resolve_kernels("rbf", "mean_distance", features),
        scale_prior=SCALE_PRIOR,
        intercept_prior=INTERCEPT_PRIOR,
        size_prior=size_prior,
        max_active=max_active,
        sparse=True,
        jitter=JITTER,
    )
    return GeneralizedKernelSampler(
        model,
        features,
        side,
        moves=moves,
        scans=scans,
        joint_moves=joint_moves,
        n_monitored=n_monitored,
    )


class OurChains:
    """Tuned chains; ``seconds`` counts the time spent on kept draws only."""

    def __init__(
        self, sampler: GeneralizedKernelSampler, tune: int, draws: int, n_chains: int, seed: int
    ) -> None:
        self.sampler, self.plan = sampler, Plan(tune, draws, 1)
        self.chains = start_chains(sampler, self.plan, np.random.SeedSequence(seed).spawn(n_chains))
        self.workspaces = [sampler.open(chain.state) for chain in self.chains]
        for number in range(n_chains):
            self._advance(number, tune, fresh=True)
        self.seconds = 0.0

    def _advance(self, number: int, stop: int, fresh: bool) -> None:
        chain = self.chains[number]
        self.sampler.advance(
            chain.rngs, chain.state, self.workspaces[number], chain.draws, stop, self.plan, fresh
        )

    def run(self, number: int, draws: int) -> None:
        """Add ``draws`` draws to one chain, at most what the plan holds."""
        stop = min(self.chains[number].sweep + draws, self.plan.sweeps)
        self.seconds += seconds(lambda: self._advance(number, stop, fresh=False))

    def series(self) -> dict[str, np.ndarray]:
        """Return the followed quantities, each of shape (chains, draws)."""
        log_likelihood = np.stack([chain.draws.log_likelihood for chain in self.chains])
        monitored = np.stack([chain.draws.monitored for chain in self.chains])
        return followed(log_likelihood, monitored)


def followed(log_likelihood: np.ndarray, monitored: np.ndarray) -> dict[str, np.ndarray]:
    """Name the log-likelihood and the predicted probabilities, last axis of ``monitored``."""
    named = {"log-likelihood": log_likelihood}
    for q in range(monitored.shape[-1]):
        named[f"probability {q + 1}"] = monitored[..., q]
    return named
