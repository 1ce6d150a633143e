r"""The hybrid search over feature sets.

The score of a model is :math:`S(\gamma)=\log\hat m(\gamma)+\log\pi(\gamma)` with
:math:`\pi(\gamma)=\binom p{|\gamma|}^{-\xi}` up to ``max_features``. A *plug-in* score keeps the
parameters of another model and costs one Cholesky factorisation; a whole neighbourhood of toggles
(and exchanges) is scored at once.

1. *Climb*: score all neighbours of the best model; fit in full, best first, those within
   :math:`\log c+12` of it; move at the first improvement; stop when there is none.
2. *Wander*: score the neighbours of a wandering model at the best model's parameters, fit the best
   few in full, step to a neighbour with probability proportional to its plug-in posterior. An
   improvement starts 1 again.
3. *Close*: score the neighbours of every model in the window at its own parameters and fit what
   may belong there, until nothing new does.

The models within :math:`\log c` of the best make the posterior, weights proportional to
:math:`e^S`. Every fit is remembered. All steps are deterministic given the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ..mcmc.feature_graph import FeatureGraph
from ._contract import Backend, Batch
from .evidence import ParameterPrior, fit_batch

Features = tuple[int, ...]
_CLOSING_SLACK = 4.0  # plug-in scores of the last step are made at parameters of their own


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
    close: bool = True
    max_models: int = 100
    memo: bool = True


@dataclass
class HybridSearch:
    """A search under way: the data, the settings, and everything fitted so far.

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
    rng : Generator
    report : callable, optional
        Called as ``report(best)`` after each neighbourhood; a true value ends the search.
    """

    backend: Backend
    columns: np.ndarray
    response: np.ndarray
    kind: int
    shared: bool
    settings: SearchSettings
    graph: FeatureGraph
    rng: np.random.Generator
    report: Callable[[FittedModel], bool] | None = None
    fitted: dict[Features, FittedModel] = field(default_factory=dict)
    neighbourhoods: dict[tuple[Features, Features, bytes], np.ndarray] = field(default_factory=dict)
    path: list[tuple[str, FittedModel]] = field(default_factory=list)
    n_fits: int = 0
    n_plug_ins: int = 0
    stopped: bool = False

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

    def _start(self, model: Features, near: FittedModel | None) -> np.ndarray:
        """Return parameters to start from: those of a neighbour where they fit."""
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

    def fit(self, models: list[Features], near: FittedModel | None = None) -> list[FittedModel]:
        """Fit models in full, those that are known already excepted, and return all of them."""
        known = self.fitted if self.settings.memo else {}
        groups: dict[int, list[Features]] = {}
        for model in dict.fromkeys(model for model in models if model not in known):
            groups.setdefault(self.n_bandwidths(len(model)), []).append(model)
        for group in groups.values():
            start = np.array([self._start(model, near) for model in group])
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

    @property
    def best(self) -> FittedModel:
        """The model of largest score; ties go to the one fitted first."""
        return max(self.fitted.values(), key=lambda model: model.score)

    # neighbourhoods

    def changes(self, model: Features) -> np.ndarray:
        """Return every toggle, and every exchange along the graph, as (out, in)."""
        inside = set(model)
        listed = [(j, -1) for j in model]
        if len(model) < self.settings.max_features:
            listed += [(-1, j) for j in range(len(self.columns)) if j not in inside]
        starts, neighbors = self.graph
        for i in model:
            near = neighbors[starts[i] : starts[i + 1]]
            listed += [(i, int(j)) for j in near if int(j) not in inside]
        return np.array(listed, dtype=np.int64).reshape(-1, 2)

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

    # the three steps

    def run(self, starts: list[Features]) -> None:
        """Search from each of the models given."""
        for start in starts:
            (model,) = self.fit([start])
            self._note("start", model)
            self._improve(model)
        while self.settings.close and not self.stopped and self._close():
            self._improve(self.best)

    def _note(self, step: str, model: FittedModel) -> None:
        self.path.append((step, model))
        if self.report is not None and self.report(model):
            self.stopped = True

    def _improve(self, model: FittedModel) -> None:
        best = self._climb(model)
        while not self.stopped:
            better = self._wander(best)
            if better is None:
                return
            best = self._climb(better)

    def _climb(self, best: FittedModel) -> FittedModel:
        threshold = np.log(self.settings.window) + self.settings.slack
        while not self.stopped:
            changes, scores = self.score_changes(best.features, best)
            order = np.argsort(-scores[:-1], kind="stable")
            order = order[scores[order] > scores[-1] - threshold]
            better = None
            for first in range(0, len(order), self.backend.together):
                block = [
                    self.changed(best.features, changes[place])
                    for place in order[first : first + self.backend.together]
                ]
                leader = max(self.fit(block, best), key=lambda model: model.score)
                if leader.score > best.score:
                    better = leader
                    break
            if better is None:
                return best
            best = better
            self._note("climb", best)
        return best

    def _wander(self, best: FittedModel) -> FittedModel | None:
        walker = best.features
        for _ in range(self.settings.n_wander):
            if self.stopped:
                return None
            changes, scores = self.score_changes(walker, best)
            if len(changes) == 0:  # no feature may be in a model
                return None
            scores = scores[:-1]
            top = np.argsort(-scores, kind="stable")[: self.settings.n_refine]
            near = [self.changed(walker, changes[place]) for place in top]
            leader = max(self.fit(near, best), key=lambda model: model.score)
            if leader.score > best.score:
                self._note("wander", leader)
                return leader
            weights = np.exp(scores - scores.max())
            step = self.rng.choice(len(weights), p=weights / weights.sum())
            walker = self.changed(walker, changes[step])
            self._note("wander", best)
        return None

    def _close(self) -> bool:
        """Score the neighbours of the window's models; return whether a better one was found."""
        best = self.best
        reach = np.log(self.settings.window)
        seen: set[Features] = set()
        while len(seen) < self.settings.max_models and not self.stopped:
            waiting = [m for m in self.window() if m.features not in seen]
            if not waiting:
                return False
            model = waiting[0]
            seen.add(model.features)
            changes, scores = self.score_changes(model.features, model)
            hoped = model.score + scores[:-1] - scores[-1]
            order = np.argsort(-hoped, kind="stable")
            order = order[hoped[order] > best.score - reach - _CLOSING_SLACK]
            for first in range(0, len(order), self.backend.together):
                near = [
                    self.changed(model.features, changes[place])
                    for place in order[first : first + self.backend.together]
                ]
                self.fit(near, model)
            self._note("close", self.best)
            if self.best.score > best.score:
                return True
        return False

    def window(self) -> list[FittedModel]:
        """Return the models within the window, best first."""
        lowest = self.best.score - np.log(self.settings.window)
        inside = [model for model in self.fitted.values() if model.score >= lowest]
        return sorted(inside, key=lambda model: (-model.score, model.features))
