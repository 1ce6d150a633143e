"""More than two classes by one two-class model for each, the chains of all run side by side."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd

from ...inference.chains.plan import Plan
from ...inference.diagnostics import summarize_scalars
from ...likelihoods._contract import Likelihood
from ...posteriors.one_vs_rest import OneVsRestPosterior
from .class_face import responses_one_vs_rest
from .draws import DrawsEstimator

# what belongs to the fit under way or to the whole, not to the model of one class
_NOT_COPIED = ("_callback_fit_ctx", "_skl_callbacks", "_skl_callbacks_to_teardown", "_chains",
               "_posterior_tree", "estimators_")  # fmt: skip

_ABSENT = ("coefficient", "feature_bandwidth", "bandwidth")  # zero where a model lacks an entry


class OneVsRestEstimator(DrawsEstimator):
    """Adds one-vs-rest models to an estimator that can make samplers of several responses."""

    classes_: np.ndarray

    # of the estimator: the same model of each response; attributes made of those of the members
    _make_samplers: Any
    _combine_attributes: Any

    def _fit_one_vs_rest(
        self, X: np.ndarray, codes: np.ndarray, likelihood: Likelihood, plan: Plan
    ) -> None:
        """Sample the posterior of each class against the rest, and keep all."""
        responses = responses_one_vs_rest(codes, len(self.classes_))
        self._run_one_vs_rest(self._make_samplers(X, responses, likelihood), codes, plan)

    def _run_one_vs_rest(self, samplers: list[Any], codes: np.ndarray, plan: Plan) -> None:
        """Run the samplers of the classes, in their order."""
        responses = responses_one_vs_rest(codes, len(samplers))
        runs = self._sample(samplers, plan)
        members = []
        for run, sampler, response in zip(runs, samplers, responses, strict=True):
            member = copy.copy(self)
            for name in _NOT_COPIED:
                member.__dict__.pop(name, None)
            member.classes_ = np.array([False, True])
            member._record(run, sampler, response)
            member.diagnostics_ = summarize_scalars(member._scalars)
            members.append(member)
        self._keep_members(members, codes)

    def _keep_members(self, members: list[Any], codes: np.ndarray) -> None:
        self.__dict__.pop("_posterior_tree", None)
        first = members[0]
        self._limits = first._limits
        self.estimators_ = members
        self._draws = OneVsRestPosterior(tuple(member._draws for member in members))
        # the rows that made the likelihood need not be all: take their classes from the members
        used = np.argmax([member._training[1] for member in members], axis=0)
        self._training = (first._training[0], used.astype(np.float64))
        self._monitored_rows = first._monitored_rows
        self._scalars = {
            _with_class(name, label): values
            for label, member in zip(self.classes_, members, strict=True)
            for name, values in member._scalars.items()
        }
        self._traces = {
            name: [
                _total(traces) for traces in zip(*(m._traces[name] for m in members), strict=True)
            ]
            for name in first._traces
        }
        self.n_draws_ = first.n_draws_
        self.active_probabilities_ = self._draws.active_probabilities(len(codes))
        self.active_vectors_ = np.flatnonzero(self.active_probabilities_)
        self.acceptance_rates_ = {
            name: float(np.mean([member.acceptance_rates_.get(name, np.nan) for member in members]))
            for name in first.acceptance_rates_
        }
        self._combine_attributes(members)
        self.diagnostics_ = pd.concat([member.diagnostics_ for member in members])
        self.diagnostics_.index = pd.Index(list(self._scalars), name="quantity")
        self._warn_about_convergence()

    def _make_tree(self, pointwise: bool = True) -> Any:
        if not isinstance(self._draws, OneVsRestPosterior):
            return super()._make_tree(pointwise)
        import xarray as xr
        from arviz_base import from_dict

        trees = [member._make_tree(pointwise=False) for member in self.estimators_]
        together = {
            group: xr.concat(
                [tree[group].to_dataset() for tree in trees],
                dim=xr.IndexVariable("class", self.classes_),
                join="outer",
                fill_value={"training_row": -1, "feature": -1} | dict.fromkeys(_ABSENT, 0.0),
            ).transpose("chain", "draw", ..., "class")
            for group in trees[0].children
            if group.startswith(("posterior", "sparse"))
        }
        values = {"observed_data": {"y": self._training[1]}}
        if pointwise and self._pointwise_is_small():
            values["log_likelihood"] = {"y": self.pointwise_log_likelihood()}
        rest = from_dict(values, dims={"y": ["row"]})
        return xr.DataTree.from_dict(
            together | {name: group.to_dataset() for name, group in rest.children.items()}
        )


def _with_class(name: str, label: Any) -> str:
    """Return the name of a scalar of one model: "scale" is "scale[a]", "p[3]" is "p[3, a]"."""
    base, bracket, index = name.partition("[")
    return f"{base}[{index[:-1]}, {label}]" if bracket else f"{base}[{label}]"


def _total(traces: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return the sum of traces, which differ in length after an interruption."""
    shortest = min(len(trace) for trace in traces)
    return np.sum([trace[:shortest] for trace in traces], axis=0)
