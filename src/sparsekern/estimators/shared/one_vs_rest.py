"""More than two classes by one two-class model for each, the chains of all run side by side."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd

from ...inference.chains.plan import Plan
from ...inference.diagnostics import summarize_scalars
from ...likelihoods._contract import Likelihood
from ...posteriors.one_vs_rest import SampledOneVsRest
from .class_face import responses_one_vs_rest
from .draws import ExpansionEstimator

# what belongs to the fit under way or to the whole, not to the model of one class
_NOT_COPIED = ("_callback_fit_ctx", "_skl_callbacks", "_skl_callbacks_to_teardown", "_chains",
               "_posterior_tree", "estimators_")  # fmt: skip


class OneVsRestEstimator(ExpansionEstimator):
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
        self._run_one_vs_rest(self._make_samplers(X, responses, likelihood), plan)

    def _run_one_vs_rest(self, samplers: list[Any], plan: Plan) -> None:
        """Run the samplers of the classes, in their order."""
        members = []
        runs = self._sample(samplers, plan)
        for run, sampler, label in zip(runs, samplers, self.classes_, strict=True):
            member = copy.copy(self)
            for name in _NOT_COPIED:
                member.__dict__.pop(name, None)
            member.classes_ = np.array([False, True])
            member._names = self._names.of_class(label)
            member._set_posterior(self._collect(run, sampler, member._names))
            member.diagnostics_ = summarize_scalars(member._scalars)
            members.append(member)
        self.estimators_ = members
        self._set_posterior(
            SampledOneVsRest.of([member._posterior for member in members], self._names)
        )
        self.diagnostics_ = pd.concat([member.diagnostics_ for member in members])
        self.diagnostics_.index = pd.Index(list(self._scalars), name="quantity")
        self._warn_about_convergence()

    def _set_attributes(self) -> None:
        if isinstance(self._posterior, SampledOneVsRest):
            self._combine_attributes(self.estimators_)
        else:
            super()._set_attributes()
