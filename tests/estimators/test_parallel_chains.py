"""Chains run side by side where nothing else does, and one after the other elsewhere."""

import threading

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from sparsekern import GKMRegressor, _threads
from sparsekern._threads import count_chain_workers, count_workers, single_blas_thread
from sparsekern.inference.chains import runner


@pytest.fixture(autouse=True)
def three_cores(monkeypatch):
    monkeypatch.setattr(_threads, "count_cores", lambda: 3)


def test_one_thread_for_each_core():
    assert count_chain_workers(None, 4) == 3
    assert count_chain_workers(None, 2) == 2
    assert count_chain_workers(-2, 4) == 2
    assert count_chain_workers(1, 4) == 1
    assert count_workers(None, 4) == 1  # of anything but chains


def test_a_pool_around_us_keeps_its_cores():
    pool = joblib.Parallel(n_jobs=2, backend="threading")
    assert pool(joblib.delayed(count_chain_workers)(None, 4) for _ in range(2)) == [1, 1]
    with joblib.parallel_config(n_jobs=2):
        assert count_chain_workers(None, 4) == 1
    assert joblib.Parallel(n_jobs=1)([joblib.delayed(count_chain_workers)(None, 4)]) == [3]


def test_threads_of_the_caller_and_other_fits():
    found = []
    thread = threading.Thread(target=lambda: found.append(count_chain_workers(None, 4)))
    thread.start()
    thread.join()
    with single_blas_thread():  # as while another fit runs
        found.append(count_chain_workers(None, 4))
    assert found == [1, 1]


def test_fits_use_them(monkeypatch):
    asked = []
    monkeypatch.setattr(
        runner, "count_chain_workers", lambda *given: asked.append(count_chain_workers(*given)) or 1
    )
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    model = GKMRegressor(draws=10, tune=10, chains=2, random_state=0)
    model.fit(X, X[:, 0])
    assert asked == [2]
    with joblib.parallel_config(backend="threading"):
        cross_val_score(model, X, X[:, 0], cv=2, n_jobs=2)
    assert asked[1:] == [1, 1]
