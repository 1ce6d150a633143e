"""Truncated normal draws and log normal probabilities against scipy."""

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import kstest, truncnorm

from sparsekern._jit import jit
from sparsekern.random.half_line_moments import log_normal_cdf
from sparsekern.random.truncated_normal import excess_above, normal_on_side


@jit
def _fill_above(rng, bound, out):
    for i in range(out.shape[0]):
        out[i] = bound + excess_above(rng, bound)


@jit
def _fill_side(rng, mean, sd, side, out):
    for i in range(out.shape[0]):
        out[i] = normal_on_side(rng, mean, sd, side)


@pytest.mark.parametrize("bound", [-8.0, -2.0, -0.5, 0.0, 0.44, 0.45, 0.46, 1.0, 3.0, 8.0, 30.0])
def test_law_above_a_bound(bound):
    draws = np.empty(40_000)
    _fill_above(np.random.default_rng(11), bound, draws)
    assert draws.min() > bound
    assert kstest(draws, truncnorm(bound, np.inf).cdf).pvalue > 1e-3


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (1.3, 0.7), (-2.4, 1.9), (-12.0, 1.5)])
def test_law_on_a_side(mean, sd, side):
    draws = np.empty(40_000)
    _fill_side(np.random.default_rng(5), side * mean, sd, side, draws)
    assert (side * draws).min() > 0
    law = truncnorm(-mean / sd, np.inf, loc=mean, scale=sd)
    assert kstest(side * draws, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_far_tail_mean(side):
    draws = np.empty(400_000)
    _fill_side(np.random.default_rng(1), -40.0 * side, 1.0, side, draws)
    assert abs(side * draws.mean() - 0.02497) < 5 * 0.025 / np.sqrt(len(draws))


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9, 1e15])
def test_a_draw_is_never_on_the_wrong_side(distance):
    """However far the bound: mean + sd z must not cancel to zero or beyond."""
    draws = np.empty(20_000)
    for sd in (0.7, 1.3):
        for side in (1.0, -1.0):
            _fill_side(np.random.default_rng(3), -side * distance, sd, side, draws)
            assert (side * draws > 0).all()
            exact = sd * sd / distance  # the tail is exponential to all digits here
            assert abs(side * draws.mean() / exact - 1) < 5 / np.sqrt(len(draws))


def test_log_normal_cdf():
    grid = np.concatenate([-np.geomspace(1e4, 1e-3, 4000), [0.0], np.geomspace(1e-3, 37, 2000)])
    ours = np.array([log_normal_cdf(z) for z in grid])
    np.testing.assert_allclose(ours, log_ndtr(grid), rtol=1e-11, atol=0)
    assert abs(log_normal_cdf(38.0)) < 1e-300


def test_log_normal_cdf_is_smooth_where_the_branches_meet():
    for edge in (-30.0, 0.0):
        below, above = np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf)
        assert abs(log_normal_cdf(below) - log_normal_cdf(above)) < 1e-9
