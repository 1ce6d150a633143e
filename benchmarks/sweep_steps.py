"""The steps of one sweep as separate compiled calls, in the order of ``gibbs.sweep_once``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from our_sampler import OurChains

from sparsekern.inference.generalized_kernel.sweep import (
    FUNCTION_SCALE_EVERY,
    JOINT_EVERY,
    store_draw,
)
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.inference.moves.function_scale import move_function_scale
from sparsekern.inference.moves.scales import DIRECTIONS, slice_scales
from sparsekern.inference.moves.stand_in import move_through_stand_in
from sparsekern.likelihoods.probit import rescale_latents, scan_latents
from sparsekern.linalg.factor_columns import refresh_cross
from sparsekern.linalg.triangular import dot
from sparsekern.linalg.whitened_factor import refactor
from sparsekern.linalg.whitened_response import hat_rows

Step = tuple[str, Callable[..., Any], tuple[Any, ...], int]  # the last: sweeps between two


@numba.njit
def do_nothing(rng, factor):
    """Cost what it costs to hand over a generator (most of it) and a factor."""
    return 0


@numba.njit(error_model="numpy")
def _make_hat(factor, memory, diagonal):
    hat = hat_rows(factor, memory.hat)
    for i in range(hat.shape[0]):
        most = 1.0 + factor.variances[0] + factor.variances[1] * diagonal[0, i]
        memory.free[i] = max(1.0 - dot(hat[i], hat[i], hat.shape[1]), 1.0 / most)


@numba.njit(error_model="numpy")
def _scan(rng, factor, memory, side, scans):
    n, size = side.shape[0], factor.n_active[0] + 1
    hat = memory.hat[: n * size].reshape(n, size)
    response, projected = factor.response[0], factor.projected[0]
    for _ in range(scans):
        scan_latents(rng, response, projected, hat, memory.free, side)
        rescale_latents(rng, factor)


@numba.njit(error_model="numpy")
def _refresh(factor):
    refresh_cross(factor)
    refactor(factor)


def list_steps(chains: OurChains) -> list[Step]:
    """Return (name, compiled function, arguments, period) of each step of the first chain."""
    chain, work, sampler = chains.chains[0], chains.workspaces[0], chains.sampler
    rng, state, factor, settings = chain.rngs[0], chain.state, work.factor, sampler.settings
    slices: list[Step] = [
        (
            name,
            slice_scales,
            (rng, factor, sampler.prior, DIRECTIONS[d], float(state.slice_width[d]), work.root,
             work.projected),
            1,
        )
        for d, name in enumerate(("slice of g", "slice of eta", "slice along the ridge"))
    ]  # fmt: skip
    move = (
        rng, factor, sampler.basis, state.length_scale, settings.log_weights, settings.candidates,
        settings.moves, np.zeros(0, np.int64), state.tallies,
    )  # fmt: skip
    memory = work.memory
    hat = (factor, memory, sampler.basis.diagonal)
    scan = (rng, factor, memory, work.data.side, settings.scans)
    size = (
        rng, factor, sampler.prior, work.data, float(state.slice_width[3]), memory.coefficients,
        memory.fitted,
    )  # fmt: skip
    joint = (
        rng, factor, work.stand_in, sampler.basis, state.length_scale, sampler.prior,
        settings.log_weights, settings.candidates, settings.joint_moves, 3 * settings.blocks,
        work.data, state.sites, state.slice_width, work.root, work.projected, memory.coefficients,
        memory.fitted, work.proposal, work.unused,
    )  # fmt: skip
    return [
        (f"{settings.moves} active-set moves", move_active_set, move, 1),
        *slices,
        ("refactor", refactor, (factor,), 1),
        ("hat rows and leverages", _make_hat, hat, 1),
        (f"{settings.scans} scans and radial moves", _scan, scan, 1),
        ("refresh of cross products", _refresh, (factor,), 1),
        (
            f"size of the function, 1 in {FUNCTION_SCALE_EVERY} sweeps",
            move_function_scale,
            size,
            FUNCTION_SCALE_EVERY,
        ),
        (f"joint move, 1 in {JOINT_EVERY} sweeps", move_through_stand_in, joint, JOINT_EVERY),
        ("stored draw", store_draw, (rng, state, work, settings, chain.draws, 0), 1),
    ]
