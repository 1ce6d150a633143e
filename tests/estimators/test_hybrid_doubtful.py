"""Models whose parameters have no clear maximum: predictions stay sober, and a warning says so."""

import warnings

import numpy as np

from sparsekern import HybridSearchGPRegressor
from sparsekern.inference.hybrid import posterior
from sparsekern.settings import HybridPrediction, HybridRegressionPriors, HybridRegressionSearch


def quiet(seed, n=150):
    """A smooth function with hardly any noise, so that digits of the evidence run short."""
    rng = np.random.default_rng(1000 + seed)
    X = rng.normal(size=(n + 300, 5))
    y = 1.5 * np.sin(X[:, 0]) + X[:, 1] ** 2 / 2 + 0.003 * rng.standard_t(4, size=n + 300)
    return X[:n], y[:n], X[n : n + 50], y[n : n + 50]


def test_intervals_of_a_model_without_a_clear_maximum():
    """Its curvature, a guess, once put points of the parameters 14 units away: widths of 294."""
    X, y, new, truth = quiet(1)
    model = HybridSearchGPRegressor(
        noise="student_t", priors=HybridRegressionPriors(noise=(0.5, 1e-3)), random_state=0
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* have no clear maximum of their parameters")
        model.fit(X, y)
    low, high = model.predict_quantiles(new, (0.05, 0.95)).T
    assert (high - low).max() < 2
    assert np.mean((truth >= low) & (truth <= high)) > 0.8


def test_local_models_without_a_clear_maximum(monkeypatch):
    """Called doubtful, they predict from their modes."""
    X, y, new, _ = quiet(2)
    counts = np.random.default_rng(0).poisson(np.exp(y / 2))

    def predict(integration):
        model = HybridSearchGPRegressor(
            counts="poisson",
            search=HybridRegressionSearch(rows=60, n_wander=2),
            prediction=HybridPrediction(local_neighbors=20, integration=integration),
            random_state=0,
        )
        return model.fit(X, counts).predict(new)

    by_modes = predict("mode")  # searched a little less closely than those of an average
    usual = np.abs(predict("composite") / by_modes - 1).max()
    assert usual > 0.01
    fit_batch = posterior.fit_batch

    def doubt(*arguments):
        fits = fit_batch(*arguments)
        return fits._replace(doubtful=np.ones_like(fits.doubtful))

    monkeypatch.setattr(posterior, "fit_batch", doubt)
    assert np.abs(predict("composite") / by_modes - 1).max() < 0.05 * usual


def test_little_noise_at_the_defaults():
    """Student-t noise of .003: intervals once were ten times too wide (.26, all rows inside)."""
    inside, widths = [], []
    for seed in (0, 3, 4):
        X, y, new, truth = quiet(seed)
        model = HybridSearchGPRegressor(
            noise="student_t", search=HybridRegressionSearch(n_wander=0), random_state=0
        ).fit(X, y)
        low, high = model.predict_quantiles(new, (0.05, 0.95)).T
        inside.append(np.mean((truth >= low) & (truth <= high)))
        widths.append(np.median(high - low))
    assert max(widths) < 0.03
    assert 0.78 < np.mean(inside) < 0.99
