"""Effects of features: every estimator has them, with a band that means the same."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.contour import QuadContourSet
from numpy.testing import assert_allclose, assert_array_equal

import sparsekern
from sparsekern import (
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    KernelProjectionClassifier,
    PCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseGPClassifier,
)
from sparsekern.plotting import plot_feature_effect

CHAINS = {"chains": 2, "draws": 20, "tune": 20, "progress": False, "random_state": 0}
SEARCH = {
    "search__n_wander": 0, "search__close": False, "prediction__draws": 100, "progress": False,
    "random_state": 0,
}  # fmt: skip
PLAIN = {"progress": False, "random_state": 0}
REGRESSORS = {
    "gkm": GKMRegressor(**CHAINS),
    "doubly sparse": DoublySparseRegressor(**CHAINS),
    "hybrid": HybridSearchGPRegressor().set_params(**SEARCH),
    "relevance vectors": RVMRegressor(progress=False),
    "several kernels": BayesianMKLRegressor(**PLAIN),
}
CLASSIFIERS = {
    "gkm": GKMClassifier(**CHAINS),
    "sparse gp": SparseGPClassifier(**CHAINS),
    "doubly sparse": DoublySparseClassifier(**CHAINS),
    "hybrid": HybridSearchGPClassifier().set_params(**SEARCH),
    "pcvm": PCVMClassifier(progress=False),
    "relevance vectors": RVMClassifier(progress=False),
    "several kernels": BayesianMKLClassifier(**PLAIN),
    "projection": KernelProjectionClassifier(**CHAINS),
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "dose": rng.uniform(-2, 2, 30),
            "age": rng.uniform(20, 60, 30),
            "sex": np.arange(30) % 2.0,
        }
    )


@pytest.fixture(scope="module")
def response(frame):
    signal = 2 * np.sin(frame["dose"]) + frame["sex"]
    return 100 + signal + 0.5 * np.random.default_rng(1).standard_normal(30)


@pytest.fixture(scope="module")
def fitted(frame, response):
    """Every estimator, fitted; classifiers to "ill" and "well"."""
    labels = np.where(response > 100.5, "ill", "well")
    return {
        **{("r", name): model.fit(frame, response) for name, model in REGRESSORS.items()},
        **{("c", name): model.fit(frame, labels) for name, model in CLASSIFIERS.items()},
    }


KEYS = [("r", name) for name in REGRESSORS] + [("c", name) for name in CLASSIFIERS]


def test_these_are_all_estimators():
    here = {type(model).__name__ for model in [*REGRESSORS.values(), *CLASSIFIERS.values()]}
    assert here == {name for name in sparsekern.__all__ if name[0].isupper()}


def curve(ax, label="prediction"):
    return next(line for line in ax.lines if line.get_label() == label)


@pytest.mark.parametrize("key", KEYS, ids=" ".join)
def test_line_and_band_are_prediction_and_quantiles_of_averaged_draws(fitted, frame, key):
    model, classifies = fitted[key], key[0] == "c"
    options = {"target": "ill"} if classifies else {}
    ax = plot_feature_effect(model, frame, "dose", grid_points=4, level=0.8, **options)
    grid = np.linspace(frame["dose"].min(), frame["dose"].max(), 4)
    line, low, high = [], [], []
    for value in grid:
        rows = frame.assign(dose=value)
        if classifies:
            line.append(model.predict_proba(rows)[:, 0].mean())
            joint = {"joint": True} if key[1] == "hybrid" else {}
            draws = model.sample_proba(rows, **joint)
            if key[1] == "projection":  # as predict_proba sharpens them
                draws = draws**model.sharpness_
                draws /= draws.sum(axis=2, keepdims=True)
            draws = draws[:, :, 0]
        else:
            line.append(model.predict(rows).mean())
            draws = model.sample_mean(rows)
        thin = -(-len(draws) // 400)
        if key[1] == "hybrid":
            draws = draws[: -(-len(draws) // thin)]
        ends = np.quantile(draws.mean(axis=1)[:: 1 if key[1] == "hybrid" else thin], [0.1, 0.9])
        low, high = [*low, ends[0]], [*high, ends[1]]
    assert_allclose(curve(ax).get_xdata(), grid)
    assert_allclose(curve(ax).get_ydata(), line, rtol=1e-9, atol=1e-12)
    drawn = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert_allclose([drawn.min(), drawn.max()], [min(low), max(high)], rtol=1e-7)
    if not classifies:  # the mean of a skew law of probabilities may lie outside
        assert (np.array(low) <= line).all() and (np.array(line) <= high).all()
    what = "Probability of class ill" if classifies else "Mean of y"
    assert ax.get_ylabel() == f"{what}\n(others averaged)"


@pytest.mark.parametrize("key", KEYS, ids=" ".join)
def test_a_binary_feature_is_not_interpolated(fitted, frame, key):
    ax = plot_feature_effect(fitted[key], frame, "sex", others="median")
    assert_array_equal(curve(ax).get_xdata(), [0, 1])
    assert (curve(ax).get_linestyle(), curve(ax).get_marker()) == ("None", "o")
    assert_array_equal(ax.get_xticks(), [0, 1])
    plt.close("all")


def test_the_other_class_has_the_other_probability(fitted, frame):
    model = fitted["c", "relevance vectors"]
    axes = [
        plot_feature_effect(model, frame, "dose", grid_points=5, target=name)
        for name in ("ill", "well")
    ]
    assert ["class ill" in axes[0].get_ylabel(), "class well" in axes[1].get_ylabel()] == [True] * 2
    assert_allclose(curve(axes[0]).get_ydata() + curve(axes[1]).get_ydata(), 1.0)


def test_two_features_of_which_one_is_binary_have_a_curve_for_each_of_its_values(fitted, frame):
    model = fitted["r", "hybrid"]
    for pair in (("dose", "sex"), ("sex", "dose")):
        ax = plot_feature_effect(model, frame, pair, grid_points=4)
        assert not any(isinstance(item, QuadContourSet) for item in ax.collections)
        assert ax.get_xlabel() == "dose"
        assert ax.get_legend().get_title().get_text() == "sex (95 % bands)"
        for value in (0, 1):
            line = curve(ax, str(value))
            expected = [
                model.predict(frame.assign(dose=dose, sex=float(value))).mean()
                for dose in line.get_xdata()
            ]
            assert_allclose(line.get_ydata(), expected)


def test_two_features_of_few_values_are_points_side_by_side(fitted, frame):
    few = frame.assign(age=np.arange(30) % 3 * 10.0 + 30)
    ax = plot_feature_effect(fitted["r", "several kernels"], few, ("age", "sex"))
    places = [curve(ax, value).get_xdata() for value in "01"]
    assert all(curve(ax, value).get_linestyle() == "None" for value in "01")
    assert (places[0] < [30, 40, 50]).all() and (places[1] > [30, 40, 50]).all()
    assert_array_equal(ax.get_xticks(), [30, 40, 50])


def test_a_median_of_a_binary_feature_is_one_of_its_values(fitted, frame):
    """Half of the rows have 0 and half 1; nothing has one half."""
    model = fitted["r", "relevance vectors"]
    line = curve(plot_feature_effect(model, frame, "dose", grid_points=3, others="median"))
    middle = frame.median().to_frame().T.loc[[0] * 3].assign(dose=line.get_xdata(), sex=0.0)
    assert_allclose(line.get_ydata(), model.predict(middle))


def test_several_outputs_and_several_labels_are_chosen_by_number(frame, response):
    both = np.column_stack([response, -response])
    model = RVMRegressor(progress=False).fit(frame, both)
    with pytest.raises(ValueError, match=r"target must be the number of an output, 0 to 1, got No"):
        plot_feature_effect(model, frame, "dose")
    with pytest.raises(ValueError, match="target must lie between 0 and 1, got 2"):
        plot_feature_effect(model, frame, "dose", target=2)
    axes = [plot_feature_effect(model, frame, "dose", grid_points=3, target=o) for o in (0, 1)]
    assert_allclose(curve(axes[0]).get_ydata(), -curve(axes[1]).get_ydata())
    assert axes[1].get_ylabel() == "Mean of output 1\n(others averaged)"
    labels = BayesianMKLClassifier(**PLAIN).fit(frame, (both > [100, -101]).astype(int))
    ax = plot_feature_effect(labels, frame, "dose", grid_points=3, target=0)
    assert_allclose(
        curve(ax).get_ydata()[0],
        labels.predict_proba(frame.assign(dose=frame["dose"].min()))[:, 0].mean(),
    )
