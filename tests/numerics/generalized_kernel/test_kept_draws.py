"""Which sweeps are kept: draws are written when the plan counts them, neither before nor after."""

import numpy as np
import pytest
from doubly_sparse_setup import generators
from generalized_kernel.test_frozen_adaptation import SAMPLERS

from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.vector_machine.gibbs import GibbsSampler

PLAN = Plan(tune=4, draws=3, thin=3)
# an entry of the draws and what it is in the state of the sweep just done (others move on first)
SAME = {
    "generalized": ("variances", "variances"),
    "several kernels": ("length_scale", "length_scale"),
    "doubly sparse": ("variances", "variances"),
    "doubly sparse, probit": ("variances", "variances"),
    "projections": ("coefficients", "coefficients"),
    "projections, latent noise": ("coefficients", "coefficients"),
    "vector machine": ("intercept", "weight"),
}


def _vector_machine():
    rng = np.random.default_rng(0)
    design = np.vstack([np.ones(8), rng.standard_normal((5, 8))])
    return GibbsSampler(design, np.ones(5), np.sign(rng.standard_normal(8)), (1.0, 1.0), 1.0)


@pytest.mark.parametrize("name", [*SAMPLERS, "vector machine"])
def test_draws_are_written_in_their_sweep(name):
    sampler = SAMPLERS[name][0]() if name in SAMPLERS else _vector_machine()
    rngs = generators(2)
    state, draws = sampler.start(rngs[0], 1), sampler.allocate(PLAN)
    work = sampler.open(state)
    written = 0
    for sweep in range(1, PLAN.sweeps + 1):
        sampler.advance(rngs, state, work, draws, sweep, PLAN, sweep == 1)
        found = int(np.count_nonzero(draws.log_likelihood))
        assert found == PLAN.kept(sweep) == max(0, (sweep - 4) // 3)
        if found > written and name in SAME:
            ours, theirs = (getattr(*pair) for pair in zip((draws, state), SAME[name], strict=True))
            kept = ours[found - 1].ravel()
            np.testing.assert_array_equal(kept, theirs.ravel()[: len(kept)])
        written = found
    assert written == PLAN.draws
