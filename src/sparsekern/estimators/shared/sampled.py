"""From runs of chains to a fitted estimator: attributes, diagnostics, warnings."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from ..._checks import warn_caller
from ...inference.chains.plan import Plan
from ...inference.chains.rounds import Standing
from ...inference.chains.runner import ChainRun
from ...inference.diagnostics import convergence_problems, summarize_scalars, worst_standing
from ...posteriors.names import Names
from ...posteriors.one_vs_rest import SampledOneVsRest
from ...posteriors.sampled import SampledPosterior
from ...settings.limits import warn_if_limited
from .runner import Runner

_LIMITED_BY = {"n_active": "priors__max_active", "n_features": "selection__max_features"}
# what belongs to the fit under way or to the whole, not to the model of one class
_NOT_COPIED = ("_callback_fit_ctx", "_skl_callbacks", "_skl_callbacks_to_teardown", "_kept_chains",
               "_posterior_tree", "estimators_")  # fmt: skip


def name_data(
    estimator: Any,
    rows: np.ndarray | None,
    y: np.ndarray,
    centre: float = 0.0,
    spread: float = 1.0,
) -> Names:
    """Return the user's words and units for the training data; y is as the model sees it."""
    row_map = estimator._row_map
    return Names(
        response=np.array(y) if row_map is None else row_map.response,  # a copy
        rows=rows,
        features=getattr(estimator, "feature_names_in_", None),
        classes=getattr(estimator, "classes_", None),
        centre=centre,
        spread=spread,
        row_map=row_map,
    )


def fit_chains(
    estimator: Any,
    runner: Runner,
    samplers: Sequence[Any],
    collect: Callable[[ChainRun, Plan, Any, Names], SampledPosterior],
    names: Names,
) -> None:
    """Run chains and keep the posterior of one model, or those of each class against the rest.

    Parameters
    ----------
    estimator : Estimator
    runner : Runner
    samplers : sequence of Sampler
        One, or as many as classes.
    collect : callable
        Makes the posterior of a run, given its plan, its sampler and the names of its data.
    names : Names
        Of all data.
    """
    labels = [None] if len(samplers) == 1 else names.classes
    assert labels is not None

    def posteriors(runs: list[ChainRun], plan: Plan) -> list[SampledPosterior]:
        return [
            collect(run, plan, sampler, names if label is None else names.of_class(label))
            for run, sampler, label in zip(runs, samplers, labels, strict=True)
        ]

    def judge(runs: list[ChainRun], plan: Plan) -> Standing:
        rows = [
            summarize_scalars(posterior.judged_scalars(sizes=True))
            for posterior in posteriors(runs, plan)
        ]
        return Standing(*worst_standing(pd.concat(rows)))

    runs, plan = runner.run(samplers, judge)
    found = posteriors(runs, plan)
    if len(found) == 1:
        _set_posterior(estimator, found[0])
        estimator.diagnostics_ = summarize_scalars(found[0].scalars)
    else:
        _set_one_vs_rest(estimator, found, names)
    _warn_about_convergence(estimator, runner)
    _warn_about_limits(estimator)


def _set_one_vs_rest(estimator: Any, posteriors: list[SampledPosterior], names: Names) -> None:
    """Set attributes for posteriors of each class against the rest; ``names`` are of all."""
    members = []
    for posterior in posteriors:
        member = copy.copy(estimator)
        for name in _NOT_COPIED:
            member.__dict__.pop(name, None)
        member.classes_ = np.array([False, True])
        _set_posterior(member, posterior)
        member.diagnostics_ = summarize_scalars(posterior.scalars)
        members.append(member)
    together = SampledOneVsRest.of(posteriors, names)
    estimator.estimators_ = members
    _set_posterior(estimator, together)
    estimator.diagnostics_ = pd.concat([member.diagnostics_ for member in members])
    estimator.diagnostics_.index = pd.Index(list(together.scalars), name="quantity")


def _set_posterior(estimator: Any, posterior: SampledPosterior) -> None:
    estimator._posterior = posterior
    for name, value in posterior.attributes().items():
        setattr(estimator, name, value)


def _warn_about_convergence(estimator: Any, runner: Runner) -> None:
    """Say which of the scalars that decide have not converged."""
    posterior = estimator._posterior
    judged = posterior.judged_scalars(sizes=runner.judges_sizes)
    sentence = convergence_problems(
        estimator.diagnostics_.loc[list(judged)],
        estimator.chains,
        posterior.n_kept,
        *runner.wanted,
        runner.remedy,
    )
    if sentence is not None:
        warn_caller(sentence, ConvergenceWarning)


def _warn_about_limits(estimator: Any) -> None:
    posterior = estimator._posterior
    for count, most in posterior.record.limits.items():
        shares = [
            float(np.mean(values >= most))
            for name, values in posterior.scalars.items()
            if name.partition("[")[0] == count
        ]
        warn_if_limited(_LIMITED_BY[count], most, max(shares))
