"""Brooks' cusum hairiness: what it gives where it is known."""

import numpy as np
import pytest

from sparsekern.diagnostics import cusum_hairiness


def _autoregression(correlation, size, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(size) * np.sqrt(1 - correlation**2)
    values = np.empty(size)
    values[0] = rng.standard_normal()
    for t in range(1, size):
        values[t] = correlation * values[t - 1] + noise[t]
    return values


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.99])
def test_autoregression(correlation):
    last = cusum_hairiness(_autoregression(correlation, 400_000)).path[0, -1]
    assert abs(last - np.arccos(correlation) / np.pi) < 0.004


def test_skewed_draws_are_not_at_one_half():
    values = np.random.default_rng(1).exponential(size=400_000)
    above = np.exp(-1.0)
    last = cusum_hairiness(values).path[0, -1]
    assert abs(last - 2 * above * (1 - above)) < 0.004  # .465


def test_band_holds_for_independent_draws():
    values = np.random.default_rng(2).standard_normal((2000, 400))
    result = cusum_hairiness(values, start=100)
    assert result.path.shape == (2000, 299)
    assert abs(result.inside.mean() - 0.9) < 0.03


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0],), "at least three draws"),
        ((np.zeros((2, 3, 4)),), "shape"),
        (([1.0, np.nan, 2.0, 3.0],), "NaN"),
        ((np.arange(9.0), 0, 1.5), "level"),
        ((np.arange(9.0), -1), "start"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        cusum_hairiness(*arguments)
