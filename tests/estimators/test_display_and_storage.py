"""A fitted estimator is shown without computing anything, and its posterior can be stored."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr
from tiny_estimators import NAMES, ROWS, SAMPLING, make, target

OPTIONS = {"PCVMClassifier": {"inference": "mcmc", "draws": 8, "tune": 8, "chains": 2}}
THREE = (np.arange(len(ROWS)) % 3).astype(np.float64)


def properties_of(cls):
    """Return the properties that hold fitted attributes, by name, with the class they are from."""
    return {
        name: owner
        for owner in reversed(cls.__mro__)
        for name, value in vars(owner).items()
        if isinstance(value, property) and name.endswith("_") and not name.startswith("_")
    }


@pytest.mark.parametrize("name", NAMES)
def test_showing_an_estimator_computes_nothing(name, monkeypatch):
    model = make(name, **OPTIONS.get(name, {})).fit(ROWS, target(name))
    computed = []

    def counted(name, original):
        def compute(self):
            computed.append(name)
            return original.fget(self)

        return property(compute)

    for attribute, owner in properties_of(type(model)).items():
        monkeypatch.setattr(owner, attribute, counted(attribute, vars(owner)[attribute]))
    shown = model._repr_html_()
    assert "Fitted attributes" in shown
    assert "n_features_in_" in shown
    assert "posterior_</a>" not in shown
    repr(model), str(model), model._repr_mimebundle_()
    estimator_html_repr(make_pipeline(StandardScaler(), model))
    assert computed == []
    assert "_posterior_tree" not in vars(model)
    if model._sampled:
        assert model.posterior_["posterior"].sizes["draw"] == 8
        assert computed[0] == "posterior_"


def test_an_estimator_with_a_bad_parameter_can_be_shown():
    model = make("DoublySparseRegressor").fit(ROWS, target("DoublySparseRegressor"))
    assert "feature_inclusion_" in model.set_params(standardize=7)._repr_html_()


NAMED = pd.DataFrame(ROWS, columns=["height", "weight", "größe"])
CASES = [
    *((name, {}, None) for name in SAMPLING),
    ("PCVMClassifier", OPTIONS["PCVMClassifier"], None),
    ("PCVMClassifier", OPTIONS["PCVMClassifier"], THREE),
    ("GKMClassifier", {"likelihood": "logit"}, THREE),  # one-vs-rest
    ("GKMClassifier", {"kernel": ["rbf", "linear"]}, THREE),
    ("GKMClassifier", {"learn_length_scale": "per_feature"}, np.where(THREE > 0, "yes", "no")),
    ("GKMRegressor", {"noise": "student_t"}, None),
    ("DoublySparseClassifier", {"likelihood": "logit"}, THREE),
    ("SparseGPClassifier", {}, np.where(THREE > 0, True, False)),
    ("KernelProjectionClassifier", {}, np.array(["x", "y", "z"], dtype=object)[THREE.astype(int)]),
]


@pytest.mark.parametrize(("name", "parameters", "y"), CASES)
def test_a_posterior_goes_to_a_file_and_back(name, parameters, y, tmp_path):
    model = make(name, **parameters).fit(NAMED, target(name) if y is None else y)
    path = tmp_path / "posterior.nc"
    model.posterior_.to_netcdf(path, engine="h5netcdf")
    with xr.open_datatree(path, engine="h5netcdf") as stored:
        assert set(stored.children) == set(model.posterior_.children)
        for group, tree in model.posterior_.children.items():
            xr.testing.assert_equal(stored[group].to_dataset(), tree.to_dataset())
