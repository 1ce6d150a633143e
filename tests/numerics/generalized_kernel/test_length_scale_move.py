"""The length-scale move: the factor it leaves behind, its box, its step size."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis
from dense_model import covariance, gaussian_kernel, log_normal
from numpy.testing import assert_allclose, assert_array_equal

from sparsekern.inference.moves.length_scale import (
    PER_FEATURE,
    SHARED,
    adapt_step,
    move_length_scale,
)
from sparsekern.linalg.whitened_factor import empty_factor, log_evidence

N, P, JITTER, G, ETA = 25, 5, 1e-6, 0.4, 1.2
LIVE = ("prior_root", "whitened", "gram", "root", "cross", "projected")


def _problem():
    rng = np.random.default_rng(6)
    features = rng.standard_normal((N, P))
    latent = 1.5 * rng.standard_normal((1, N))
    basis = rbf_basis(features, JITTER)
    scale = rng.uniform(1.0, 3.0, P)
    factor = factor_at(basis, scale, rng.permutation(N)[:9], latent, G, ETA, 12)
    shared = ("n_active", "rows", "response", "variances")
    spare = empty_factor(N, 12)._replace(**{name: getattr(factor, name) for name in shared})
    return features, latent, basis, scale, factor, spare


def _live(factor, k=9):
    shapes = {"prior_root": (k, k), "whitened": (k, N), "gram": (k + 1, k + 1)}
    shapes |= {"root": (k + 1, k + 1), "cross": (1, k + 1), "projected": (1, k + 1)}
    parts = {}
    for name in LIVE:
        rows, columns = shapes[name]
        values = getattr(factor, name)[:rows, :columns].copy()
        parts[name] = np.tril(values) if name in ("prior_root", "root") else values
    return parts


@pytest.mark.parametrize("mode", [SHARED, PER_FEATURE])
def test_factor_after_a_move(mode):
    features, latent, basis, scale, factor, spare = _problem()
    box = np.tile([0.3, 6.0], (1, P, 1))
    rng = np.random.default_rng(0)
    taken_before = []
    for _ in range(60):
        before, old = _live(factor), scale.copy()
        probability, taken = move_length_scale(
            rng, factor, spare, basis, scale[None], box, mode, np.log(0.5)
        )
        assert 0 <= probability <= 1
        assert ((box[0, :, 0] <= scale) & (scale <= box[0, :, 1])).all()
        if not taken:
            assert_array_equal(scale, old)
            for name, part in _live(factor).items():
                assert_array_equal(part, before[name])
            continue
        taken_before.append(probability)
        changed = scale != old
        assert changed.all() if mode == SHARED else 1 <= changed.sum() <= 3
        if mode == SHARED:
            assert_allclose(scale / old, scale[0] / old[0])
        fresh = factor_at(basis, scale, factor.rows[:9], latent, G, ETA, 12)
        for name, part in _live(fresh).items():
            assert_allclose(_live(factor)[name], part, rtol=1e-12, atol=1e-12)
        # the acceptance probability is the ratio of dense densities times the Jacobian
        ratio = np.log(scale / old)[0] if mode == SHARED else np.log(scale / old).sum()
        for width, sign in ((scale, 1), (old, -1)):
            kernel = gaussian_kernel(features, features, width)
            q = covariance(kernel, factor.rows[:9], G, ETA, JITTER)
            ratio += sign * log_normal(latent, q)
        assert_allclose(probability, np.exp(min(0.0, ratio)), rtol=1e-8)
    assert len(taken_before) > 5
    assert np.isfinite(log_evidence(factor))


def test_no_move_out_of_a_box_without_room():
    *_, basis, scale, factor, spare = _problem()
    box = np.column_stack([scale, scale])[None]
    for mode in (SHARED, PER_FEATURE):
        for seed in range(20):
            rng = np.random.default_rng(seed)
            outcome = move_length_scale(rng, factor, spare, basis, scale[None], box, mode, 0.0)
            assert outcome == (0.0, False)


@pytest.mark.parametrize(("mode", "target"), [(SHARED, 0.44), (PER_FEATURE, 0.23)])
def test_step_settles_at_the_target_acceptance(mode, target):
    """With acceptance exp(-step) the walk must settle where exp(-step) is the target."""
    log_step = 2.0
    for sweep in range(3000):
        log_step = adapt_step(log_step, np.exp(-np.exp(log_step)), mode, sweep)
    assert_allclose(np.exp(-np.exp(log_step)), target, atol=0.01)
