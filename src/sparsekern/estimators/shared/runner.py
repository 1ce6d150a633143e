"""Chains of an estimator: what it asks for, how they run, what is kept for a warm start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ... import __version__
from ..._checks import check_choice, check_flag
from ...inference.chains.checkpoint import Checkpoint, check_folder, fingerprint
from ...inference.chains.plan import Plan, Sampler
from ...inference.chains.runner import Chain, ChainRun, extend_chain, run_chains, start_chains
from .limits import check_count, check_jobs
from .memory import check_plan, require_draws, require_workspaces
from .progress import watch
from .words import warn_caller

_SILENT = {"checkpoint", "n_jobs", "progress", "warm_start"}  # parameters that change no draw


@dataclass(frozen=True)
class KeptChains:
    """Chains of a fit that a later one may go on with, and what they were made for."""

    chains: list[Chain]
    model_print: str
    tuned: tuple[int, int]


class Runner:
    """Run the chains of one fit.

    Parameters
    ----------
    estimator : Estimator
        Has the parameters ``draws, tune, chains, thin, warm_start, checkpoint, progress, n_jobs,
        random_state``. Chains to go on with are its ``_kept_chains``.
    remedy : str
        What makes the working memory of a chain smaller.
    """

    def __init__(self, estimator: Any, remedy: str = "use fewer chains") -> None:
        self._estimator, self._remedy = estimator, remedy
        self._name = type(estimator).__name__
        self.plan = Plan(
            tune=check_count("tune", estimator.tune, 0),
            draws=check_count("draws", estimator.draws),
            thin=check_count("thin", estimator.thin),
        )
        self.chains = check_count("chains", estimator.chains)
        check_plan(self._name, self.plan, self.chains)
        check_flag("warm_start", estimator.warm_start)
        check_choice("progress", estimator.progress, ("auto", True, False))
        check_jobs(estimator.n_jobs)
        if estimator.checkpoint is not None:
            check_folder(estimator.checkpoint)

    @property
    def earlier(self) -> KeptChains | None:
        """Chains to go on with."""
        kept = getattr(self._estimator, "_kept_chains", None)
        return kept if self._estimator.warm_start else None

    def run(self, samplers: Sequence[Sampler]) -> list[ChainRun]:
        """Run the chains of each sampler, side by side, and keep what a later warm start needs."""
        estimator, plan = self._estimator, self.plan
        parts: list[Any] = [self._name, self.chains]
        for sampler in samplers:
            parts += sampler.fingerprint_parts()
        model_print = fingerprint(parts)
        entropy = check_random_state(estimator.random_state).randint(0, 2**31 - 1, size=4).tolist()
        require_draws(self._name, samplers, plan, self.chains)
        checkpoint = None
        if self.earlier is not None:
            chains = self._continue(self.earlier, samplers, model_print)
        else:
            sequence = np.random.SeedSequence(entropy)
            chains = []
            for sampler in samplers:
                chains += start_chains(sampler, plan, sequence.spawn(self.chains))
            if estimator.checkpoint is not None:
                fixed = estimator.random_state is not None
                checkpoint = Checkpoint(
                    estimator.checkpoint,
                    [*parts, plan, entropy if fixed else None, __version__],
                    described_parameters(estimator),
                    reuse_finished=fixed,
                )
                checkpoint.restore(chains, plan)
        require_workspaces(self._name, samplers, chains, self.chains, self._remedy)
        engines = [sampler.engine for sampler in samplers]
        with watch(estimator, "chains", len(chains), engines) as report:
            run = run_chains(
                [sampler for sampler in samplers for _ in range(self.chains)],
                chains,
                plan,
                n_jobs=estimator.n_jobs,
                report=report,
                checkpoint=checkpoint,
            )
        self._say_how_it_ended(run)
        estimator._kept_chains = None
        if estimator.warm_start or run.ended != "finished":
            estimator._kept_chains = KeptChains(run.chains, model_print, (plan.tune, plan.thin))
        return [
            replace(run, chains=run.chains[first : first + self.chains])
            for first in range(0, len(run.chains), self.chains)
        ]

    def _continue(
        self, kept: KeptChains, samplers: Sequence[Sampler], model_print: str
    ) -> list[Chain]:
        plan, earlier = self.plan, kept.chains
        if model_print != kept.model_print or kept.tuned != (plan.tune, plan.thin):
            raise ValueError(
                "warm_start=True goes on with the chains of the last fit, but the data or the "
                "parameters have changed; only draws may grow. Set warm_start=False to fit anew."
            )
        made = max(plan.kept(chain.sweep) for chain in earlier)
        if plan.draws < made:
            raise ValueError(
                f"warm_start=True: draws={plan.draws} is fewer than the {made} of the last fit; "
                "give a larger number, or set warm_start=False."
            )
        if self._estimator.checkpoint is not None:
            warn_caller(
                "checkpoint is not written while warm_start=True goes on with chains in memory.",
            )
        if all(chain.sweep >= plan.sweeps for chain in earlier):
            warn_caller(
                "warm_start=True without a larger draws: the chains are left as they are.",
            )
        return [
            extend_chain(chain, samplers[number // self.chains], plan)
            for number, chain in enumerate(earlier)
        ]

    def _say_how_it_ended(self, run: ChainRun) -> None:
        if run.ended == "finished":
            return
        if run.kept == 0 and run.ended == "stopped":
            raise RuntimeError(
                f"A callback ended {self._name} while it was tuning, before any draw was "
                "kept; let it run longer, or reduce tune."
            )
        if run.kept == 0:
            saved = self._estimator.checkpoint is not None
            kept = " The checkpoint keeps what was done." if saved else ""
            raise KeyboardInterrupt(
                f"{self._name} was ended while tuning, before any draw was kept.{kept}"
            )
        warn_caller(
            f"Sampling was {run.ended} after {run.kept} of {self.plan.draws} draws in each of "
            f"{len(run.chains)} chains; the fit keeps these {run.kept}. To go on from here, call "
            "set_params(warm_start=True) and fit again with the same data.",
        )


def described_parameters(estimator: Any) -> dict[str, str]:
    """Return the parameters that may change a draw, as text; groups value by value."""
    parameters = estimator.get_params(deep=False)
    for name in estimator._groups:
        del parameters[name]
        inside = estimator._group(name).get_params()
        parameters |= {f"{name}__{key}": value for key, value in inside.items()}
    with np.printoptions(threshold=sys.maxsize):  # long arrays in full
        return {name: repr(value) for name, value in parameters.items() if name not in _SILENT}
