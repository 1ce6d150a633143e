"""What a kernel projection classifier decides beforehand: model, width, size and sharpness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..._jit import mark_compiled
from ...inference.chains.plan import Plan
from ...inference.kernel_projection.held_out import Part, predict_held_out, split_folds
from ...inference.kernel_projection.posterior import best_power, log_scores, sharpened
from ...inference.kernel_projection.projections import (
    KernelRows,
    Projection,
    kernel_rows,
    project_training,
)
from ...inference.kernel_projection.sampler import Priors
from ...inference.kernel_projection.utility import choose_size, even_split, utility_table
from ...kernels import Kernel, check_positive_definite, resolve_kernels
from ..shared.progress import TextProgress, announce_compilation, wants_text
from .choice import prefer_first, row_order, width_weights
from .parameters import pools_geometrically, search_plan

COMPONENTS = (50, 150)  # by default half of the rows, but so many at least and at most
# where the precision is diagonal more cost little, and labels as responses need them
LEAST_SQUARES_FACTOR = 2
# Folds are drawn anew several times and their scores averaged: which rows fall into the same fold
# is chance, and moves scores more than short chains do.
FOLDS, ROUNDS = 5, 3
FOLD_DRAWS, HALF_DRAWS = 100, 250  # of each chain on a fold, and on a half of the rows
SEED = 0
WIDTH_FACTORS = (0.4, 0.63, 1.0, 1.6, 2.5, 4.0)  # of the heuristic width, for length_scale="cv"
JITTER = 1e-8  # what a kernel matrix given by the user may lack of being positive definite
Source = Projection | KernelRows


@dataclass(frozen=True)
class Decisions:
    """What was decided on: the design, how sharp predictions are, and the tables behind it."""

    priors: Priors
    sources: tuple[Source, ...]
    power: float
    utility: pd.DataFrame | None
    widths: pd.DataFrame | None


@dataclass(frozen=True)
class Judged:
    """What folds say of one model: its width, its sharpness, and the log score of every row."""

    table: pd.DataFrame
    factor: float
    power: float
    scores: np.ndarray


class ProjectionSearch:
    """Decides by short chains on parts of the rows.

    Everything here follows from the rows alone: neither their order nor ``random_state``, which is
    for the draws, has a say in it. Nor have ``draws``, or a warm start would decide otherwise than
    the long run that it is to equal.

    Parameters
    ----------
    estimator : KernelProjectionClassifier
        Its parameters, checked.
    features : ndarray of shape (n, p)
        Training rows as the kernels see them, or their kernel matrix.
    labels : ndarray of shape (n,)
    n_classes : int
    candidates : tuple of Priors
        Of each model that may be chosen.
    """

    def __init__(
        self,
        estimator: Any,
        features: np.ndarray,
        labels: np.ndarray,
        n_classes: int,
        candidates: tuple[Priors, ...],
    ) -> None:
        self._estimator, self._features, self._labels = estimator, features, labels
        self._n_classes, self._candidates = n_classes, candidates
        self._seed = np.random.SeedSequence(SEED)
        self._rng = np.random.default_rng(self._seed.spawn(1)[0])

    # kernels and components

    def _rows(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        precomputed = self._estimator._is_precomputed()
        return self._features[np.ix_(rows, columns)] if precomputed else self._features[rows]

    def _kernels(self, features: np.ndarray, factor: float) -> tuple[Kernel, ...]:
        estimator = self._estimator
        width = estimator.length_scale
        named = isinstance(width, str) and width == "cv"
        names = getattr(estimator, "feature_names_in_", None)
        kernels = resolve_kernels(
            estimator.kernel, "mean_distance" if named else width, features, names
        )
        return tuple(
            kernel.with_length_scale(factor * kernel.length_scale) if kernel.stationary else kernel
            for kernel in kernels
        )

    def _sources(self, features: np.ndarray, factor: float, most: int) -> tuple[Source, ...]:
        kernels = self._kernels(features, factor)
        if not self._estimator.projection:
            return tuple(kernel_rows(kernel, features) for kernel in kernels)
        return tuple(project_training(kernel, features, most) for kernel in kernels)

    def _part(self, train: np.ndarray, test: np.ndarray, factor: float, most: int) -> Part:
        """Return one split, with its own centring and its own width."""
        sources = self._sources(self._rows(train, train), factor, most)
        new = self._rows(test, train)
        held = tuple(source.project(new)[0] for source in sources)
        # the sources, which hold rows with all their features, are not kept
        return Part(tuple(source.training for source in sources), self._labels[train], held)

    # decisions

    def decide(self) -> Decisions:
        """Return everything that is decided before sampling."""
        estimator = self._estimator
        for kernel in self._kernels(self._features, 1.0):
            self._features = check_positive_definite(kernel, self._features, JITTER)
        given = self._features
        order = row_order(given, self._labels, estimator._is_precomputed())
        self._features, self._labels = self._rows(order, order), self._labels[order]
        size, utility = None, None
        if estimator.n_components in ("utility", "log_score"):
            utility, size = self._choose_size()
        factors = WIDTH_FACTORS if self._searches_width() else (1.0,)
        priors, factor, power, widths = self._candidates[0], 1.0, estimator.sharpness, None
        if len(factors) > 1 or len(self._candidates) > 1 or power == "cv":
            rounds = [self._folds() for _ in range(ROUNDS)]
            judged = [self._judge(one, factors, rounds, size) for one in self._candidates]
            chosen = prefer_first([one.scores for one in judged])
            priors, best = self._candidates[chosen], judged[chosen]
            factor, power = best.factor, best.power
            widths = pd.concat([one.table for one in judged])
        sources = self._sources(given, factor, size or self._most(priors))
        return Decisions(priors, sources, float(power), utility, widths)

    def _folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return random folds: the rows to learn from, and to predict."""
        n = len(self._labels)
        return [
            (np.setdiff1d(np.arange(n), fold), fold)
            for fold in split_folds(self._labels, min(FOLDS, n), self._rng)
        ]

    def _searches_width(self) -> bool:
        estimator = self._estimator
        if not (isinstance(estimator.length_scale, str) and estimator.length_scale == "cv"):
            return False
        kernels = estimator.kernel if isinstance(estimator.kernel, list) else [estimator.kernel]
        parts = [part[0] if isinstance(part, tuple) else part for part in kernels]
        found = self._kernels(self._features, 1.0)
        return any(
            kernel.stationary and isinstance(part, str)
            for kernel, part in zip(found, parts, strict=True)
        )

    def _most(self, priors: Priors) -> int:
        asked = self._estimator.n_components
        if isinstance(asked, (int, np.integer)):
            return int(asked)
        times = LEAST_SQUARES_FACTOR if priors.model == "least_squares" else 1
        return times * int(np.clip(len(self._labels) // 2, *COMPONENTS))

    def _choose_size(self) -> tuple[pd.DataFrame, int]:
        estimator = self._estimator
        largest = 15 if estimator.max_components is None else estimator.max_components
        splits = [
            even_split(self._labels, self._rng)
            for _ in range(10 if estimator.n_splits is None else estimator.n_splits)
        ]
        whole = [self._part(train, test, 1.0, largest) for train, test in splits]
        smallest = min(max(columns.shape[1] for columns in part.columns) for part in whole)
        if smallest == 0:
            return pd.DataFrame(), largest
        sizes = np.arange(1, smallest + 1)
        found = self._predict(
            [part.leading(int(size)) for part in whole for size in sizes],
            self._candidates[0],
            "splits and sizes",
            search_plan(estimator, HALF_DRAWS),
        )
        accuracy = np.empty((len(splits), len(sizes)))
        scores = np.empty_like(accuracy)
        for number, probabilities in enumerate(found):
            split, place = divmod(number, len(sizes))
            truth = self._labels[splits[split][1]]
            accuracy[split, place] = np.mean(probabilities.argmax(axis=1) == truth)
            scores[split, place] = log_scores(probabilities, truth).mean()
        cost = None
        if estimator.n_components == "utility":
            cost = 1.0 if estimator.cost is None else float(estimator.cost)
        counts = np.array([sum(min(int(s), q.shape[1]) for q in whole[0].columns)
                           for s in sizes])  # fmt: skip
        n_train = np.array([len(train) for train, _ in splits], dtype=np.float64)
        table = utility_table(counts, accuracy, scores, n_train, cost)
        chosen = choose_size(table, estimator.selection_rule == "one_standard_error")
        return table, int(sizes[chosen])

    def _judge(
        self,
        priors: Priors,
        factors: tuple[float, ...],
        rounds: list[list[tuple[np.ndarray, np.ndarray]]],
        size: int | None,
    ) -> Judged:
        """Return how well held-out rows are predicted at every width, and by all of them."""
        most = size or self._most(priors)
        plan = search_plan(self._estimator, FOLD_DRAWS)
        together = np.empty((len(factors), len(rounds), len(self._labels), self._n_classes))
        for number, folds in enumerate(rounds):  # one at a time: parts are large
            parts = [self._part(*fold, factor, most) for factor in factors for fold in folds]
            what = f"folds, round {number + 1} of {len(rounds)}"
            found = iter(self._predict(parts, priors, what, plan))
            for place in range(len(factors)):
                for _, test in folds:
                    together[place, number, test] = next(found)
        asked = self._estimator.sharpness
        powers = np.array([
            best_power(predicted, self._labels) if asked == "cv" else float(asked)
            for predicted in together
        ])  # fmt: skip
        scores = np.array([
            log_scores(sharpened(predicted, power), self._labels).mean(axis=0)
            for predicted, power in zip(together, powers, strict=True)
        ])  # fmt: skip
        weights = width_weights(scores)
        table = pd.DataFrame(
            {
                "inference": priors.model,
                "sharpness": powers,
                "log_score": scores.mean(axis=1),
                "error": np.mean(together.argmax(axis=3) != self._labels, axis=(1, 2)),
                "weight": weights,
            },
            index=pd.Index(factors, name="factor"),
        )
        factor, power = (float(np.exp(weights @ np.log(values))) for values in (factors, powers))
        return Judged(table, factor, power, weights @ scores)

    def _predict(
        self, parts: list[Part], priors: Priors, what: str, plan: Plan
    ) -> list[np.ndarray]:
        estimator = self._estimator
        name = type(estimator).__name__
        text = None
        if wants_text(estimator.progress, bool(getattr(estimator, "_skl_callbacks", None))):
            text = TextProgress(f"{name}: {len(parts)} {what}", len(parts))
        engine = priors.engine
        if estimator.progress is not False:
            announce_compilation(name, [engine])

        def report(number: int, fraction: float) -> bool:
            if text is not None:
                text.update(number, fraction)
            return False

        try:
            found = predict_held_out(
                parts, self._n_classes, priors, plan, self._seed.spawn(1)[0],
                estimator.n_jobs, report, pools_geometrically(estimator, priors),
            )  # fmt: skip
        finally:
            if text is not None:
                text.close()
        mark_compiled(engine)
        return found
