"""Many rows: what is chosen with a word, what is said meanwhile, and how soon it can be stopped."""

import io
import re

import numpy as np
import pytest

from sparsekern import (
    HybridSearchGPRegressor,
    KernelProjectionClassifier,
    PCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    _progress,
)
from sparsekern.estimators.vector_machine.fits import choose_candidates
from sparsekern.inference.hybrid import comparator, cpu
from sparsekern.inference.kernel_projection import projections
from sparsekern.inference.vector_machine import fit as machine_fit
from sparsekern.settings import HybridPrediction, HybridRegressionSearch, ProjectionPrediction

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 2))
T = np.sin(2 * X[:, 0]) + 0.2 * RNG.standard_normal(90)
Y = (T > 0).astype(int)
MACHINES = [RVMRegressor, RVMClassifier, PCVMClassifier]
ONE_WIDTH = {"length_scale": 0.7, "random_state": 0}


def target(cls):
    return T if cls.__name__.endswith("Regressor") else Y


# -- what is chosen -------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", MACHINES)
def test_candidates_of_many_rows_are_a_sample_with_a_word(cls, monkeypatch):
    monkeypatch.setattr(cls, "_candidate_numbers", (30, 10))
    with pytest.warns(UserWarning, match=r"30 of the 90 rows.*candidates=15 to be quicker") as said:
        one = cls(**ONE_WIDTH).fit(X, target(cls))
    assert len(said) == 1
    with pytest.warns(UserWarning, match="random sample spread over y"):
        again = cls(**ONE_WIDTH).fit(X, target(cls))
    np.testing.assert_array_equal(one.active_vectors_, again.active_vectors_)
    found = choose_candidates(one, X, target(cls).astype(float), False)
    assert len(found.rows) == 30
    if cls is not RVMRegressor:  # classes keep their shares
        assert abs(Y[found.rows].mean() - Y.mean()) < 0.05
    cls(candidates=90, **ONE_WIDTH).fit(X, target(cls))  # all rows, and nothing to say


def test_a_sample_does_not_favour_the_first_rows(monkeypatch):
    monkeypatch.setattr(RVMClassifier, "_candidate_numbers", (30, 10))
    rows = [
        choose_candidates(RVMClassifier(random_state=seed), X, Y.astype(float), False).rows
        for seed in range(40)
    ]
    assert abs(np.mean(rows) / 89 - 0.5) < 0.05


def test_projections_learn_from_a_sample_with_a_word():
    options = {"inference": "least_squares", "length_scale": 1.0}
    options["prediction"] = ProjectionPrediction(sharpness=1.0)
    options |= {"draws": 30, "tune": 30, "chains": 1, "random_state": 0}
    labels = Y.copy()
    labels[7] = 2  # a class of one row, which must not be lost
    with pytest.warns(UserWarning, match=r"max_rows=40 of the 90 rows.*max_rows=None takes all"):
        sampled = KernelProjectionClassifier(max_rows=40, **options).fit(X, labels)
    assert list(sampled.classes_) == [0, 1, 2]
    assert sampled.pointwise_log_likelihood().shape[-1] in (40, 41)
    assert sampled.predict_proba(X).shape == (90, 3)
    whole = KernelProjectionClassifier(max_rows=90, **options).fit(X, labels)
    everything = KernelProjectionClassifier(max_rows=None, **options).fit(X, labels)
    np.testing.assert_array_equal(whole.predict_proba(X), everything.predict_proba(X))
    with pytest.raises(ValueError, match="max_rows must be at least 2, got 1"):
        KernelProjectionClassifier(max_rows=1).fit(X, labels)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_new_rows_are_projected_in_blocks(kernel, monkeypatch):
    gram = X @ X.T
    training, new = (gram, gram[:50]) if kernel == "precomputed" else (X, X[:50])
    model = KernelProjectionClassifier(
        5, kernel=kernel, length_scale=1.0 if kernel == "rbf" else "cv",
        inference="least_squares", draws=5, tune=5, chains=1, random_state=0,
        prediction=ProjectionPrediction(sharpness=1.0),
    )  # fmt: skip
    model.fit(training, Y)
    whole = model.transform(new)
    sizes = []
    block = projections.Projection._project_block
    monkeypatch.setattr(projections, "_BLOCK_NUMBERS", 7 * (2 if kernel == "linear" else 90))
    monkeypatch.setattr(
        projections.Projection,
        "_project_block",
        lambda self, rows: sizes.append(len(rows)) or block(self, rows),
    )
    np.testing.assert_allclose(model.transform(new), whole, atol=1e-12)
    assert sizes == [7] * 7 + [1]
    if kernel == "rbf":
        assert model.projection_residual(new).shape == (50,)


