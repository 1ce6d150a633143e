r"""The function along a few features, the other features averaged out, and its posterior draws.

The effect of features S at the value v is :math:`\frac1n\sum_if_t(v,x_{i,-S})`, draw by draw (the
partial dependence), or :math:`f_t(v,\tilde x_{-S})` at the medians of the other features. Only
public methods are asked: ``predict`` and ``sample_mean`` of regressors, ``predict_proba`` and
``sample_proba`` of classifiers, the latter two of the model at the end of a pipeline.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .._checks import check_choice
from ..composites import Composite, take_apart
from ..estimators import HybridSearchGPClassifier
from .effect_rows import Feature, Rows
from .figure_parts import class_column

_MOST_DRAWS = 400  # of the function; more do not change a band that can be seen
_MOST_VALUES = 20_000_000  # of the function, over all draws, rows and grid points
_LEAST_ROWS = 30  # averaged over, however fine the grid
_BLOCK_NUMBERS = 4_000_000  # held at once


class EffectModel:
    """What an effect plot asks of a fitted model, or of a pipeline that ends in one.

    Parameters
    ----------
    model : estimator
    target : label or int, optional
        Class, or number of the output.
    """

    def __init__(self, model: Any, target: Any) -> None:
        self.parts: Composite = take_apart(model)
        final = self.parts.final
        self.classifies = is_classifier(final)
        if not hasattr(type(final), "sample_proba" if self.classifies else "sample_mean"):
            raise TypeError(
                "model must be a regressor or classifier of this package, or a pipeline that ends "
                f"in one; got {type(model).__name__}."
            )
        check_is_fitted(final)
        if isinstance(getattr(final, "kernel", None), str) and final.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' sees no features: there is no effect to plot; fit a model "
                "with another kernel."
            )
        self.target = target
        self.column: int | None = None  # of the class or output; None: there is one only
        self.label = ""

    def resolve_target(self, row: Any) -> None:
        """Find the class or output to show; ``row`` is one row as the model takes it."""
        final, target = self.parts.final, self.target
        if self.classifies:
            self.column = class_column(final.classes_, target)
            self.label = f"Probability of class {final.classes_[self.column]}"
            return
        predicted = self.parts.whole.predict(row)
        what = "Mean of y, transformed back" if self.parts.responses else "Mean of y"
        if predicted.ndim == 1:
            if target is not None:
                raise ValueError(
                    f"target={target!r} names a class, but {type(final).__name__} is a regressor; "
                    "leave it out."
                )
            self.label = what
            return
        count = predicted.shape[1]
        if isinstance(target, bool) or not isinstance(target, (int, np.integer)):
            raise ValueError(
                f"target must be the number of an output, 0 to {count - 1}, got {target!r}: the "
                f"model has {count} outputs."
            )
        if not 0 <= target < count:
            raise ValueError(f"target must lie between 0 and {count - 1}, got {target!r}.")
        self.column, self.label = int(target), what.replace("y", f"output {target}", 1)

    def count_draws(self, row: Any) -> int:
        """Return how many draws there are."""
        return len(self._all_draws(row, 1))

    def predict(self, rows: Any) -> np.ndarray:
        """Return what the model predicts at rows, shape (n,)."""
        whole = self.parts.whole
        found = whole.predict_proba(rows) if self.classifies else whole.predict(rows)
        return found if self.column is None else found[:, self.column]

    def draws(self, rows: Any, thin: int) -> np.ndarray:
        """Return every ``thin``-th draw of the function at rows, shape (draws, n)."""
        found = self._all_draws(rows, thin)
        return found if self.column is None else found[:, :, self.column]

    def _all_draws(self, rows: Any, thin: int) -> np.ndarray:
        final, inputs = self.parts.final, self.parts.inputs(rows)
        if not self.classifies:
            return self.parts.in_units(final.sample_mean(inputs, thin=thin))
        if isinstance(final, HybridSearchGPClassifier):  # its plain draws are of single rows
            return final.sample_proba(inputs, thin=thin, joint=True)
        found = final.sample_proba(inputs, thin=thin)
        if hasattr(final, "sharpness_"):  # as predict_proba does
            found = found**final.sharpness_
            found /= found.sum(axis=2, keepdims=True)
        return found


def effect_draws(
    model: EffectModel, rows: Rows, features: list[Feature], points: list, others: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted effect at each point, and its draws of shape (draws, points).

    Parameters
    ----------
    model : EffectModel
    rows : Rows
        They say what the other features are.
    features : list of s Features
    points : list of tuples
        Values of these features.
    others : {"average", "median"}
    """
    check_choice("others", others, ("average", "median"))
    total = model.count_draws(rows.as_input(rows.frame[:1]))
    thin = max(1, -(-total // _MOST_DRAWS))
    n_draws = -(-total // thin)
    if others == "median":
        background = rows.medians()
    else:
        n = len(rows.frame)
        most = max(_LEAST_ROWS, _MOST_VALUES // (n_draws * len(points)))
        background = rows.frame.iloc[np.linspace(0, n - 1, min(most, n)).round().astype(np.intp)]
    n_classes = len(model.parts.final.classes_) if model.classifies else 1
    width = n_draws * n_classes + rows.frame.shape[1]
    step = max(1, _BLOCK_NUMBERS // (len(background) * width))
    line, draws = [], []
    for start in range(0, len(points), step):
        here = points[start : start + step]
        inputs = rows.placed(background, features, here)
        line.append(model.predict(inputs).reshape(len(here), -1).mean(axis=1))
        found = model.draws(inputs, thin)
        draws.append(found.reshape(len(found), len(here), -1).mean(axis=2))
    return np.concatenate(line), np.concatenate(draws, axis=1)
