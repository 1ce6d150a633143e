r"""Scores of feature sets: by full fits, which are remembered, and at parameters of other models.

The score of a model is :math:`S(\gamma)=\log\hat m(\gamma)+\log\pi(\gamma)` with
:math:`\pi(\gamma)=\binom p{|\gamma|}^{-\xi}` up to ``max_features``. A *plug-in* score keeps the
parameters of another model and costs one Cholesky factorisation; a whole neighbourhood of toggles
(and exchanges) is scored at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ...kernels.evaluate import LAPLACIAN
from ..feature_search.graph import FeatureGraph
from ._contract import Backend, Batch
from .evidence import ParameterPrior, fit_batch

Features = tuple[int, ...]


class FittedModel(NamedTuple):
    """A feature set and its fit."""

    features: Features
    score: float
    log_evidence: float
    log_likelihood: float
    parameters: np.ndarray
    hessian: np.ndarray
    doubtful: bool


@dataclass(frozen=True)
class SearchSettings:
    """How to search.

    Attributes
    ----------
    prior : ParameterPrior
    evidence : {"laplace", "bic"}
    max_features : int
    size_penalty : float
        The exponent xi of the model prior.
    window : float
        c: models less probable than the best by more than this factor are left out.
    slack : float
        Added to log c where plug-in scores decide what is fitted in full.
    n_wander : int
        Steps without an improvement after which wandering ends.
    n_refine : int
        Neighbours fitted in full at each step.
    refit_drift : bool
        Whether a model that has wandered off by three features or more has its neighbours scored
        at its own parameters in place of the best model's.
    pairs : bool
        Whether two features may be added at once.
    close : bool
        Whether step 3 is made.
    max_models : int
        Most models of the window whose neighbours are scored in step 3.
    memo : bool
        Whether what is fitted or scored is not computed again (False: for tests; the better one
        of two fits is kept).
    """

    prior: ParameterPrior
    evidence: str = "laplace"
    max_features: int = 10
    size_penalty: float = 1.0
    window: float = 20.0
    slack: float = 12.0
    n_wander: int = 20
    n_refine: int = 5
    refit_drift: bool = False
    pairs: bool = True
    close: bool = True
    max_models: int = 100
    memo: bool = True


@dataclass
class ModelScores:
    """The data, the settings, and everything fitted so far.

    Parameters
    ----------
    backend : Backend
    columns : ndarray of shape (p, n)
    response : ndarray of shape (n,)
    kind : int
        Code of the kernel.
    shared : bool
        Whether features share a bandwidth.
    settings : SearchSettings
    graph : FeatureGraph
        Features that are exchanged for each other; empty for none.
    """

    backend: Backend
    columns: np.ndarray
    response: np.ndarray
    kind: int
    shared: bool
    settings: SearchSettings
    graph: FeatureGraph
    fitted: dict[Features, FittedModel] = field(default_factory=dict, kw_only=True)
    neighbourhoods: dict[tuple[Features, Features, bytes], np.ndarray] = field(
        default_factory=dict, kw_only=True
    )
    n_fits: int = field(default=0, kw_only=True)
    n_plug_ins: int = field(default=0, kw_only=True)

    @cached_property
    def log_spread(self) -> float:
        """Log of the typical spread of a feature in the units of bandwidths: 0 for scaled data.

        Of standard deviations for the Laplacian kernel, of variances for the others; their median,
        and 0 if that is zero.
        """
        largest = np.abs(self.columns).max(axis=1, initial=0.0)
        wide = largest > 0.0
        spreads = np.zeros(len(largest))
        # scaled first: squares of what a float can hold need not be floats
        spreads[wide] = (self.columns[wide] / largest[wide, None]).std(axis=1) * largest[wide]
        typical = float(np.median(spreads)) if len(spreads) else 0.0
        if typical <= 0.0:
            return 0.0
        return (1.0 if self.kind == LAPLACIAN else 2.0) * float(np.log(typical))

    # models

    def log_prior(self, size: int) -> float:
        """Return log pi of a model of ``size`` features."""
        p = len(self.columns)
        if size > min(self.settings.max_features, p):
            return -np.inf
        ways = gammaln(p + 1) - gammaln(size + 1) - gammaln(p - size + 1)
        return float(-self.settings.size_penalty * ways)

    def describe(self, models: list[Features]) -> Batch:
        """Return models as a batch of problems."""
        width = max(1, max(len(model) for model in models))
        features = np.zeros((len(models), width), np.int64)
        for place, model in enumerate(models):
            features[place, : len(model)] = model
        counts = np.array([len(model) for model in models], np.int64)
        rows = np.arange(self.columns.shape[1])[None]
        return Batch(
            self.columns, self.kind, rows, self.response[None], features, counts, self.shared
        )

    def n_bandwidths(self, size: int) -> int:
        """Return the number of bandwidths of a model."""
        return min(size, 1) if self.shared else size

    def _start(self, model: Features, near: FittedModel | None, shift: float) -> np.ndarray:
        """Return parameters to start from: those of a neighbour where they fit.

        ``shift`` is added to the log bandwidths.
        """
        start = self._usual_start(model, near)
        start[1:-1] += shift
        return start

    def _usual_start(self, model: Features, near: FittedModel | None) -> np.ndarray:
        count = self.n_bandwidths(len(model))
        start = np.zeros(count + 2)
        start[1:-1] = np.log(2.0 * max(1, len(model)))  # the mean distance of scaled data
        start[-1] = np.log(0.3)
        if near is None:
            return start
        start[0], start[-1] = near.parameters[0], near.parameters[-1]
        if self.shared:
            if len(near.parameters) == len(start):
                start[:] = near.parameters
            return start
        known = dict(zip(near.features, near.parameters[1:-1], strict=True))
        usual = float(np.mean(near.parameters[1:-1])) if known else start[1]
        for place, feature in enumerate(model):
            start[1 + place] = known.get(feature, usual)
        return start

    def fit(
        self, models: list[Features], near: FittedModel | None = None, shift: float = 0.0
    ) -> list[FittedModel]:
        """Fit models in full, those that are known already excepted, and return all of them.

        They start from the parameters of ``near``, with ``shift`` added to the log bandwidths.
        """
        known = self.fitted if self.settings.memo else {}
        groups: dict[int, list[Features]] = {}
        for model in dict.fromkeys(model for model in models if model not in known):
            groups.setdefault(self.n_bandwidths(len(model)), []).append(model)
        for group in groups.values():
            start = np.array([self._start(model, near, shift) for model in group])
            fits = fit_batch(self.backend, self.describe(group), start, self.settings.prior)
            self.n_fits += len(group)
            for place, model in enumerate(group):
                evidence = float(fits.log_evidence[place])
                if self.settings.evidence == "bic":
                    m, n = start.shape[1], len(self.response)
                    evidence = float(fits.log_likelihood[place]) - 0.5 * m * np.log(n)
                fitted = FittedModel(
                    model, evidence + self.log_prior(len(model)), evidence,
                    float(fits.log_likelihood[place]), fits.parameters[place],
                    fits.hessian[place], bool(fits.doubtful[place]),
                )  # fmt: skip
                if model not in self.fitted or fitted.score > self.fitted[model].score:
                    self.fitted[model] = fitted
        return [self.fitted[model] for model in models]

    def score_at_start(
        self, models: list[Features], near: FittedModel | None, shift: float
    ) -> np.ndarray:
        """Return scores of models of one size at the parameters that fits would start from."""
        start = np.array([self._start(model, near, shift) for model in models])
        self.n_plug_ins += len(models)
        values = self.backend.log_likelihood(self.describe(models), start)
        return values + self.log_prior(len(models[0]))

    def slope(self, model: FittedModel) -> np.ndarray:
        """Return the slope of the log-likelihood at the function of a model, up to a factor."""
        batch = self.describe([model.features])
        points = self.columns[batch.features[0]].T
        latent, _ = self.backend.predict(batch, model.parameters[None, None], points[None])
        return self.backend.slope(self.response, latent[0, 0], float(model.parameters[-1]))

    @property
    def best(self) -> FittedModel:
        """The model of largest score; ties go to the one fitted first."""
        return max(self.fitted.values(), key=lambda model: model.score)

    # neighbourhoods

    def changes(self, model: Features) -> np.ndarray:
        """Return every toggle, and every exchange along the graph, as (out, in)."""
        inside = np.array(model, np.int64)
        listed: list[tuple[Any, Any]] = [(inside, np.int64(-1))]
        if len(model) < self.settings.max_features:
            listed.append((np.int64(-1), np.delete(np.arange(len(self.columns)), inside)))
        starts, neighbors = self.graph
        for i in inside:
            near = neighbors[starts[i] : starts[i + 1]]
            listed.append((i, near[~np.isin(near, inside)]))
        return np.vstack([np.column_stack(np.broadcast_arrays(*pair)) for pair in listed])

    def score_changes(self, model: Features, at: FittedModel) -> tuple[np.ndarray, np.ndarray]:
        """Return changes of ``model`` and their plug-in scores at the parameters of ``at``.

        The last entry of the scores is that of ``model`` itself.
        """
        changes = self.changes(model)
        key = (model, at.features, at.parameters.tobytes())
        if key not in self.neighbourhoods or not self.settings.memo:
            parameters, newcomer = self._plug(model, at)
            whole = np.vstack([changes, [[-1, -1]]])
            values = self.backend.toggles(self.describe([model]), parameters, whole, newcomer)
            self.n_plug_ins += len(whole)
            sizes = len(model) - (whole[:, 0] >= 0) + (whole[:, 1] >= 0)
            table = np.array([self.log_prior(size) for size in range(len(model) + 2)])
            self.neighbourhoods[key] = values + table[sizes]
        return changes, self.neighbourhoods[key]

    def _plug(self, model: Features, at: FittedModel) -> tuple[np.ndarray, float]:
        """Return the parameters of ``at`` as those of ``model``, and a newcomer's bandwidth."""
        usual = float(np.mean(at.parameters[1:-1])) if len(at.parameters) > 2 else np.log(2.0)
        count = self.n_bandwidths(len(model))
        parameters = np.full(count + 2, usual)
        parameters[0], parameters[-1] = at.parameters[0], at.parameters[-1]
        if not self.shared:
            known = dict(zip(at.features, at.parameters[1:-1], strict=True))
            for place, feature in enumerate(model):
                parameters[1 + place] = known.get(feature, usual)
        return parameters, usual

    @staticmethod
    def changed(model: Features, change: np.ndarray) -> Features:
        """Return the model after a change."""
        kept = set(model) - {int(change[0])}
        if change[1] >= 0:
            kept.add(int(change[1]))
        return tuple(sorted(kept))

    def window(self) -> list[FittedModel]:
        """Return the models within the window, best first."""
        lowest = self.best.score - np.log(self.settings.window)
        inside = [model for model in self.fitted.values() if model.score >= lowest]
        return sorted(inside, key=lambda model: (-model.score, model.features))
