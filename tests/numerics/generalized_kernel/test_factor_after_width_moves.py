"""After a width has moved or stayed, all that the factor remembers is of the widths at hand.

A width move rebuilds the factor in spare memory and copies it if taken. What is forgotten there is
mended by the next rebuild or hidden by the move that follows, so that chains hardly show it: every
part is compared with a factor made from scratch, and the three that moves read (quadratic form,
projected response, determinant) with dense algebra.
"""

import numpy as np
import pytest
from family_setup import JITTER, make_sampler
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import RBF, Matern

from sparsekern.bases.kernel_columns import rebuild
from sparsekern.inference.moves.length_scale import PER_FEATURE, SHARED, move_length_scale
from sparsekern.likelihoods import Gaussian, Probit
from sparsekern.linalg.whitened_factor import FORM, log_evidence

N, ROWS, LARGEST = 14, [3, 8, 1, 11], 6
_RNG = np.random.default_rng(5)
FEATURES = _RNG.standard_normal((N, 2))
RESPONSE = 1.4 * _RNG.standard_normal(N)
PRECISION = np.exp(0.5 * _RNG.standard_normal(N))
MADE_BY = {"rbf": RBF, "matern32": lambda scale: Matern(scale, nu=1.5)}


def _open(likelihood, kernel, mode):
    response = RESPONSE if isinstance(likelihood, Gaussian) else np.sign(RESPONSE)
    sampler = make_sampler(
        likelihood, FEATURES, response, kernel=kernel, width_mode=mode, largest=LARGEST,
        length_scale=1.0,
    )  # fmt: skip
    state = sampler.start(np.random.default_rng(0), 0)
    state.n_active[0], state.rows[: len(ROWS)] = len(ROWS), ROWS
    state.response[0], state.precision[:] = RESPONSE, PRECISION
    state.variances[:] = [0.7, 1.3, 0.4][: len(state.variances)]
    return sampler, state, sampler.open(state)


def _live(factor):
    """Return copies of all parts that hold something."""
    size = len(ROWS) * (len(factor.variances) - 1)
    wide = slice(0, size + 1)
    return {
        "rows": factor.rows[: len(ROWS)].copy(),
        "position": factor.position.copy(),
        "prior_root": np.tril(factor.prior_root[:size, :size]),
        "whitened": factor.whitened[:size].copy(),
        "gram": factor.gram[wide, wide].copy(),
        "cross": factor.cross[:, wide].copy(),
        "root": np.tril(factor.root[wide, wide]),
        "projected": factor.projected[:, wide].copy(),
        "noise": factor.noise[: FORM + 1].copy(),
    }


def _covariance(names, widths, variances):
    q = np.diag(1 / PRECISION) + variances[0]
    for name, width, variance in zip(names, widths, variances[1:], strict=True):
        matrix = MADE_BY[name](width)(FEATURES)
        inner = matrix[np.ix_(ROWS, ROWS)] + JITTER * np.eye(len(ROWS))
        q = q + variance * matrix[:, ROWS] @ np.linalg.solve(inner, matrix[ROWS])
    return q


@pytest.mark.parametrize("mode", [SHARED, PER_FEATURE])
@pytest.mark.parametrize("kernel", ["rbf", ["rbf", "matern32"]], ids=["one", "two"])
@pytest.mark.parametrize("likelihood", [Gaussian(), Probit()], ids=["learned noise", "unit noise"])
def test_factor_belongs_to_the_widths(likelihood, kernel, mode):
    names = [kernel] if isinstance(kernel, str) else kernel
    sampler, state, work = _open(likelihood, kernel, mode)
    _, other, fresh = _open(likelihood, kernel, mode)
    basis, widths = sampler.basis, state.length_scale
    rebuild(work.factor, basis, widths)
    rng = np.random.default_rng(1)
    seen = {True: 0, False: 0}
    for _ in range(40):
        before, old = _live(work.factor), widths.copy()
        _, taken = move_length_scale(
            rng, work.factor, work.spare, basis, widths, sampler.settings.box, mode, np.log(0.5)
        )
        seen[taken] += 1
        found = _live(work.factor)
        if not taken:
            assert_array_equal(widths, old)
            for name, part in found.items():
                assert_array_equal(part, before[name], err_msg=name)
            continue
        other.length_scale[:] = widths
        rebuild(fresh.factor, basis, other.length_scale)
        for name, part in _live(fresh.factor).items():
            assert_allclose(found[name], part, rtol=1e-11, atol=1e-12, err_msg=name)
        q = _covariance(names, widths, state.variances)
        log_det = 2 * np.log(np.diag(found["root"])).sum() - np.log(PRECISION).sum()
        assert_allclose(log_det, np.linalg.slogdet(q)[1], rtol=1e-9)
        form = RESPONSE @ np.linalg.solve(q, RESPONSE)
        energy = PRECISION @ RESPONSE**2
        assert_allclose(energy - (found["projected"] ** 2).sum(), form, rtol=1e-8)
        if isinstance(likelihood, Gaussian):
            assert_allclose(work.factor.noise[FORM], form, rtol=1e-8)
        assert_allclose(log_evidence(work.factor), log_evidence(fresh.factor), rtol=1e-11)
    assert min(seen.values()) > 3, seen
