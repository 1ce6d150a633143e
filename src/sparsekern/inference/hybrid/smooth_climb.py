r"""A climb through smooth functions, for searches that have ended in a rough one.

A kernel that is narrow against the distances of the data can stand in for features it does not
have: with two features and a narrow kernel the evidence may be larger than with any other two, and
at these parameters every further feature makes all rows strangers to each other. The climb here
starts without features, keeps the bandwidth of plug-in scores, and of the parameters that fits
start from, at the mean distance of the data or above, and does not step to rough models.
"""

from __future__ import annotations

import numpy as np

from .scoring import FittedModel, ModelScores

_ROUGH = 0.25  # of the mean squared distance


def _mean_distance(known: ModelScores, size: int) -> float:
    """Return the log of the mean distance over so many features, in the units of bandwidths."""
    return float(np.log(2.0 * max(1, size))) + known.log_spread


def is_rough(known: ModelScores, model: FittedModel) -> bool:
    """Return whether the bandwidths are far below the distances of the data."""
    bandwidths = model.parameters[1:-1]
    if len(bandwidths) == 0:
        return False
    least = _mean_distance(known, len(model.features)) + np.log(_ROUGH)
    return bool(np.mean(bandwidths) < least)


def climb_smoothly(known: ModelScores) -> FittedModel:
    """Return where the climb ends; ``known`` is the search, whose fits are not used."""
    scores = ModelScores(
        known.backend, known.columns, known.response, known.kind, known.shared, known.settings,
        known.graph,
    )  # fmt: skip
    (best,) = scores.fit([()])
    while True:
        smooth = _smoothed(known, best)
        changes, values = scores.score_changes(best.features, smooth)
        top = np.argsort(-values[:-1], kind="stable")[: known.settings.n_refine]
        near = scores.fit([scores.changed(best.features, changes[place]) for place in top], smooth)
        still_smooth = (model for model in near if not is_rough(known, model))
        leader = max(still_smooth, key=lambda model: model.score, default=best)
        if leader.score <= best.score:
            known.n_fits += scores.n_fits
            known.n_plug_ins += scores.n_plug_ins
            return best
        best = leader


def _smoothed(known: ModelScores, model: FittedModel) -> FittedModel:
    parameters = model.parameters.copy()
    least = _mean_distance(known, len(model.features) + 1)
    parameters[1:-1] = np.maximum(parameters[1:-1], least)
    return model._replace(parameters=parameters)
