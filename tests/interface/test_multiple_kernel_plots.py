"""Figures of models with several kernels: what is drawn, and what is refused."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsekern import BayesianMKLClassifier, BayesianMKLRegressor, RVMClassifier, RVMRegressor
from sparsekern.plotting import plot_bound, plot_fit, plot_kernel_weights
from sparsekern.settings import MKLRegressionPriors

QUICK = {"n_init": 1, "progress": False, "random_state": 0}
RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(2, 9, (60, 1)), axis=0)
Y = 50 + 10 * np.sin(X[:, 0]) + RNG.standard_normal(60)


@pytest.fixture(scope="module")
def additive():
    priors = MKLRegressionPriors(sample_sparsity=True)
    return BayesianMKLRegressor(priors=priors, **QUICK).fit(X, Y)


@pytest.fixture(scope="module")
def shared():
    options = {**QUICK, "vectors": "shared", "share": "sample_weights", "max_iter": 30}
    return BayesianMKLRegressor(**options).fit(X, np.column_stack([Y, -Y + X[:, 0]]))


@pytest.fixture(autouse=True)
def _untouched_settings():
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


def spans(ax):
    """Return lower and upper ends of the error bars."""
    bars = next(item for item in ax.containers if isinstance(item, BarContainer))
    (bars,) = bars.errorbar.lines[2]
    return np.array([[segment[0, 1], segment[1, 1]] for segment in bars.get_segments()]).T


def test_bars_are_weights_and_their_deviations(additive):
    ax = plot_kernel_weights(additive)
    assert isinstance(ax, Axes)
    weights, spread = additive.kernel_weights_, additive.kernel_weights_std_
    assert (weights > 0).any() and (spread[weights > 0] > 0).all()
    assert_allclose([bar.get_height() for bar in ax.patches], weights)
    low, high = spans(ax)
    assert_allclose(high, weights + 2 * spread)
    assert_allclose(low, np.maximum(weights - 2 * spread, 0))
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(m) for m in range(7)]
    assert ax.get_ylabel() == "Size of its function"
    ax.figure.canvas.draw()


def test_outputs_with_weights_of_their_own_have_bars_side_by_side(shared):
    names = [f"kernel {m}" for m in range(7)]
    ax = plot_kernel_weights(shared, names)
    heights = np.reshape([bar.get_height() for bar in ax.patches], (2, 7))
    assert_allclose(heights, shared.kernel_weights_)
    assert [text.get_text() for text in ax.get_xticklabels()] == names
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["output 0", "output 1"]
    low, _ = spans(ax)
    assert_allclose(low, shared.kernel_weights_[0] - 2 * shared.kernel_weights_std_[0])
    with pytest.raises(ValueError, match="names holds 2 names, but the model has 7 kernels"):
        plot_kernel_weights(shared, ["a", "b"])


def test_the_bound_has_a_line_for_every_stage(additive):
    ax = plot_bound(additive)
    assert len(additive.evidence_stages_) > 0  # or this test says nothing
    lines = [line for line in ax.lines if line.get_linestyle() != ":"]
    heights = np.concatenate([line.get_ydata() for line in lines])
    assert_allclose(heights, additive.evidence_path_)
    assert_array_equal(
        np.concatenate([line.get_xdata() for line in lines]), np.arange(1, additive.n_iter_ + 1)
    )
    marks = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(marks) == len(additive.evidence_stages_)
    plot_bound(BayesianMKLClassifier(**QUICK).fit(X, Y > 50)).figure.canvas.draw()


def test_the_fit_has_a_mean_a_band_data_and_active_samples(additive):
    ax = plot_fit(additive, X, Y, resolution=40)
    data, mean, active = ax.lines
    grid = np.linspace(X.min(), X.max(), 40)[:, None]
    centre, deviation = additive.predict(grid, return_std=True)
    assert_allclose(mean.get_ydata(), centre)
    assert_allclose(data.get_ydata(), Y)
    rows = additive.active_vectors_
    assert 0 < len(rows) < 60
    assert_allclose(active.get_xydata(), np.column_stack([X[rows, 0], Y[rows]]))
    (band,) = ax.collections
    edges = band.get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx((centre + 1.959964 * deviation).max())
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["95 %", "data", "mean", f"{len(rows)} active samples"]
    ax.figure.canvas.draw()


def test_frames_several_outputs_and_other_regressors(shared):
    frame = pd.DataFrame(X, columns=["time"])
    model = BayesianMKLRegressor(**QUICK).fit(frame, Y)
    ax = plot_fit(model, frame, Y)
    assert ax.get_xlabel() == "time"
    assert len(ax.lines) == 2  # all rows are active: no rings
    both = np.column_stack([Y, -Y + X[:, 0]])
    assert_allclose(plot_fit(shared, X, both, output=1).lines[0].get_ydata(), both[:, 1])
    machine = RVMRegressor().set_params(search__n_length_scales=3).fit(X, Y)
    plot_fit(machine, X, Y).figure.canvas.draw()


def test_what_cannot_be_drawn(additive, shared):
    for plot in (plot_kernel_weights, plot_bound):
        with pytest.raises(TypeError, match="BayesianMKLRegressor or BayesianMKLClassifier; got"):
            plot(RVMRegressor())
        with pytest.raises(NotFittedError):
            plot(BayesianMKLRegressor())
        with pytest.raises(TypeError, match="got str"):
            plot(additive, ax="not an Axes")
    with pytest.raises(TypeError, match=r"regressor with standard deviations.*got RVMClassifier"):
        plot_fit(RVMClassifier(), X, Y)
    with pytest.raises(NotFittedError):
        plot_fit(BayesianMKLRegressor(), X, Y)
    with pytest.raises(ValueError, match="one feature for this figure; it has 2"):
        plot_fit(additive, np.hstack([X, X]), Y)
    with pytest.raises(ValueError, match="output must lie between 0 and 0"):
        plot_fit(additive, X, Y, output=1)
    with pytest.raises(ValueError, match="in their order"):
        plot_fit(additive, X[:2], Y[:2])
    assert plt.get_fignums() == []


def test_given_axes_are_used(additive):
    figure, axes = plt.subplots(3)
    assert plot_kernel_weights(additive, ax=axes[0]) is axes[0]
    assert plot_bound(additive, ax=axes[1]) is axes[1]
    assert plot_fit(additive, X, Y, ax=axes[2]) is axes[2]
    assert plt.get_fignums() == [figure.number]
