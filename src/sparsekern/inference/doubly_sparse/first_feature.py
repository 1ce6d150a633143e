"""Where a chain starts: the evidence of each feature on its own."""

from __future__ import annotations

import numpy as np

from ..._jit import jit
from ...bases.feature_columns import rebuild_features


@jit
def _fill(basis, factor, sums, bandwidth, out):
    basis.n_features[0] = 1
    basis.bandwidths[0] = bandwidth
    for feature in range(out.shape[0]):
        basis.features[0] = feature
        out[feature] = rebuild_features(basis, factor, sums)


def single_feature_evidence(work, bandwidth: float) -> np.ndarray:
    """Return the log evidence of a kernel of each feature alone, at the given bandwidth.

    ``work`` is a chain's workspace; the features of its state are overwritten.
    """
    out = np.empty(work.basis.columns.shape[0])
    _fill(work.basis, work.factor, work.sums, bandwidth, out)
    return out
