"""Chains of an estimator: what it asks for, how they run, what is kept for a warm start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ... import __version__
from ..._checks import check_choice, check_flag, warn_caller
from ...inference.chains.checkpoint import Checkpoint, check_folder, fingerprint
from ...inference.chains.plan import Plan, Sampler
from ...inference.chains.rounds import Rounds, Standing, move_chain, run_rounds
from ...inference.chains.runner import Chain, ChainRun, run_chains, start_chains
from ...inference.diagnostics import LARGEST_R_HAT, LEAST_ESS_PER_CHAIN
from ...settings.group import Settings, check_group, is_default
from ...settings.limits import check_count, check_jobs
from ...settings.until_converged import resolve_draws
from .memory import check_plan, require_draws, require_workspaces
from .progress import watch

Judge = Callable[[list[ChainRun], Plan], Standing]
_SILENT = {"checkpoint", "n_jobs", "progress", "warm_start"}  # parameters that change no draw


@dataclass(frozen=True)
class KeptChains:
    """Chains of a fit that a later one may go on with, and what they were made for."""

    chains: list[Chain]
    plan: Plan  # of their draws
    model_print: str
    tuned: tuple[int, int]


class Runner:
    """Run the chains of one fit.

    Parameters
    ----------
    estimator : Estimator
        Has the parameters ``draws, tune, chains, thin, warm_start, checkpoint, progress, n_jobs,
        random_state``. Chains to go on with are its ``_kept_chains``.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator, self._name = estimator, type(estimator).__name__
        self._tune = check_count("tune", estimator.tune, 0)
        self._thin = check_count("thin", estimator.thin)
        self.chains = check_count("chains", estimator.chains)
        asked = resolve_draws(estimator.draws)
        self._rounds: Rounds | None = None
        if isinstance(asked, int):
            self._plan = self._largest = Plan(self._tune, asked, self._thin)
        else:
            self._rounds = Rounds(self._tune, self._thin, asked, estimator._most_draws)
            self._plan, self._largest = self._rounds.first, self._rounds.largest
        self._ended = "not at all"
        check_plan(self._name, self._largest, self.chains, self._spoken)
        check_flag("warm_start", estimator.warm_start)
        check_choice("progress", estimator.progress, ("auto", True, False))
        check_jobs(estimator.n_jobs)
        if estimator.checkpoint is not None:
            check_folder(estimator.checkpoint)

    @property
    def _spoken(self) -> str | None:
        """What is asked for, in the user's words, where that is no number of draws."""
        if self._rounds is None:
            return None
        return f"draws='auto' (max_draws={self.most_draws}), tune={self._tune}, thin={self._thin}"

    @property
    def most_draws(self) -> int:
        """How many draws of a chain there can be, those that are left out included."""
        return self._plan.draws if self._rounds is None else self._rounds.most

    @property
    def judges_sizes(self) -> bool:
        """Whether numbers of vectors and features and length scales have to converge, too."""
        return self._rounds is not None

    @property
    def wanted(self) -> tuple[float, float]:
        """The R-hat and the effective sample size that chains are judged by."""
        if self._rounds is None:
            return LARGEST_R_HAT, LEAST_ESS_PER_CHAIN * self.chains
        return self._rounds.goal.r_hat, self._rounds.goal.ess

    @property
    def remedy(self) -> str:
        """What to do about chains that have not converged."""
        if self._rounds is None:
            return (
                "Increase tune and draws, or set draws='auto', which goes on until they have; "
                "with warm_start=True a second fit with more draws goes on from here."
            )
        goal, most, changes, why = self._rounds.goal, self.most_draws, "warm_start=True", ""
        if self._ended == "out of time":
            why = f"Sampling ended after max_seconds={goal.max_seconds:g}. "
        elif self._ended == "out of draws":
            why = f"Sampling ended at max_draws={most}. "
            changes += f", draws__max_draws={2 * most}"
        return (
            f"{why}To go on from here, call set_params({changes}) and fit again with the same "
            "data; a new fit with a longer tune can help, too."
        )

    @property
    def earlier(self) -> KeptChains | None:
        """Chains to go on with."""
        kept = getattr(self._estimator, "_kept_chains", None)
        return kept if self._estimator.warm_start else None

    def run(self, samplers: Sequence[Sampler], judge: Judge) -> tuple[list[ChainRun], Plan]:
        """Run the chains of each sampler, side by side, and keep what a later warm start needs.

        Parameters
        ----------
        samplers : sequence of Sampler
        judge : callable
            Tells how the draws of the runs of all samplers stand.

        Returns
        -------
        list of ChainRun
            One for each sampler.
        Plan
            That of their draws.
        """
        estimator = self._estimator
        parts: list[Any] = [self._name, self.chains]
        for sampler in samplers:
            parts += sampler.fingerprint_parts()
        model_print = fingerprint(parts)
        entropy = check_random_state(estimator.random_state).randint(0, 2**31 - 1, size=4).tolist()
        require_draws(self._name, samplers, self._largest, self.chains, self._spoken)
        each = [sampler for sampler in samplers for _ in range(self.chains)]
        checkpoint = None
        if self.earlier is not None:
            chains = self._continue(self.earlier, each, model_print)
        else:
            sequence = np.random.SeedSequence(entropy)
            chains = []
            for sampler in samplers:
                chains += start_chains(sampler, self._plan, sequence.spawn(self.chains))
            if estimator.checkpoint is not None:
                fixed = estimator.random_state is not None
                length: Any = self._plan
                if self._rounds is not None:  # time ends a fit, but changes no draw before that
                    length = (
                        self._tune,
                        self._thin,
                        replace(self._rounds.goal, max_seconds=None, max_draws=self.most_draws),
                    )
                checkpoint = Checkpoint(
                    estimator.checkpoint,
                    [*parts, length, entropy if fixed else None, __version__],
                    described_parameters(estimator),
                    reuse_finished=fixed,
                )
                chains = self._restore(checkpoint, chains, each)
        require_workspaces(self._name, samplers, chains, self.chains, "use fewer chains")
        run, plan = self._advance(samplers, each, chains, judge, checkpoint)
        self._ended = run.ended
        self._say_how_it_ended(run)
        estimator._kept_chains = None
        if estimator.warm_start or run.ended != "finished":
            estimator._kept_chains = KeptChains(
                run.chains, plan, model_print, (self._tune, self._thin)
            )
        return self._by_sampler(run), plan

    def _by_sampler(self, run: ChainRun) -> list[ChainRun]:
        return [
            replace(run, chains=run.chains[first : first + self.chains])
            for first in range(0, len(run.chains), self.chains)
        ]

    def _advance(
        self,
        samplers: Sequence[Sampler],
        each: list[Sampler],
        chains: list[Chain],
        judge: Judge,
        checkpoint: Checkpoint | None,
    ) -> tuple[ChainRun, Plan]:
        """Run the chains to the end, and close the checkpoint."""
        estimator, over = self._estimator, False
        engines = [sampler.engine for sampler in samplers]
        options = {"n_jobs": estimator.n_jobs, "checkpoint": checkpoint}
        try:
            with watch(estimator, "chains", len(chains), engines) as report:
                if self._rounds is None:
                    plan = self._plan
                    run = run_chains(each, chains, plan, report=report, **options)
                else:
                    run, plan = run_rounds(
                        each, chains, self._plan, self._rounds,
                        lambda run, plan: judge(self._by_sampler(run), plan),
                        report=report, **options,
                    )  # fmt: skip
            over = run.ended in ("finished", "out of draws")
        finally:
            if checkpoint is not None:
                checkpoint.close(finished=over)
        return run, plan

    def _restore(
        self, checkpoint: Checkpoint, chains: list[Chain], each: list[Sampler]
    ) -> list[Chain]:
        """Return the chains as the checkpoint has them, all of the latest plan that it knows."""

        def resize(number: int, plan: Plan) -> None:
            chains[number].draws = each[number].allocate(plan)

        first = self._plan
        saved = [plan or first for plan in checkpoint.restore(chains, resize)]
        self._plan = max(saved, key=lambda plan: plan.sweeps)
        return [
            chain if plan == self._plan else move_chain(chain, sampler, plan, self._plan)
            for chain, sampler, plan in zip(chains, each, saved, strict=True)
        ]

    def _continue(self, kept: KeptChains, each: list[Sampler], model_print: str) -> list[Chain]:
        if model_print != kept.model_print or kept.tuned != (self._tune, self._thin):
            raise ValueError(
                "warm_start=True goes on with the chains of the last fit, but the data or the "
                "parameters have changed; only draws may grow. Set warm_start=False to fit anew."
            )
        self._plan = kept.plan
        if self._rounds is None:
            self._plan = replace(kept.plan, draws=self._more_draws(kept))
        if self._estimator.checkpoint is not None:
            warn_caller(
                "checkpoint is not written while warm_start=True goes on with chains in memory.",
            )
        return [
            move_chain(chain, sampler, kept.plan, self._plan)
            for chain, sampler in zip(kept.chains, each, strict=True)
        ]

    def _more_draws(self, kept: KeptChains) -> int:
        """Return the number of draws that is asked for, at least as many as there are."""
        draws = self._largest.draws
        made = max(kept.plan.kept(chain.sweep) for chain in kept.chains)
        if draws < made:
            raise ValueError(
                f"warm_start=True: draws={draws} is fewer than the {made} of the last fit; "
                "give a larger number, or set warm_start=False."
            )
        if all(kept.plan.kept(chain.sweep) >= draws for chain in kept.chains):
            warn_caller(
                "warm_start=True without a larger draws: the chains are left as they are.",
            )
        return draws

    def _say_how_it_ended(self, run: ChainRun) -> None:
        if run.ended not in ("interrupted", "stopped"):
            return  # whether there are enough draws is said when they are judged
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
        of = f" of {self._plan.draws}" if self._rounds is None else ""
        warn_caller(
            f"Sampling was {run.ended} after {run.kept}{of} draws in each of "
            f"{len(run.chains)} chains; the fit keeps these {run.kept}. To go on from here, call "
            "set_params(warm_start=True) and fit again with the same data.",
        )


def described_parameters(estimator: Any) -> dict[str, str]:
    """Return the parameters that may change a draw, as text; groups value by value."""
    parameters = estimator.get_params(deep=False)
    for name, kind in estimator._all_groups.items():
        if is_default(parameters[name], kind) or isinstance(parameters[name], Settings):
            inside = check_group(name, parameters.pop(name), kind).get_params()
            parameters |= {f"{name}__{key}": value for key, value in inside.items()}
    with np.printoptions(threshold=sys.maxsize):  # long arrays in full
        return {name: repr(value) for name, value in parameters.items() if name not in _SILENT}
