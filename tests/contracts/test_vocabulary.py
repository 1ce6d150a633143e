"""One idea, one name: constructors, groups and resolution orders of all estimators."""

import dataclasses
import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsekern
from sparsekern import GKMClassifier, GKMRegressor, settings
from sparsekern.estimators.shared.estimator import Estimator
from sparsekern.settings import GKMPriors, GKMRegressionPriors
from sparsekern.settings.group import Settings

ESTIMATORS = {name: getattr(sparsekern, name) for name in sparsekern.__all__ if name[0].isupper()}
GROUPS = {name: getattr(settings, name) for name in settings.__all__}
SAMPLING = ("draws", "tune", "chains", "thin", "warm_start", "checkpoint", "progress", "n_jobs",
            "random_state")  # fmt: skip
MOST_PARAMETERS, MOST_CLASSES = 18, 4
# each name, the only one of its idea, and where it may stand: at the top or in a group
TOP = {
    "kernel", "likelihood", "noise", "counts", "offset", "length_scale", "learn_length_scale",
    "candidates", "max_rows", "standardize", "inference", "multi_class", "device", "n_components",
    *SAMPLING,
    # of several kernels
    "vectors", "share", "normalize", "margin", "calibrate", "n_init", "max_iter", "tol",
}  # fmt: skip
GROUP_NAMES = {"priors", "moves", "search", "selection", "prediction"}
# words that stood for one of these before
BANNED = ("bandwidth", "landmark", "bias", "elbo", "scale_prior", "center", "width")


def parameters(cls):
    return list(inspect.signature(cls).parameters)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_few_parameters_under_the_common_names(name):
    found = parameters(ESTIMATORS[name])
    assert len(found) <= MOST_PARAMETERS
    assert set(found) <= TOP | GROUP_NAMES
    assert {p for p in found if p in GROUP_NAMES} == set(ESTIMATORS[name]._groups)
    if "thin" in found:
        assert found[-len(SAMPLING) :] == list(SAMPLING)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_few_classes_in_a_resolution_order(name):
    own = [cls for cls in ESTIMATORS[name].__mro__ if cls.__module__.startswith("sparsekern")]
    assert len(own) <= MOST_CLASSES, own
    assert own[-1] is Estimator
    assert "fit" in vars(Estimator) and not any("fit" in vars(cls) for cls in own[:-1])


@pytest.mark.parametrize("name", [*ESTIMATORS, *GROUPS])
def test_no_word_of_the_past(name):
    cls = ESTIMATORS.get(name) or GROUPS[name]
    for parameter in parameters(cls):
        assert not any(word in parameter for word in BANNED), parameter
    # every parameter has its paragraph
    for parameter in parameters(cls):
        assert (
            f"{parameter} :" in cls.__doc__
            or f"{parameter}," in cls.__doc__
            or (f", {parameter}" in cls.__doc__)
        ), parameter


def test_all_groups_are_public_and_frozen():
    used = {kind for cls in ESTIMATORS.values() for kind in cls()._all_groups.values()}
    assert used <= set(GROUPS.values())
    for kind in GROUPS.values():
        assert issubclass(kind, Settings) and dataclasses.is_dataclass(kind)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(kind(), dataclasses.fields(kind)[0].name, 1)


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if ESTIMATORS[n]._groups])
def test_what_is_inside_groups_can_be_reached(name):
    model = ESTIMATORS[name]()
    inside = {key: value for key, value in model.get_params().items() if "__" in key}
    assert inside and all(getattr(model, group) is None for group in model._groups)
    assert ("draws__max_draws" in inside) == ("draws" in parameters(ESTIMATORS[name]))
    for key in inside:
        group, part = key.split("__")
        changed = clone(model).set_params(**{key: inside[key]})
        assert getattr(getattr(changed, group), part) == inside[key]
        untouched = "auto" if group == "draws" else None
        assert getattr(model, group) == untouched  # the original and its class stay as they were
    again = clone(model.set_params(**inside))
    assert again.get_params() == model.get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense' of"):
        model.set_params(**{f"{next(iter(model._groups))}__nonsense": 1})


def test_groups_in_a_grid_search_inside_a_pipeline():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 2))
    short = {"draws": 5, "tune": 5, "chains": 1, "random_state": 0, "progress": False}
    pipe = make_pipeline(StandardScaler(), GKMRegressor(**short))
    grid = {"gkmregressor__priors__max_active": [1, 5], "gkmregressor__priors__noise": [(2, 1)]}
    search = GridSearchCV(pipe, grid, cv=2).fit(X, X[:, 0])
    best = search.best_estimator_[-1]
    assert best.priors.max_active == search.best_params_["gkmregressor__priors__max_active"]
    assert best.priors.noise == (2, 1)
    few, many = (
        clone(pipe).set_params(gkmregressor__priors__max_active=most).fit(X, X[:, 0])[-1]
        for most in (1, 5)
    )
    sizes = [m.posterior_["sample_stats"]["n_active"].max() for m in (few, many)]
    assert sizes[0] == 1 < sizes[1]


def test_a_group_of_another_estimator_is_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    with pytest.raises(TypeError, match=r"priors must be a sparsekern\.settings\.GKMRegressionP"):
        GKMRegressor(priors=GKMPriors()).fit(X, X[:, 0])
    with pytest.raises(TypeError, match=r"settings\.GKMPriors or None, got GKMRegressionPriors"):
        GKMClassifier(priors=GKMRegressionPriors()).fit(X, X[:, 0] > 0)  # it has no noise
    with pytest.raises(TypeError, match=r"Write moves=GKMMoves\(\.\.\.\)"):
        GKMClassifier(moves=GKMPriors()).fit(X, X[:, 0] > 0)


def test_groups_compare_by_value_and_show_their_values():
    assert GKMRegressionPriors(noise=(2, 1)) == GKMRegressionPriors(noise=(2, 1))
    assert GKMRegressionPriors(noise=(2, 1)) != GKMRegressionPriors()
    assert "noise=(2.0, 1.0)" in repr(GKMRegressionPriors(noise=(2, 1)))
