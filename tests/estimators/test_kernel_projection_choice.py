"""What the kernel projection classifier decides by held-out rows, and how steady that is."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from sparsekern import KernelProjectionClassifier
from sparsekern.datasets import make_ripley
from sparsekern.inference.kernel_projection import search as kernel_projection_search
from sparsekern.inference.kernel_projection.choice import prefer_first, row_order, width_weights

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"draws": 20, "tune": 20, "chains": 2, "thin": 1, "search__draws": 20}


@pytest.fixture(scope="module")
def rows():
    """Two classes that overlap."""
    return make_ripley(40, random_state=6)


def fit(rows, **options):
    return (
        KernelProjectionClassifier().set_params(**SHORT | {"random_state": 0} | options).fit(*rows)
    )


def test_the_first_model_is_preferred_unless_another_is_clearly_better():
    rng = np.random.default_rng(0)
    first = -rng.random(100)
    unsure = first + rng.standard_normal(100)  # standard error .1
    assert prefer_first([first, unsure - unsure.mean() + first.mean() + 0.05]) == 0
    assert prefer_first([first, unsure - unsure.mean() + first.mean() + 0.15]) == 1
    assert prefer_first([first, first + 1e-3]) == 1
    assert prefer_first([first, first]) == 0
    assert prefer_first([first, first + 1e-3, first + 2e-3]) == 2
    assert prefer_first([first]) == 0


def test_rows_have_an_order_of_their_own():
    rng = np.random.default_rng(0)
    X, labels = rng.integers(0, 3, (50, 4)).astype(float), rng.integers(0, 2, 50)
    gram = rbf_kernel(X + 0.1 * rng.standard_normal((50, 4)))
    mixed = rng.permutation(50)
    order, again = (row_order(X[p], labels[p], False) for p in (np.arange(50), mixed))
    assert_array_equal(X[order], X[mixed][again])
    turned = row_order(X[mixed][:, ::-1], labels[mixed], False)  # nor do the columns decide
    assert_array_equal(X[order], X[mixed][turned])
    assert_array_equal(labels[order], labels[mixed][again])
    order = row_order(gram, labels, True)
    again = row_order(gram[np.ix_(mixed, mixed)], labels[mixed], True)
    assert_array_equal(order, mixed[again])


def test_close_widths_share_the_weight():
    scores = np.array([[-1.0, -2.0], [-1.5, -1.5], [-3.0, -4.0]])
    assert_allclose(width_weights(scores), np.array([1, 1, np.exp(-2)]) / (2 + np.exp(-2)))
    assert_array_equal(width_weights(scores[:1] - 1e9), [1.0])


def test_width_and_sharpness_are_averages(rows):
    model = fit(rows)
    table = model.widths_
    assert list(table.columns) == ["inference", "sharpness", "log_score", "error", "weight"]
    own = table[table["inference"] == model.inference_]
    assert_allclose(own["weight"].sum(), 1)
    assert_allclose(own["weight"], width_weights(40 * own[["log_score"]].to_numpy()))
    typical = fit(rows, length_scale="mean_distance", prediction__sharpness=1.0).length_scale_
    assert_allclose(model.length_scale_, typical * np.exp(own["weight"] @ np.log(own.index)))
    assert_allclose(model.sharpness_, np.exp(own["weight"] @ np.log(own["sharpness"])))


def test_rows_that_are_predicted_are_not_learned_from(rows, monkeypatch):
    seen, predict = [], kernel_projection_search.predict_held_out

    def watch(parts, *others):
        seen.extend(parts)
        return predict(parts, *others)

    monkeypatch.setattr(kernel_projection_search, "predict_held_out", watch)
    fit(rows, inference="least_squares")
    assert len(seen) >= kernel_projection_search.FOLDS
    for part in seen:
        assert len(part.held_out[0]) > 0
        assert len(part.labels) + len(part.held_out[0]) == len(rows[1])


@pytest.mark.parametrize("n_components", [None, "log_score"])
def test_neither_seed_nor_order_decide(rows, n_components):
    X, y = rows
    options = {"n_components": n_components}
    options |= {"search__n_splits": 2, "search__max_components": 3} if n_components else {}
    model = fit(rows, **options)
    mixed = np.random.default_rng(0).permutation(len(y))
    for other in (
        fit(rows, **{**options, "random_state": 1}),
        fit((X[mixed], y[mixed]), **options),
    ):
        pd.testing.assert_frame_equal(other.widths_, model.widths_, check_exact=True)
        assert_allclose(other.length_scale_, model.length_scale_, rtol=1e-12)
        assert other.sharpness_ == model.sharpness_
        if n_components:
            pd.testing.assert_frame_equal(other.utility_, model.utility_, check_exact=True)


@pytest.mark.parametrize(
    "options",
    [
        {"inference": "cv", "length_scale": "cv"},
        {"inference": "polya_gamma", "length_scale": "cv"},
        {"inference": "least_squares", "length_scale": "cv"},
        {"inference": "cv"},
        {"inference": "polya_gamma"},
        {"inference": "least_squares"},
        {"inference": "least_squares", "kernel": ["rbf", "linear"], "priors__select_kernels": True},
        {"inference": "latent_noise", "prediction__noise": True},
        {"n_components": "average", "thin": 2},
        {"n_components": "log_score", "search__n_splits": 2, "search__max_components": 2},
    ],
    ids=str,
)
def test_a_warm_start_is_the_long_run(rows, options, monkeypatch):
    monkeypatch.setattr(kernel_projection_search, "WIDTH_FACTORS", (0.63, 1.6))
    X, y = rows[0][:24], rows[1][:24]
    options = {**SHORT, **options, "search__draws": None}
    options.setdefault("length_scale", "mean_distance")
    warm = fit((X, y), **{**options, "warm_start": True})
    warm.set_params(draws=40).fit(X, y)
    long = fit((X, y), **{**options, "draws": 40})
    assert warm.n_draws_ == 40
    assert_array_equal(warm.sample_proba(X), long.sample_proba(X))
    assert_array_equal(warm.predict_proba(X), long.predict_proba(X))


@pytest.mark.slow
def test_seeds_agree_on_probabilities():
    """They differed by up to .38 (rms .05) when the folds went by the seed."""
    n = 100
    X, y = make_ripley(n + 300, random_state=50)
    found = np.array([
        KernelProjectionClassifier(random_state=seed, progress=False)
        .fit(X[:n], y[:n])
        .predict_proba(X[n:])
        for seed in range(4)
    ])  # fmt: skip
    apart = found[:, None] - found
    assert np.abs(apart).max() < 0.04
    assert np.sqrt(np.mean(apart**2)) < 0.01
