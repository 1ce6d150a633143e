"""Which rows a hybrid search works on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsekern import HybridSearchGPClassifier, HybridSearchGPRegressor


@pytest.mark.parametrize("noise", ["gaussian", "poisson", "classes"])
def test_rows_of_a_search_do_not_depend_on_the_order_of_the_data(noise):
    """Sorted by a feature, ties of the response once took all rows from one end."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    mean = 1.5 * X[:, 0] + np.sin(2 * X[:, 1])
    options = {
        "search__rows": 60,
        "prediction__local_neighbors": 20,
        "search__n_wander": 2,
        "random_state": 0,
    }
    if noise == "classes":
        model, y = HybridSearchGPClassifier(), (mean + rng.logistic(size=300) > 1) * 1
    else:
        model = HybridSearchGPRegressor(counts="poisson" if noise == "poisson" else None)
        y = rng.poisson(np.exp(0.5 * mean)) if noise == "poisson" else np.round(mean)
    model.set_params(**options)
    new = rng.standard_normal((5, 4))
    found = []
    for order in (np.arange(300), np.argsort(X[:, 0]), np.argsort(-X[:, 2])):
        model.fit(X[order], y[order])
        predict = model.predict_proba if noise == "classes" else model.predict
        found.append((model.feature_inclusion_, predict(new)))
    for inclusion, prediction in found[1:]:
        assert_array_equal(inclusion, found[0][0])
        assert_allclose(prediction, found[0][1], rtol=1e-9)
