"""Step sizes and everything else that adapts moves while a chain is tuned, and never afterwards.

A chain that keeps adapting to its own past has no invariant law; the error is far too small for a
comparison of moments, so that the state itself is looked at.
"""

from functools import partial

import doubly_sparse_setup as doubly_sparse
import family_setup as generalized
import numpy as np
import projection_setup as projections
import pytest
from doubly_sparse_setup import generators
from hybrid_setup import PRIOR, open_search

from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.doubly_sparse.active_subset import ActiveSubsetSampler
from sparsekern.inference.doubly_sparse.tempering import TemperedSampler
from sparsekern.inference.hybrid.comparator import sample_models
from sparsekern.inference.kernel_projection.sampler import Priors
from sparsekern.inference.moves.length_scale import SHARED
from sparsekern.likelihoods import Gaussian, Probit

N, TUNE, KEPT = 20, 64, 80
_RNG = np.random.default_rng(3)
FEATURES = _RNG.standard_normal((N, 3))
RESPONSE = np.sin(2 * FEATURES[:, 0]) + 0.3 * _RNG.standard_normal(N)
SIDE = np.where(RESPONSE > 0, 1.0, -1.0)
DOUBLY_SPARSE = doubly_sparse.MODEL | {"max_active": 8, "feature_probability": 0.6}
SLICES, SITES = "slice_width", ["sites", "site_sums", "site_counts"]

_make = partial(doubly_sparse.make_sampler, features=FEATURES, response=RESPONSE)
# a sampler, and what of its state adapts
SAMPLERS = {
    "generalized": (
        partial(generalized.make_sampler, Probit(), FEATURES, SIDE, width_mode=SHARED),
        [SLICES, "log_step", *SITES],
    ),
    "several kernels": (
        partial(
            generalized.make_sampler, Gaussian(), FEATURES, RESPONSE,
            kernel=["rbf", "matern32"], zero_probability=0.0, width_mode=SHARED,
        ),
        [SLICES, "log_step"],
    ),
    "doubly sparse": (
        partial(_make, Gaussian(), model=DOUBLY_SPARSE), [SLICES, "log_step", "steps"]
    ),
    "doubly sparse, probit": (
        partial(_make, Probit(), response=SIDE, model=DOUBLY_SPARSE),
        [SLICES, "log_step", "steps"],
    ),
    "tempered": (
        partial(
            _make, Gaussian(), model=DOUBLY_SPARSE,
            make=partial(TemperedSampler, temperatures=(1.0, 3.0)),
        ),
        [SLICES, "log_step", "steps"],
    ),
    "active subset": (
        partial(
            _make, Gaussian(), model=DOUBLY_SPARSE, make=partial(ActiveSubsetSampler, spike=0.05)
        ),
        ["log_step", "steps"],
    ),
    "projections": (
        partial(projections.make_sampler, Priors(model="polya_gamma")), ["curvature", "log_step"]
    ),
    "projections, latent noise": (
        partial(projections.make_sampler, Priors(model="latent_noise")), ["log_step"]
    ),
}  # fmt: skip
# entries of the widths and steps that belong to no move of this sampler
IDLE = {
    "several kernels": {SLICES: [2, 3]},
    "doubly sparse": {SLICES: [1, 2, 3, 4]},
    "doubly sparse, probit": {SLICES: [1, 2, 3, 4]},
    "tempered": {SLICES: [1, 2, 3, 4]},
    "projections, latent noise": {"log_step": [1]},
}


def _snapshots(sampler):
    """Return what the state holds at the start, after tuning and after the last kept sweep."""
    plan, rngs = Plan(TUNE, KEPT, 1), generators(1)
    state, draws = sampler.start(rngs[0], 1), sampler.allocate(plan)
    work, found = sampler.open(state), []
    for stop in (0, TUNE, plan.sweeps):
        sampler.advance(rngs, state, work, draws, stop, plan, stop == TUNE)
        found.append({name: value.copy() for name, value in state._asdict().items()})
    return found


@pytest.mark.parametrize("name", SAMPLERS)
def test_adaptation_ends_with_tuning(name):
    make, adapted = SAMPLERS[name]
    first, tuned, last = _snapshots(make())
    assert name != "generalized" or tuned["site_counts"][1] > 1  # the stand-in was made, and anew
    for part in adapted:
        busy = np.delete(first[part] != tuned[part], IDLE.get(name, {}).get(part, []), axis=-1)
        if part not in ("site_sums", "site_counts", "steps"):  # sums are cleared once they are used
            assert busy.all(), f"{part} did not adapt: {first[part]} {tuned[part]}"
        np.testing.assert_array_equal(tuned[part], last[part], err_msg=f"{part} is not frozen")
    moving = set(first) - {"precision", "parameters", "noise", "share", "included", "used", "slab"}
    moving -= {"response", *adapted, *SITES, SLICES, "log_step", "steps", "curvature"}
    same = {part for part in moving if np.array_equal(tuned[part], last[part])}
    assert len(moving - same) >= 5, f"the chain stands still: {same}"


def test_comparator_of_the_hybrid_search_stops_adapting():
    """Its step sizes are the same however many sweeps are kept after tuning."""
    search = open_search((FEATURES, RESPONSE - RESPONSE.mean()))
    shapes, rates = (np.ascontiguousarray(part) for part in np.array(PRIOR).T)
    found = []
    for kept in (0, 30):
        included, u, steps = np.array([1, 0, 0]), np.zeros(3), np.full(3, -1.0)
        sample_models(
            np.random.default_rng(2), search.describe([()]), search.graph, included, u,
            np.zeros(4), shapes, rates, steps, 40, np.zeros((kept, 3), np.int8),
            np.zeros((kept, 3)), 0, 40 + kept,
        )  # fmt: skip
        found.append(steps)
    assert (found[0] != -1.0).all()
    np.testing.assert_array_equal(*found)
