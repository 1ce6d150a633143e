"""Absurd sizes end with a sentence, before anything is allocated or begun."""

import dataclasses
import inspect
import re
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import sparsekern
from sparsekern import _memory
from sparsekern.estimators.shared.memory import bytes_of_draws
from sparsekern.inference.chains.plan import Plan
from sparsekern.settings import (
    GKMRegressionPriors,
    ProjectionPrediction,
    VectorMachineSearch,
)
from sparsekern.settings.limits import check_count

GIB = 2**30
RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 3))
T = X[:, 0] + 0.1 * RNG.standard_normal(24)
Y = (T > 0).astype(int)
ESTIMATORS = {name: getattr(sparsekern, name) for name in sparsekern.__all__ if name[0].isupper()}
ABSURD = 10**12
# cut to the size of the data, ended by the fit itself, or no size at all
HARMLESS = {
    "max_active", "candidates", "screen", "max_features", "n_components", "max_steps", "rows",
    "local_neighbors", "n_jobs", "max_rows", "random_state",
}  # fmt: skip
# parameters that have a say only together with others
TOGETHER = {
    ("PCVMClassifier", "draws"): {"inference": "mcmc"},
    ("PCVMClassifier", "draws__max_draws"): {"inference": "mcmc"},
    ("PCVMClassifier", "tune"): {"inference": "mcmc"},
    ("PCVMClassifier", "chains"): {"inference": "mcmc"},
    ("PCVMClassifier", "thin"): {"inference": "mcmc"},
    ("KernelProjectionClassifier", "search__max_components"): {"n_components": "utility"},
    ("KernelProjectionClassifier", "search__n_splits"): {"n_components": "utility"},
}


def whole_numbers():
    """Yield every whole-number parameter, those in groups and those that may be None included."""
    for name, cls in ESTIMATORS.items():
        parameters = inspect.signature(cls).parameters.values()
        found = {part.name: (part.annotation, part.default) for part in parameters}
        for group, kind in cls()._all_groups.items():
            parts = dataclasses.fields(kind)
            found |= {f"{group}__{part.name}": (part.type, part.default) for part in parts}
        for key, (annotation, default) in found.items():
            if "int" in str(annotation).split(" | ") or (
                isinstance(default, int) and not isinstance(default, bool)
            ):
                yield name, key


def last_part(key):
    return key.rpartition("__")[2]


REFUSED = [(name, key) for name, key in whole_numbers() if last_part(key) not in HARMLESS]


def target(name):
    return T if name.endswith("Regressor") else Y


@pytest.fixture
def little_memory(monkeypatch):
    """Return what sets the memory that is said to be left."""

    def leave(count):
        monkeypatch.setattr(_memory, "available_bytes", lambda: count)
        monkeypatch.setattr("sparsekern.estimators.shared.memory.available_bytes", lambda: count)

    return leave


def test_all_whole_numbers_are_looked_at():
    assert len(ESTIMATORS) == 13 and len(REFUSED) > 60


@pytest.mark.parametrize(("name", "parameter"), REFUSED)
def test_absurd_numbers_end_with_a_sentence(name, parameter):
    options = {parameter: ABSURD, "random_state": 0, **TOGETHER.get((name, parameter), {})}
    words = rf"{last_part(parameter)}.*{ABSURD}"
    with pytest.raises((ValueError, MemoryError), match=words) as caught:
        ESTIMATORS[name]().set_params(**options).fit(X, target(name))
    sentence = str(caught.value)
    assert sentence.endswith(".") and "Unable to allocate" not in sentence


@pytest.mark.parametrize("name", [name for name, key in REFUSED if key == "moves__active_set"])
def test_as_many_moves_as_allowed_are_fewer_with_more_rows(name):
    """Each move looks at every row: a sweep must not take minutes."""
    rows = np.random.default_rng(1).standard_normal((20_000, 2))
    response = rows[:, 0] if name.endswith("Regressor") else (rows[:, 0] > 0).astype(int)
    model = ESTIMATORS[name](draws=2, tune=0, chains=1, candidates=5)
    model.set_params(moves__active_set=1001)
    with pytest.raises(ValueError, match=r"at most 1000 with 20000 rows, got 1001.*raise thin"):
        model.fit(rows, response)


def test_bounds_do_not_hinder():
    for name, value in {"chains": 1000, "n_init": 100, "tune": 10**7}.items():
        assert check_count(name, value) == value
    assert check_count("draws", ABSURD) == ABSURD  # memory decides