# -- what is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", MACHINES)
def test_a_single_fit_speaks_while_it_runs(cls, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(_progress, "_SHOW_AFTER_SECONDS", 0.0)
    clock = iter(range(0, 10**6, 10))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("sys.stderr", stream)
    cls(progress=True, **ONE_WIDTH).fit(X, target(cls))
    shares = [int(found) for found in re.findall(r"(\d+)%", stream.getvalue())]
    assert len(shares) > 3 and shares == sorted(shares) and shares[-1] == 100


# -- how soon it ends -----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [RVMClassifier, PCVMClassifier])
def test_the_pace_of_a_vector_machine_touches_no_number(cls, monkeypatch):
    found = []
    for seconds in (0.0, 100.0):
        monkeypatch.setattr(machine_fit, "_SECONDS_AT_ONCE", seconds)
        found.append(cls(**ONE_WIDTH).fit(X, Y))
    np.testing.assert_array_equal(found[0].evidence_path_, found[1].evidence_path_)
    np.testing.assert_array_equal(found[0].predict_proba(X), found[1].predict_proba(X))


@pytest.mark.parametrize("cls", [RVMClassifier, PCVMClassifier])
def test_no_leg_of_a_vector_machine_makes_many_moves(cls, monkeypatch):
    """Refused moves count, too: each costs as much as one that is kept."""
    asked = []
    settle = machine_fit.settle
    monkeypatch.setattr(machine_fit, "_SECONDS_AT_ONCE", 0.0)
    monkeypatch.setattr(
        machine_fit, "settle", lambda *parts: asked.append(parts[-1]) or settle(*parts)
    )
    cls(**ONE_WIDTH).fit(X, Y)
    assert len(asked) > 3 and max(asked) == 1


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_division_of_a_batch_touches_no_number(n_jobs, monkeypatch):
    found = []
    for seconds in (0.0, 100.0):
        monkeypatch.setattr(cpu, "_SECONDS_AT_ONCE", seconds)
        model = HybridSearchGPRegressor(n_jobs=n_jobs, random_state=0)
        model.set_params(search__n_wander=1).fit(X, T)
        found.append(model.models_["score"].to_numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_batch_is_worked_on_in_parts(n_jobs, monkeypatch):
    monkeypatch.setattr(cpu, "_SECONDS_AT_ONCE", 0.0)
    parts = []
    cpu.CpuBackend(n_jobs)._share(40, lambda first, last: parts.append((first, last)))
    covered = sorted(place for first, last in parts for place in range(first, last))
    assert covered == list(range(40)) and len(parts) >= 24


def test_ctrl_c_ends_a_batch_in_threads():
    done = []

    def work(first, last):
        done.append(first)
        if len(done) > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cpu.CpuBackend(2)._share(10_000, work)
    assert len(done) < 12


def test_legs_of_the_sampled_search_touch_no_draw(monkeypatch):
    found, legs = [], []
    run = comparator.sample_models
    monkeypatch.setattr(
        comparator, "sample_models", lambda *parts: legs.append(parts[-2:]) or run(*parts)
    )
    for seconds in (0.0, 100.0):
        monkeypatch.setattr(comparator, "_LEG_SECONDS", seconds)
        model = HybridSearchGPRegressor(
            search=HybridRegressionSearch(method="mcmc", tune=10),
            prediction=HybridPrediction(draws=30),
            random_state=0,
        )
        found.append(model.fit(X[:30], T[:30]).models_)
    assert found[0].equals(found[1])
    assert max(last - first for first, last in legs[:40]) == 1
    assert len(legs) < 2 * 40 + 12
