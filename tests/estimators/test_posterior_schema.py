"""What every sampling estimator gives ArviZ: groups, dimensions, labels, units, attributes."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from tiny_estimators import LABELS, RESPONSE, ROWS, SAMPLING, make

import sparsekern

CHAINS, DRAWS = 2, 20
FEATURES = ["height", "weight", "größe"]
INDEX = [f"row {number}" for number in range(len(ROWS))]
FRAME = pd.DataFrame(ROWS, columns=FEATURES, index=INDEX)
TWO = np.where(LABELS > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.arange(len(ROWS)) % 3]
UNITS = 1000.0 + 50.0 * RESPONSE
CHAIN = {"draws": DRAWS, "tune": 8, "chains": CHAINS}
MCMC = CHAIN | {"inference": "mcmc"}

CASES = [
    *((name, {}, UNITS if name.endswith("Regressor") else TWO) for name in SAMPLING),
    ("PCVMClassifier", MCMC, TWO),
    ("PCVMClassifier", MCMC, THREE),
    ("GKMClassifier", {"likelihood": "logit"}, THREE),  # one-vs-rest
    ("GKMClassifier", {"learn_length_scale": "per_feature"}, THREE),
    ("DoublySparseClassifier", {"likelihood": "logit"}, THREE),  # one-vs-rest
    ("KernelProjectionClassifier", {}, THREE),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{len(set(case[2]))}")
def case(request):
    name, parameters, y = request.param
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name, **(CHAIN | parameters)).fit(FRAME, y), y


def test_groups_and_attributes(case):
    model, _ = case
    tree = model.posterior_
    assert {"posterior", "sample_stats", "log_likelihood", "observed_data"} <= set(tree.children)
    for group in tree.children.values():
        assert group.attrs["inference_library"] == "sparsekern"
        assert group.attrs["inference_library_version"] == sparsekern.__version__
        assert group.attrs["tuning_steps"] == 8
        assert group.attrs["thinning"] == model.thin
        assert "created_at" in group.attrs


def test_every_draw_has_its_chain_and_number(case):
    tree = case[0].posterior_
    for name, group in tree.children.items():
        if name == "observed_data":
            continue
        for variable, values in group.data_vars.items():
            dims = ("chain",) if variable == "acceptance_rate" else ("chain", "draw")
            assert values.dims[: len(dims)] == dims, variable
        assert group.sizes["chain"] == CHAINS and group.sizes["draw"] == DRAWS
        assert_array_equal(group["draw"], np.arange(DRAWS))


def test_responses_are_the_users(case):
    model, y = case
    observed = model.posterior_["observed_data"]["y"]
    assert observed.dims == ("row",)
    assert_array_equal(observed, y)  # not centred, not coded
    assert_array_equal(observed["row"], INDEX)


def test_pointwise_log_likelihood_is_by_row(case):
    model, _ = case
    pointwise = model.posterior_["log_likelihood"]["y"]
    assert pointwise.dims == ("chain", "draw", "row")
    assert_array_equal(pointwise["row"], INDEX)
    assert_array_equal(pointwise, model.pointwise_log_likelihood())
    assert np.isfinite(pointwise).all()


def test_statistics_of_draws(case):
    model, _ = case
    stats = model.posterior_["sample_stats"]
    assert "log_likelihood" in stats
    assert not {"log_likelihood", "n_active", "n_features"} & set(
        model.posterior_["posterior"].data_vars
    )
    counts = {"n_active", "n_features"} & set(stats.data_vars)
    assert ("n_active" in counts) == hasattr(model, "active_vectors_")
    assert ("n_features" in counts) == hasattr(model, "selected_features_")
    for name in ("log_likelihood", *counts):
        assert np.isfinite(stats[name]).all()
    if getattr(model, "acceptance_rates_", {}):
        rates = stats["acceptance_rate"]
        assert set(rates["move"].values) >= set(model.acceptance_rates_)
        assert ((rates >= 0) & (rates <= 1) | np.isnan(rates)).all()


def test_only_widths_of_absent_features_are_missing(case):
    model, _ = case
    for group in model.posterior_.children.values():
        for name, values in group.data_vars.items():
            if values.dtype.kind != "f" or name == "acceptance_rate":
                continue
            assert not np.isinf(values).any(), name
            if name not in ("length_scale", "feature_length_scale"):
                assert not np.isnan(values).any(), name
    if "sparse_features" in model.posterior_:
        sparse = model.posterior_["sparse_features"]
        absent = sparse["feature"] < 0
        assert_array_equal(np.isnan(sparse["feature_length_scale"]), absent)
        assert (sparse["feature_length_scale"].where(~absent, 1.0) > 0).all()


def test_coordinates_have_the_users_names(case):
    model, y = case
    tree = model.posterior_
    posterior = tree["posterior"]
    followed = posterior["mean" if "mean" in posterior else "probability"]
    assert set(followed["monitored_row"].values) <= set(INDEX)
    if y is UNITS:
        assert abs(followed.mean() - y.mean()) < 100
    if "feature" in posterior.dims:
        assert list(posterior["feature"].values) == FEATURES
    if "selected_feature" in posterior.dims:
        assert set(posterior["selected_feature"].values) <= set(FEATURES)
    if "class" in posterior.dims:
        labels = list(posterior["class"].values)
        assert labels == list(model.classes_)[: len(labels)]
    for entry in (name for name in model.diagnostics_.index if name.startswith("probability[")):
        assert entry[len("probability[") :].rstrip("]").split(", ")[0] in INDEX


def test_new_responses_on_request(case):
    model, y = case
    assert "posterior_predictive" not in model.posterior_
    tree = model.add_posterior_predictive(random_state=1)
    assert tree is model.posterior_
    drawn = tree["posterior_predictive"]["y"]
    assert drawn.dims == ("chain", "draw", "row")
    assert drawn.shape == (CHAINS, DRAWS, len(ROWS))
    assert_array_equal(drawn["row"], INDEX)
    if y is UNITS:
        assert abs(float(drawn.mean()) - y.mean()) < 5 * y.std()
    else:
        assert set(np.unique(drawn)) <= set(y)
    again = model.add_posterior_predictive(random_state=1)["posterior_predictive"]["y"]
    assert_array_equal(drawn, again)
    new = model.add_posterior_predictive(FRAME.iloc[3:7], random_state=1)["predictions"]["y"]
    assert new.dims == ("chain", "draw", "row")
    assert_array_equal(new["row"], INDEX[3:7])
    model.__dict__.pop("_posterior_tree")  # as a copy has it


def test_new_classes_have_the_predicted_frequencies():
    model = make("GKMClassifier", draws=400).fit(ROWS, THREE)
    drawn = model.add_posterior_predictive(random_state=0)["posterior_predictive"]["y"]
    shares = np.stack([(drawn == label).mean(("chain", "draw")) for label in "abc"], axis=-1)
    assert_allclose(shares, model.predict_proba(ROWS), atol=5 * np.sqrt(0.25 / 800))


def test_new_numbers_have_the_predicted_law():
    model = make("GKMRegressor", draws=400).fit(ROWS, UNITS)
    drawn = model.add_posterior_predictive(ROWS[:5], random_state=0)["predictions"]["y"]
    mean, deviation = model.predict(ROWS[:5], return_std=True)
    assert_allclose(drawn.mean(("chain", "draw")), mean, atol=5 * deviation.max() / np.sqrt(800))
    assert_allclose(drawn.std(("chain", "draw")), deviation, rtol=0.15)


def test_rows_without_labels_are_numbered():
    for rows in (ROWS, ROWS.tolist()):
        tree = make("GKMClassifier").fit(rows, TWO).posterior_
        assert_array_equal(tree["observed_data"]["row"], np.arange(len(ROWS)))


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_product([["u", "v"], range(15)]),
        pd.period_range("2020-01", periods=30, freq="M"),
        pd.Index(["same"] * 30),
        pd.date_range("2020-01-01", periods=30),
    ],
    ids=["hierarchy", "months", "same", "dates"],
)
def test_any_index_goes_to_a_file_and_back(index, tmp_path):
    model = make("GKMClassifier").fit(FRAME.set_axis(index), TWO)
    assert len(model.posterior_["observed_data"]["row"]) == 30
    model.posterior_.to_netcdf(tmp_path / "posterior.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "posterior.nc", engine="h5netcdf") as stored:
        assert_array_equal(stored["observed_data"]["y"], TWO)


def test_a_file_and_back_with_new_responses(case, tmp_path):
    tree = case[0].add_posterior_predictive(random_state=0)
    tree.to_netcdf(tmp_path / "posterior.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "posterior.nc", engine="h5netcdf") as stored:
        assert set(stored.children) == set(tree.children)
        for name, group in tree.children.items():
            xr.testing.assert_equal(stored[name].to_dataset(), group.to_dataset())


@pytest.mark.filterwarnings("ignore")  # of so few draws
def test_arviz_reads_it(case):
    from arviz_stats import loo, summary

    model, _ = case
    table = summary(model.posterior_)
    assert len(table) >= len(model.posterior_["posterior"].data_vars)
    assert loo(model.posterior_).n_data_points == len(ROWS)


def test_a_kernel_of_some_features_has_no_width_for_the_others():
    kernel = [("rbf", ["height"]), ("linear", ["weight", "größe"])]
    model = make("GKMClassifier", kernel=kernel, learn_length_scale="per_feature")
    width = model.fit(FRAME, TWO).posterior_["posterior"]["length_scale"]
    assert width.dims == ("chain", "draw", "kernel", "feature")
    assert (width.sel(kernel=0, feature="height") > 0).all()
    assert np.isnan(width.sel(kernel=0, feature=["weight", "größe"])).all()
    assert np.isnan(width.sel(kernel=1)).all()
