"""Short chains on parts of the rows, and their predictions of the other rows.

All chains of all parts go to the chain runner at once: it runs them in parallel, reports progress
and sees Ctrl-C, and nothing depends on how many run at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...posteriors.projection import ProjectionPosterior
from ..chains.plan import Plan
from ..chains.runner import run_chains, start_chains
from .sampler import KernelProjectionSampler, Priors


@dataclass(frozen=True)
class Part:
    """Some rows to learn from and some to predict.

    Attributes
    ----------
    columns : tuple of ndarray of shape (n, m_l)
        Columns of the rows to learn from, a block for each kernel.
    labels : ndarray of shape (n,)
        Their classes.
    held_out : tuple of ndarray of shape (rows, m_l)
        Columns of the rows to predict.
    """

    columns: tuple[np.ndarray, ...]
    labels: np.ndarray
    held_out: tuple[np.ndarray, ...]

    def leading(self, count: int) -> Part:
        """Return the same with the first components of every kernel only."""
        return Part(
            tuple(columns[:, :count] for columns in self.columns),
            self.labels,
            tuple(columns[:, :count] for columns in self.held_out),
        )


def column_factor(columns: np.ndarray, priors: Priors) -> float:
    """Return what columns are multiplied with: rows of mean square norm 1.

    The paper's model takes them as they are: its prior learns the scale of every coefficient.
    """
    size = float(np.einsum("ij,ij->", columns, columns)) / max(1, len(columns))
    return 1.0 if priors.model == "latent_noise" or not size > 0.0 else size**-0.5


def split_folds(labels: np.ndarray, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the rows of each fold, every class shared out evenly."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    return [np.sort(order[fold::count]) for fold in range(count)]


def predict_held_out(
    parts: Sequence[Part],
    n_classes: int,
    priors: Priors,
    plan: Plan,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    report: Callable[[int, float], bool] | None,
    geometric: bool = False,
) -> list[np.ndarray]:
    """Return class probabilities of the held-out rows of every part, from one chain each."""
    factors = [tuple(column_factor(columns, priors) for columns in part.columns) for part in parts]
    samplers = [
        KernelProjectionSampler(
            [f * columns for f, columns in zip(factor, part.columns, strict=True)],
            part.labels,
            n_classes,
            priors,
            n_monitored=1,
        )
        for part, factor in zip(parts, factors, strict=True)
    ]
    chains = [
        start_chains(sampler, plan, [own])[0]
        for sampler, own in zip(samplers, seed.spawn(len(samplers)), strict=True)
    ]
    run = run_chains(samplers, chains, plan, n_jobs=n_jobs, report=report)
    if run.ended != "finished":
        raise KeyboardInterrupt
    found = []
    for part, factor, chain in zip(parts, factors, run.chains, strict=True):
        posterior = ProjectionPosterior(
            (), (), chain.draws.coefficients[None], priors.intercept, priors.reference,
            geometric=geometric,
        )  # fmt: skip
        columns = [f * held for f, held in zip(factor, part.held_out, strict=True)]
        ones = [np.ones((len(columns[0]), 1))] if priors.intercept else []
        found.append(posterior.probabilities(np.hstack([*columns, *ones])))
    return found
