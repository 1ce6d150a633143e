"""The steps of one sweep as separate compiled calls, in the order of ``gibbs.sweep_once``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from our_sampler import OurChains

from sparsekern.inference.mcmc.active_set import move_active_set
from sparsekern.inference.mcmc.gibbs import store_draw
from sparsekern.inference.mcmc.scales import DIRECTIONS, slice_scales
from sparsekern.likelihoods.probit import rescale_latents, scan_latents
from sparsekern.linalg.triangular import dot
from sparsekern.linalg.whitened_factor import refactor, refresh_cross
from sparsekern.linalg.whitened_response import hat_rows

Step = tuple[str, Callable[..., Any], tuple[Any, ...]]


@numba.njit
def do_nothing(rng, factor):
    """Cost what it costs to hand over a generator (most of it) and a factor."""
    return 0


@numba.njit(error_model="numpy")
def _make_hat(factor, buffer, free, diagonal):
    hat = hat_rows(factor, buffer)
    for i in range(hat.shape[0]):
        most = 1.0 + factor.variances[0] + factor.variances[1] * diagonal[i]
        free[i] = max(1.0 - dot(hat[i], hat[i], hat.shape[1]), 1.0 / most)


@numba.njit(error_model="numpy")
def _scan(rng, factor, buffer, free, side, scans):
    n, size = side.shape[0], factor.n_active[0] + 1
    hat = buffer[: n * size].reshape(n, size)
    response, projected = factor.response[0], factor.projected[0]
    for _ in range(scans):
        scan_latents(rng, response, projected, hat, free, side)
        rescale_latents(rng, factor)


@numba.njit(error_model="numpy")
def _refresh(factor):
    refresh_cross(factor)
    refactor(factor)


def list_steps(chains: OurChains) -> list[Step]:
    """Return (name, compiled function, arguments) of each step of the first chain."""
    chain, work, sampler = chains.chains[0], chains.workspaces[0], chains.sampler
    rng, state, factor, settings = chain.rngs[0], chain.state, work.factor, sampler.settings
    slices: list[Step] = [
        (
            name,
            slice_scales,
            (rng, factor, sampler.prior, DIRECTIONS[d], float(state.slice_width[d]), work.root,
             work.projected),
        )
        for d, name in enumerate(("slice of g", "slice of eta", "slice along the ridge"))
    ]  # fmt: skip
    move = (
        rng, factor, sampler.basis, state.length_scale, settings.log_weights, settings.moves,
        np.zeros(0, np.int64), state.tallies,
    )  # fmt: skip
    hat = (factor, work.hat, work.free, sampler.basis.diagonal)
    scan = (rng, factor, work.hat, work.free, settings.side, settings.scans)
    return [
        (f"{settings.moves} active-set moves", move_active_set, move),
        *slices,
        ("refactor", refactor, (factor,)),
        ("hat rows and leverages", _make_hat, hat),
        (f"{settings.scans} scans and radial moves", _scan, scan),
        ("refresh of cross products", _refresh, (factor,)),
        ("stored draw", store_draw, (rng, state, work, settings, chain.draws, 0)),
    ]
