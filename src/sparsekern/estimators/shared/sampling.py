"""What every sampling estimator does the same way: run chains, judge them, report them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ... import __version__
from ..._checks import check_choice, check_flag
from ..._jit import mark_compiled
from ...inference.chains.checkpoint import Checkpoint, check_folder, fingerprint
from ...inference.chains.plan import Plan, Sampler
from ...inference.chains.runner import Chain, ChainRun, extend_chain, run_chains, start_chains
from ...inference.diagnostics import convergence_problems
from .counts import check_count, check_jobs
from .estimator import Estimator
from .progress import FitReporter, TextProgress, announce_compilation, wants_text
from .sampling_memory import check_plan, require_draws, require_workspaces


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the line outside of this package that called."""
    frame, level = sys._getframe(1), 2
    inside = ("sparsekern.", "sklearn.callback", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class SamplingEstimator(CallbackSupportMixin, Estimator):
    """Base of estimators that are fitted by Markov chain Monte Carlo.

    Subclasses have the parameters ``draws, tune, chains, thin, warm_start, checkpoint, progress,
    n_jobs, random_state``.
    """

    draws: int
    tune: int
    chains: int
    thin: int
    warm_start: bool
    checkpoint: Any
    progress: Any
    n_jobs: int | None
    random_state: Any

    @property
    def _spoken_name(self) -> str:
        """Name in messages."""
        return type(self).__name__

    @property
    def _memory_remedy(self) -> str:
        """What makes the working memory of a chain smaller."""
        return "use fewer chains"

    def _check_sampling_parameters(self) -> Plan:
        plan = Plan(
            tune=check_count("tune", self.tune, 0),
            draws=check_count("draws", self.draws),
            thin=check_count("thin", self.thin),
        )
        check_plan(self._spoken_name, plan, check_count("chains", self.chains))
        check_flag("warm_start", self.warm_start)
        check_choice("progress", self.progress, ("auto", True, False))
        check_jobs(self.n_jobs)
        if self.checkpoint is not None:
            check_folder(self.checkpoint)
        return plan

    def _sample(self, samplers: Sequence[Sampler], plan: Plan) -> list[ChainRun]:
        """Run the chains of each sampler, side by side, and keep what a later warm start needs."""
        parts = [type(self).__name__, self.chains]
        for sampler in samplers:
            parts += sampler.fingerprint_parts()
        model_print = fingerprint(parts)
        random = check_random_state(self.random_state)
        entropy = random.randint(0, 2**31 - 1, size=4).tolist()
        checkpoint = None
        require_draws(self._spoken_name, samplers, plan, self.chains)
        earlier = getattr(self, "_chains", None) if self.warm_start else None
        if earlier is not None:
            chains = self._continue(earlier, samplers, plan, model_print)
        else:
            sequence = np.random.SeedSequence(entropy)
            chains = []
            for sampler in samplers:
                chains += start_chains(sampler, plan, sequence.spawn(self.chains))
            if self.checkpoint is not None:
                fixed = self.random_state is not None
                seed = entropy if fixed else None
                checkpoint = Checkpoint(
                    self.checkpoint,
                    [*parts, plan, seed, __version__],
                    self._described_parameters(),
                    reuse_finished=fixed,
                )
                checkpoint.restore(chains, plan)
        require_workspaces(self._spoken_name, samplers, chains, self.chains, self._memory_remedy)
        run = self._watch(samplers, chains, plan, checkpoint)
        self._plan = plan
        self._say_how_it_ended(run, plan)
        if self.warm_start or run.ended != "finished":
            self._chains: list[Chain] | None = run.chains
            self._model_print = model_print
            self._tuned = (plan.tune, plan.thin)
        else:
            self._chains = None
        return [
            replace(run, chains=run.chains[first : first + self.chains])
            for first in range(0, len(run.chains), self.chains)
        ]

    def _continue(
        self, earlier: list[Chain], samplers: Sequence[Sampler], plan: Plan, model_print: str
    ) -> list[Chain]:
        if model_print != self._model_print or self._tuned != (plan.tune, plan.thin):
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
        if self.checkpoint is not None:
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

    def _watch(
        self,
        samplers: Sequence[Sampler],
        chains: list[Chain],
        plan: Plan,
        checkpoint: Checkpoint | None,
    ) -> ChainRun:
        text = None
        name = self._spoken_name
        if wants_text(self.progress, bool(getattr(self, "_skl_callbacks", None))):
            text = TextProgress(f"{name}: {len(chains)} chains", len(chains))
        if self.progress is not False:
            announce_compilation(name, [sampler.engine for sampler in samplers])
        reporter = FitReporter(self, len(chains), text)
        try:
            run = run_chains(
                [sampler for sampler in samplers for _ in range(self.chains)],
                chains,
                plan,
                n_jobs=self.n_jobs,
                report=reporter,
                checkpoint=checkpoint,
            )
        finally:
            reporter.close()
        for sampler in samplers:
            mark_compiled(sampler.engine)
        return run

    def _say_how_it_ended(self, run: ChainRun, plan: Plan) -> None:
        if run.ended == "finished":
            return
        if run.kept == 0 and run.ended == "stopped":
            raise RuntimeError(
                f"A callback ended {self._spoken_name} while it was tuning, before any draw was "
                "kept; let it run longer, or reduce tune."
            )
        if run.kept == 0:
            kept = " The checkpoint keeps what was done." if self.checkpoint is not None else ""
            raise KeyboardInterrupt(
                f"{self._spoken_name} was ended while tuning, before any draw was kept.{kept}"
            )
        warn_caller(
            f"Sampling was {run.ended} after {run.kept} of {plan.draws} draws in each of "
            f"{len(run.chains)} chains; the fit keeps these {run.kept}. To go on from here, call "
            "set_params(warm_start=True) and fit again with the same data.",
        )

    def _described_parameters(self) -> dict[str, str]:
        silent = {"checkpoint", "n_jobs", "progress", "warm_start"}
        parameters = self.get_params(deep=False)
        return {name: repr(value) for name, value in parameters.items() if name not in silent}

    def _warn_unless_converged(self, diagnostics: pd.DataFrame, judged: list[str], kept: int):
        sentence = convergence_problems(diagnostics, judged, self.chains, kept)
        if sentence is not None:
            warn_caller(sentence, ConvergenceWarning)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be built again on demand."""
        state = super().__getstate__().copy()
        state.pop("_posterior_tree", None)
        return state
