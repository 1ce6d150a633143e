r"""The hybrid search over feature sets, by scores as in :mod:`.scoring`.

1. *Climb*: score all neighbours of the best model; fit in full, best first, those within
   :math:`\log c+12` of it; move at the first improvement. Where there is none, add two features at
   once that may matter only together (:mod:`..feature_search.pairs`); stop if that does not improve
   either.
2. *Wander*: score the neighbours of a wandering model at the best model's parameters, fit the best
   few in full, if within the same distance of the best model; step to a neighbour with probability
   proportional to its plug-in posterior. An improvement starts 1 again. With ``refit_drift`` a
   model three features away from the best one or further has parameters of its own.
3. *Close*: score the neighbours of every model in the window at its own parameters and fit what
   may belong there, until nothing new does.

If the best model is *rough*, with a bandwidth far below the distances of the data, another climb is
made through smooth functions: where few features with a narrow kernel stand in for many, no single
change at narrow parameters improves, and climbs from all starts may end there.

The model without features is always fitted, and climbed from if nothing better was found: at the
parameters of a rough function with little noise it scores so badly that no step would try it.

The models within :math:`\log c` of the best make the posterior, weights proportional to
:math:`e^S`. Every fit is remembered. All steps are deterministic given the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..feature_search.graph import MOST_FEATURES
from ..feature_search.pairs import promising_pairs, rank_polynomials
from .scoring import Features, FittedModel, ModelScores
from .smooth_climb import climb_smoothly, is_rough

# How far beyond the window a plug-in score of the last step may lie. It is made at parameters of
# its own: a full fit raises it by .5 in the median and by 2 in 95 of 100 cases. What 2 misses has
# little weight at the edge of a wide window, but might have some at that of a narrow one.
_CLOSING_SLACK = 2.0
_LEAST_REACH = float(np.log(20.0)) + 4.0
_DRIFT = 3  # features by which a model has wandered off
_PAIRS = 16  # of each list, added where no single change improves
_SHIFTS = (0.0, -1.0, -2.0)  # of log bandwidths, at which pairs are scored
_CLOSING_BATCH = 128  # fits of the last step made at a time: none of them decides about the others


@dataclass
class HybridSearch(ModelScores):
    """A search under way.

    Parameters
    ----------
    backend, columns, response, kind, shared, settings, graph
        As for :class:`.scoring.ModelScores`.
    rng : Generator
    report : callable, optional
        Called as ``report(best)`` after each neighbourhood; a true value ends the search.
    """

    rng: np.random.Generator
    report: Callable[[FittedModel], bool] | None = None
    path: list[tuple[str, FittedModel]] = field(default_factory=list)
    stopped: bool = False
    paired: set[Features] = field(default_factory=set)

    def run(self, starts: list[Features]) -> None:
        """Search from each of the models given."""
        for start in starts:
            (model,) = self.fit([start])
            self._note("start", model)
            self._improve(model)
        (empty,) = self.fit([()])
        if empty is self.best:
            self._note("start", empty)
            self._improve(empty)
        if is_rough(self, self.best) and not self.stopped:
            smooth = climb_smoothly(self)
            self.fitted.setdefault(smooth.features, smooth)
            self._note("start", self.fitted[smooth.features])
            self._improve(self.fitted[smooth.features])
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

    @property
    def _threshold(self) -> float:
        """How far a plug-in score may lie below that of the best model to be worth a full fit."""
        return float(np.log(self.settings.window) + self.settings.slack)

    def _climb(self, best: FittedModel) -> FittedModel:
        while not self.stopped:
            changes, scores = self.score_changes(best.features, best)
            order = np.argsort(-scores[:-1], kind="stable")
            order = order[scores[order] > scores[-1] - self._threshold]
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
                better = self._pair_up(best, changes, scores)
            if better is None:
                return best
            best = better
            self._note("climb", best)
        return best

    def _pair_up(
        self, best: FittedModel, changes: np.ndarray, scores: np.ndarray
    ) -> FittedModel | None:
        """Return the best model with two features more, if it is better."""
        room = self.settings.max_features - len(best.features)
        if not self.settings.pairs or room < 2 or self.stopped or best.features in self.paired:
            return None
        self.paired.add(best.features)
        added = np.flatnonzero((changes[:, 0] < 0) & (changes[:, 1] >= 0))
        if len(added) > MOST_FEATURES:
            added = added[np.argsort(-scores[added], kind="stable")[:MOST_FEATURES]]
        others = np.sort(changes[added, 1])
        workers = self.backend.workers
        polynomials = rank_polynomials(self.columns[others], workers)
        open_blocks = self.backend.blocks_of_pairs
        pairs = promising_pairs(polynomials, self.slope(best), _PAIRS, workers, open_blocks)
        models = [tuple(sorted({*best.features, int(i), int(j)})) for i, j in others[pairs]]
        if not models:
            return None
        # the parameters of the empty model are those of noise alone
        near = best if best.features else None
        # what matters only together is often rougher than what was found before
        hopes = np.array([self.score_at_start(models, near, shift) for shift in _SHIFTS])
        top = np.argsort(-hopes.max(axis=0), kind="stable")[: self.settings.n_refine]
        chosen = np.argmax(hopes[:, top], axis=0)
        fits = [best]
        for number, shift in enumerate(_SHIFTS):
            fits += self.fit([models[place] for place in top[chosen == number]], near, shift)
        leader = max(fits, key=lambda model: model.score)
        return None if leader is best else leader

    def _wander(self, best: FittedModel) -> FittedModel | None:
        walker = best.features
        least = best.log_likelihood + self.log_prior(len(walker)) - self._threshold
        for _ in range(self.settings.n_wander):
            if self.stopped:
                return None
            at = best
            if self.settings.refit_drift and len(set(walker) ^ set(best.features)) >= _DRIFT:
                (at,) = self.fit([walker], best)
            changes, scores = self.score_changes(walker, at)
            if len(changes) == 0:  # no feature may be in a model
                return None
            scores = scores[:-1]
            top = np.argsort(-scores, kind="stable")[: self.settings.n_refine]
            near = [self.changed(walker, changes[place]) for place in top if scores[place] > least]
            leader = max(self.fit(near, at), key=lambda model: model.score, default=best)
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
        reach = max(np.log(self.settings.window) + _CLOSING_SLACK, _LEAST_REACH)
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
            order = order[hoped[order] > best.score - reach]
            for first in range(0, len(order), _CLOSING_BATCH):
                near = [
                    self.changed(model.features, changes[place])
                    for place in order[first : first + _CLOSING_BATCH]
                ]
                self.fit(near, model)
            self._note("close", self.best)
            if self.best.score > best.score:
                return True
        return False
