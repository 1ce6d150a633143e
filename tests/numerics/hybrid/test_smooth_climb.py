"""A search that ends in a rough model climbs once more, through smooth functions."""

import numpy as np
import pytest
from hybrid_setup import PRIOR, open_search, run_search, standardized
from scipy.stats import norm

import sparsekern.inference.hybrid.search as search_module
from sparsekern.inference.hybrid.scoring import FittedModel
from sparsekern.inference.hybrid.smooth_climb import is_rough


def trap():
    """Correlated blocks; two features with a narrow kernel stand in for the true four."""
    rng = np.random.default_rng([7, 18])
    common = np.repeat(rng.standard_normal((600, 20)), 10, axis=1)
    latent = np.sqrt(0.7) * common + np.sqrt(0.3) * rng.standard_normal((600, 200))
    features = np.pi * (2 * norm.cdf(latent) - 1)
    true = tuple(int(block * 10 + rng.integers(10)) for block in range(4))
    x = features[:, true].T
    f = 2 * np.sin(x[0]) + x[1] ** 2 / 2 + np.exp(x[2]) / 5 + x[3]
    y = f + rng.standard_normal(600)
    return (standardized(features[:100]), standardized(y[:100])), true


def model_with(features, log_bandwidth):
    parameters = np.array([0.0, log_bandwidth, -1.0])
    return FittedModel(features, 0.0, 0.0, 0.0, parameters, np.eye(3), False)


@pytest.mark.parametrize("kind", ["rbf", "laplacian"])
@pytest.mark.parametrize("unit", [1.0, 30.0])
def test_what_is_rough(unit, kind):
    features = unit * standardized(np.random.default_rng(0).standard_normal((20, 5)))
    known = open_search((features, np.zeros(20)), kind=kind)
    # a quarter of the mean distance, 4 for scaled features
    limit = unit if kind == "laplacian" else unit**2
    assert not is_rough(known, model_with((1, 4), np.log(1.01 * limit)))
    assert is_rough(known, model_with((1, 4), np.log(0.99 * limit)))
    empty = FittedModel((), 0.0, 0.0, 0.0, np.zeros(2), np.eye(2), False)
    assert not is_rough(known, empty)
    flat = open_search((np.ones((20, 5)), np.zeros(20)), kind=kind)
    assert is_rough(flat, model_with((1, 4), np.log(0.99)))


def test_the_smooth_model_behind_a_rough_one_is_found(monkeypatch):
    data, true = trap()
    options = {"prior": PRIOR, "starts": ((34,),), "neighbors": 10, "n_wander": 5, "close": False}
    found = run_search(data, **options)
    (exact,) = open_search(data, neighbors=10).fit([true])
    assert found.best.features == true
    assert found.best.score == pytest.approx(exact.score, abs=0.02)
    monkeypatch.setattr(search_module, "is_rough", lambda known, model: False)
    without = run_search(data, **options)
    assert without.best.score < exact.score - 5  # the trap is one
    assert is_rough(without, without.best)


def test_a_smooth_search_is_left_alone(monkeypatch):
    def refuse(scores):
        raise AssertionError("no reason to climb")

    monkeypatch.setattr(search_module, "climb_smoothly", refuse)
    rng = np.random.default_rng(0)
    features = rng.standard_normal((60, 5))
    y = features[:, 0] + 0.3 * rng.standard_normal(60)
    run_search((standardized(features), standardized(y)))
