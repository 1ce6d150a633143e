"""From runs of chains to a fitted estimator: attributes, diagnostics, warnings."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from ...inference.chains.runner import ChainRun
from ...inference.diagnostics import convergence_problems, summarize_scalars
from ...posteriors.names import Names
from ...posteriors.one_vs_rest import SampledOneVsRest
from ...posteriors.sampled import SampledPosterior
from .limits import warn_if_limited
from .words import warn_caller

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


def keep_runs(
    estimator: Any,
    runs: list[ChainRun],
    samplers: Sequence[Any],
    collect: Callable[[ChainRun, Any, Names], SampledPosterior],
    names: Names,
) -> None:
    """Keep the posterior of one model, or those of each class against the rest.

    Parameters
    ----------
    estimator : Estimator
    runs : list of ChainRun
    samplers : sequence of Sampler
        One, or as many as classes, with their runs.
    collect : callable
        Makes the posterior of a run, given its sampler and the names of its data.
    names : Names
        Of all data.
    """
    if len(samplers) == 1:
        keep_posterior(estimator, collect(runs[0], samplers[0], names))
        return
    assert names.classes is not None
    posteriors = [
        collect(run, sampler, names.of_class(label))
        for run, sampler, label in zip(runs, samplers, names.classes, strict=True)
    ]
    _keep_one_vs_rest(estimator, posteriors, names)


def keep_posterior(estimator: Any, posterior: SampledPosterior) -> None:
    """Set the fitted attributes that a posterior gives, and judge its chains."""
    _set_posterior(estimator, posterior)
    estimator.diagnostics_ = summarize_scalars(posterior.scalars)
    _warn_about_convergence(estimator)


def _keep_one_vs_rest(estimator: Any, posteriors: list[SampledPosterior], names: Names) -> None:
    """Do so for posteriors of each class against the rest; ``names`` are those of all classes."""
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
    _warn_about_convergence(estimator)


def _set_posterior(estimator: Any, posterior: SampledPosterior) -> None:
    estimator._posterior = posterior
    for name, value in posterior.attributes().items():
        setattr(estimator, name, value)


def _warn_about_convergence(estimator: Any) -> None:
    """Judge by the log-likelihood and by what is followed at a few training rows; and limits."""
    posterior = estimator._posterior
    judged = [name for name in posterior.scalars if posterior.is_decisive(name)]
    sentence = convergence_problems(
        estimator.diagnostics_, judged, estimator.chains, posterior.n_kept
    )
    if sentence is not None:
        warn_caller(sentence, ConvergenceWarning)
    for count, most in posterior.record.limits.items():
        shares = [
            float(np.mean(values >= most))
            for name, values in posterior.scalars.items()
            if name.partition("[")[0] == count
        ]
        warn_if_limited(_LIMITED_BY[count], most, max(shares))