# -- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n for n, c in ESTIMATORS.items() if "thin" in inspect.signature(c).parameters]
)
def test_draws_are_weighed_against_the_memory(name, little_memory):
    little_memory(GIB // 4)
    options = {"inference": "mcmc"} if name == "PCVMClassifier" else {}
    model = ESTIMATORS[name](draws=10**6, random_state=0, **options)
    wanted = r"draws=1000000, tune=1000.*chains=4 needs [\d.]+ [MG]iB.*but 256 MiB.*reduce draws"
    with pytest.raises(MemoryError, match=wanted):
        model.fit(X, target(name))


def test_the_draws_that_fit_are_named(little_memory):
    little_memory(GIB // 4)
    model = sparsekern.GKMRegressor(draws=100_000, tune=10, random_state=0)
    with pytest.raises(MemoryError, match=r"use draws=\d+ or less") as caught:
        model.fit(X, T)
    fitting = int(re.search(r"use draws=(\d+) or less", str(caught.value))[1])
    assert 10_000 < fitting < 100_000


class CountedSampler:
    """Draws of 24 bytes and a trace of 4 bytes a sweep."""

    def allocate(self, plan):
        from collections import namedtuple

        draws = namedtuple("Draws", "values size_trace")
        return draws(np.zeros((plan.draws, 3)), np.zeros(plan.sweeps, np.int32))


@pytest.mark.parametrize("plan", [Plan(7, 5, 3), Plan(0, 1, 1), Plan(100, 2, 1)])
def test_bytes_of_draws_are_those_of_the_arrays(plan):
    arrays = CountedSampler().allocate(plan)
    assert bytes_of_draws(CountedSampler(), plan) == sum(part.nbytes for part in arrays)


def test_working_memory_of_all_chains(little_memory):
    little_memory(GIB // 4)
    rows = np.random.default_rng(2).standard_normal((1000, 2))
    model = sparsekern.GKMRegressor(
        draws=2, tune=0, chains=16, priors=GKMRegressionPriors(max_active=1000)
    )
    with pytest.raises(MemoryError, match=r"working memory of 16 chains.*use fewer chains"):
        model.fit(rows, rows[:, 0])


@pytest.mark.parametrize("name", ["BayesianMKLRegressor", "BayesianMKLClassifier"])
def test_kernels_that_cannot_be_held(name, little_memory):
    little_memory(GIB // 4)
    rows = np.random.default_rng(3).standard_normal((2500, 2))
    response = rows[:, 0] if name.endswith("Regressor") else (rows[:, 0] > 0).astype(int)
    whole = ESTIMATORS[name](candidates=2500)
    with pytest.raises(MemoryError, match=r"7 kernels of 2500 x 2500.*use candidates=200"):
        whole.fit(rows, response)
    few = ESTIMATORS[name](candidates=np.arange(1000))
    with pytest.raises(MemoryError, match=r"7 kernels at 2500 rows and 1000 candidates.*=250"):
        few.fit(rows, response)


def test_projections_of_many_rows(little_memory):
    rows = np.random.default_rng(4).standard_normal((4000, 2))
    labels = (rows[:, 0] > 0).astype(int)
    little_memory(GIB // 4)
    everything = sparsekern.KernelProjectionClassifier(max_rows=None)
    with pytest.raises(MemoryError, match=r"4000 x 4000 numbers.*max_rows=2000"):
        everything.fit(rows, labels)


@pytest.mark.parametrize("name", ["RVMRegressor", "RVMClassifier", "PCVMClassifier"])
def test_columns_of_vector_machines(name, little_memory):
    little_memory(GIB // 4)
    rows = np.random.default_rng(5).standard_normal((6000, 2))
    response = rows[:, 0] if name.endswith("Regressor") else (rows[:, 0] > 0).astype(int)
    model = ESTIMATORS[name](candidates=np.arange(6000))
    with pytest.raises(MemoryError, match=r"6000 columns of 6000 rows.*use candidates=1500"):
        model.fit(rows, response)


@pytest.mark.parametrize("name", ["HybridSearchGPRegressor", "HybridSearchGPClassifier"])
def test_rows_of_a_hybrid_search(name, little_memory):
    little_memory(GIB // 4)
    rows = np.random.default_rng(6).standard_normal((4000, 2))
    response = rows[:, 0] if name.endswith("Regressor") else (rows[:, 0] > 0).astype(int)
    with pytest.raises(MemoryError, match=r"4000 x 4000 numbers.*rows=500"):
        ESTIMATORS[name]().set_params(search__rows=4000).fit(rows, response)


PEAKS = {
    "whole kernels": (sparsekern.BayesianMKLRegressor(n_init=1, max_iter=2), 700),
    "some columns": (
        sparsekern.BayesianMKLRegressor(n_init=1, max_iter=2, candidates=np.arange(60)), 4000
    ),
    "projections": (
        sparsekern.KernelProjectionClassifier(
            30, inference="least_squares", length_scale=1.0, draws=3, tune=3, chains=1,
            max_rows=None, prediction=ProjectionPrediction(sharpness=1.0),
        ), 1200,
    ),
    "columns": (
        sparsekern.RVMRegressor(length_scale=1.0, search=VectorMachineSearch(max_steps=5),
                                candidates=np.arange(600)), 3000
    ),
    "draws": (
        sparsekern.GKMRegressor(draws=1000, tune=0, chains=2, candidates=np.arange(9),
                                priors=GKMRegressionPriors(max_active=9)), 400,
    ),
    "working memory": (
        sparsekern.GKMRegressor(draws=3, tune=0, chains=3, random_state=0,
                                priors=GKMRegressionPriors(max_active=700)), 800
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(PEAKS))
def test_the_need_is_near_the_peak(case, monkeypatch):
    model, n = PEAKS[case]
    rows = np.random.default_rng(7).standard_normal((n, 3))
    name = type(model).__name__
    response = rows[:, 0] if name.endswith("Regressor") else (rows[:, 0] > 0).astype(int)
    model.set_params(progress=False)
    model.fit(rows, response)  # what is imported and compiled once has a peak of its own
    needs = {}
    for module in [module for name, module in sys.modules.items() if "sparsekern." in name]:
        if hasattr(module, "require_memory"):
            monkeypatch.setattr(
                module,
                "require_memory",
                lambda needed, who, what, remedy: needs.update({what: needed}),
            )
    tracemalloc.start()
    try:
        model.fit(rows, response)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    needs.pop("the least that draws take", None)
    assert 1 / 1.6 < sum(needs.values()) / peak < 1.6


def test_predictive_draws_are_weighed_against_the_memory():
    fitted = [
        sparsekern.RVMRegressor(length_scale=1.0).fit(X, T),
        sparsekern.HybridSearchGPRegressor(random_state=0).fit(X, T),
        sparsekern.GKMRegressor(draws=5, tune=5, chains=1, random_state=0).fit(X, T),
    ]
    for model in fitted:
        with pytest.raises(MemoryError, match=f"n_samples={ABSURD} draws of 24 rows"):
            model.sample_predictive(X, ABSURD)
        assert model.sample_predictive(X, 3).shape == (3, 24)


# -- what there is --------------------------------------------------------------------------------


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GiB free, no groups and no limit of address space."""
    monkeypatch.setattr(_memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(_memory, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(_memory, "_left_of_address_space", lambda: None)
    write(tmp_path / "proc", meminfo=f"MemTotal: 1 kB\nMemAvailable: {8 * 2**20} kB\n")
    return tmp_path


def test_free_memory(machine):
    assert _memory.available_bytes() == 8 * GIB


def test_second_version_of_control_groups(machine):
    write(machine / "proc" / "self", cgroup="0::/outer/inner\n")
    outer = machine / "groups" / "outer"
    write(outer, memory_dot_max=f"{5 * GIB}", memory_dot_current=f"{4 * GIB}")
    write(outer / "inner", memory_dot_max="max", memory_dot_current=f"{GIB}")
    assert _memory.available_bytes() == GIB
    write(outer, memory_dot_stat=f"anon 3\ninactive_file {GIB}\n")
    assert _memory.available_bytes() == 2 * GIB


def test_first_version_of_control_groups(machine):
    write(machine / "proc" / "self", cgroup="5:cpu:/\n4:memory:/docker/abc\n0::/\n")
    files = {
        "memory_dot_limit_in_bytes": f"{3 * GIB}",
        "memory_dot_usage_in_bytes": f"{GIB}",
    }
    write(machine / "groups" / "memory", **files)  # a container sees its own group as the root
    assert _memory.available_bytes() == 2 * GIB


def test_a_machine_that_tells_nothing(machine, monkeypatch):
    (machine / "proc" / "meminfo").unlink()
    assert _memory.available_bytes() > 0  # by its pages
    monkeypatch.setattr(_memory, "_free_memory", lambda: None)
    assert _memory.available_bytes() is None
    _memory.require_memory(1e30, "A fit", "draws", "do not")  # nobody knows: let it try


def test_limit_of_address_space(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (2**50, 2**50))
    assert 0 < _memory._left_of_address_space() < 2**50
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    assert _memory._left_of_address_space() is None


def test_arrays_are_counted_once():
    one = np.zeros(10)
    assert _memory.held_bytes((one, [one[:5], np.ones(3)]), one.reshape(2, 5)) == 104


@pytest.mark.parametrize(
    ("count", "spoken"),
    [(5, "5 bytes"), (2048, "2 KiB"), (1.5 * GIB, "1.5 GiB"), (1e12, "931 GiB")],
)
def test_bytes_are_spoken_with_a_unit(count, spoken):
    assert _memory.spoken_bytes(count) == spoken


def test_nothing_else_runs_after_a_refusal():
    before = threading.active_count()
    with pytest.raises(MemoryError):
        sparsekern.GKMClassifier(draws=ABSURD).fit(X, Y)
    assert threading.active_count() == before
