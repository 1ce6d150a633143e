"""What a state without auxiliary variables is, in one array: to go back to it."""

from __future__ import annotations

from ..._jit import jit


@jit
def pack_state(state, packed):
    """Write a state to an array of :func:`packed_size` numbers."""
    packed[0], packed[1] = state.n_active[0], state.n_features[0]
    begin = 2
    for part in (
        state.variances, state.bandwidths, state.response[0], state.precision, state.function,
    ):  # fmt: skip
        packed[begin : begin + part.shape[0]] = part
        begin += part.shape[0]
    for part in (state.rows, state.features):
        packed[begin : begin + part.shape[0]] = part
        begin += part.shape[0]


@jit
def unpack_state(packed, state):
    """Make a state what it was when it was packed."""
    state.n_active[0], state.n_features[0] = int(packed[0]), int(packed[1])
    begin = 2
    for part in (
        state.variances, state.bandwidths, state.response[0], state.precision, state.function,
    ):  # fmt: skip
        part[:] = packed[begin : begin + part.shape[0]]
        begin += part.shape[0]
    for whole in (state.rows, state.features):
        for place in range(whole.shape[0]):
            whole[place] = int(packed[begin + place])
        begin += whole.shape[0]


@jit
def packed_size(state):
    """Return how many numbers a state takes."""
    size = 4 + 2 * state.features.shape[0] + state.rows.shape[0] + state.function.shape[0]
    return size + 2 * state.precision.shape[0]
