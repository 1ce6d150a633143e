"""Which training rows may become active."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from ...posteriors.row_map import RowMap
from ...settings.limits import check_count

_PASSES = 3  # over the data; the centres only have to spread


def resolve_candidates(
    value: Any,
    features: np.ndarray,
    precomputed: bool,
    rng: np.random.RandomState,
    row_map: RowMap | None = None,
) -> np.ndarray | None:
    """Return sorted row indices, or None for all rows.

    A number asks for that many rows, those nearest to the centres of a k-means clustering; an array
    names the rows, of the user's where ``row_map`` tells these from ``features``.
    """
    n = len(features)
    if value is None:
        return None
    if np.ndim(value) == 0:
        count = check_count("candidates", value)
        if count >= n:
            return None
        if precomputed:
            raise ValueError(
                f"candidates={value!r} needs the features of the rows for its clustering, which "
                "kernel='precomputed' does not give; name the rows by an array of indices."
            )
        clustering = MiniBatchKMeans(
            count, batch_size=max(1024, 3 * count), max_iter=_PASSES, n_init=1, random_state=rng
        )
        centres = clustering.fit(np.ascontiguousarray(features)).cluster_centers_
        return np.unique(pairwise_distances_argmin(centres, np.ascontiguousarray(features)))
    rows = np.asarray(value)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) == 0:
        raise ValueError(
            f"candidates must be None, a number of rows or an array of row indices; got {value!r}."
        )
    if row_map is not None:
        n = len(row_map.alike)
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(
            f"candidates must lie between 0 and {n - 1}, the training rows; got values from "
            f"{rows.min()} to {rows.max()}."
        )
    if row_map is None:
        return np.unique(rows).astype(np.int64)
    found = row_map.named(rows)
    if len(found) == 0:
        raise ValueError("sample_weight is zero in every row of candidates; name other rows.")
    return found
