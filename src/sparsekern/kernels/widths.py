"""Width heuristics: typical distances between training rows."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

_MOST_ROWS = 2000  # two million pairs settle a mean or a median to well under one per cent


def distance_scale(features: np.ndarray, statistic: str, metric: str = "euclidean") -> float:
    """Return the mean or median distance between distinct training rows.

    Beyond 2,000 rows an evenly spread subset stands for all. Where every row is the same point
    no distance says anything about scale, and 1 is returned.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    statistic : {"mean_distance", "median_distance"}
    metric : str, default="euclidean"
        Any metric of :func:`scipy.spatial.distance.pdist`.
    """
    rows = len(features)
    if rows > _MOST_ROWS:
        features = features[np.linspace(0, rows - 1, _MOST_ROWS).astype(np.int64)]
    # near the limits of floating point a squared distance overflows or vanishes
    size = float(np.abs(features).max()) if features.size else 1.0
    size = size if size > 0 else 1.0
    distances = pdist(features / size, metric)
    if statistic == "median_distance":
        distances = distances[distances > 0]  # repeated rows must not pull the median to zero
    if not distances.size:
        return 1.0
    value = float(np.mean(distances) if statistic == "mean_distance" else np.median(distances))
    return value * size if value > 0 else 1.0
