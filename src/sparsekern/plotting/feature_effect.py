"""How the function depends on one feature, or on two."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._checks import check_count, check_share
from .effect_curves import draw_curves, draw_surface, mark_rows
from .effect_draws import EffectModel, effect_draws
from .effect_rows import Rows
from .figure_parts import finish, open_axes


def plot_feature_effect(
    model: Any,
    X: Any,
    feature: Any,
    *,
    grid_points: int | None = None,
    level: float = 0.95,
    others: str = "average",
    target: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the function along one feature with its credible band, or over two features.

    For a regressor the function is the mean of y, without noise; for a classifier it is the
    probability of a class. One feature: what the model predicts, and a band that holds the function
    at each value with posterior probability ``level``. Marks at the bottom are rows of X. A feature
    of at most ten values, or of categories, is shown at these, by points with bars: nothing lies
    between 0 and 1 of a binary feature. Two features: the prediction as colours, and the posterior
    standard deviation as dashed lines; dots are rows of X, away from which the function is
    extrapolated. If one of the two has few values, there is a curve with its band for each.

    Parameters
    ----------
    model : fitted regressor or classifier of this package, or a pipeline or search with one
        Features are then those of the pipeline, in the units of X.
    X : array-like of shape (n_samples, n_features)
        Rows, such as the training rows: they say what range the feature has and what the other
        features are. In a data frame columns may be categories, if a pipeline takes them.
    feature : int, str or a pair of them
        Index or name.
    grid_points : int, optional
        Values of a feature with more than ten, from its smallest to its largest in X; None: 50, and
        25 along each of two features.
    level : float, default=0.95
        Of the band.
    others : {"average", "median"}, default="average"
        Average the function over the other features as they are in the rows (the partial
        dependence; over evenly spaced rows if there are very many), or put them at their medians
        (categories: the most frequent one).
    target : label or int, optional
        Class whose probability is shown, by its label; None: the last one of two. For a regressor
        of several outputs the number of one.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
        With two features the colour bar is a further Axes of its figure.

    Notes
    -----
    The band is that of the curve given the rows of X, and pointwise: the whole curve leaves it more
    often. It means the same for all models. It comes from at most 400 draws of the function: by
    ``sample_mean`` or ``sample_proba``, which draw from the chains, from the models of a search, or
    from the (approximate) law of the weights. A hybrid search with local models (thousands of rows)
    has no draws of a function: its band of an average is wider than it should be.
    In a TransformedTargetRegressor the function is what its ``predict`` makes of the mean: no mean
    of y, if the transform is not linear.
    """
    level = check_share("level", level)
    asked = EffectModel(model, target)
    rows = Rows(model, X)
    asked.resolve_target(rows.as_input(rows.frame[:1]))
    given = list(feature) if isinstance(feature, (tuple, list, np.ndarray)) else [feature]
    number = 50 if len(given) == 1 else 25
    if grid_points is not None:
        number = check_count("grid_points", grid_points, 2)
    chosen = [rows.feature(item, number) for item in given]
    if not 1 <= len(chosen) <= 2 or len({item.index for item in chosen}) < len(chosen):
        raise ValueError(
            f"feature must be one feature or a pair of two different ones, got {feature!r}."
        )
    if len(chosen) == 2 and chosen[0].discrete and not chosen[1].discrete:
        chosen.reverse()  # the axis is for the one that has a curve
    points = list(product(*(item.grid for item in reversed(chosen))))  # the first one runs fastest
    points = [point[::-1] for point in points]
    line, draws = effect_draws(asked, rows, chosen, points, others)
    surface = len(chosen) == 2 and not chosen[1].discrete
    ax = open_axes(ax, 1, 1, figsize=(5.6, 4.2) if surface else (4.8, 3.6))[0, 0]
    label = asked.label
    if rows.frame.shape[1] > len(chosen):
        label += f"\n(others {'averaged' if others == 'average' else 'at their medians'})"
    ax.set_xlabel(chosen[0].label)
    if surface:
        draw_surface(ax, chosen, line, draws, label)
        ax.set_ylabel(chosen[1].label)
        mark_rows(ax, chosen, rows)
    else:
        draw_curves(ax, chosen, line, draws, level)
        mark_rows(ax, chosen[:1], rows)
        ax.set_ylabel(label)
        finish(ax)
    return ax
