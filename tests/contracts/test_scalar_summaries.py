"""R-hat, effective sample sizes and Monte-Carlo errors of draws whose answers are known."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from sparsekern.inference.diagnostics import summarize_scalars


def summary(values):
    return summarize_scalars({"x": np.asarray(values)}).loc["x"]


def r_hat_by_hand(values):
    """Rank-normalised split R-hat: the larger of that of the draws and of their distances."""

    def plain(draws):
        half = draws.shape[1] // 2
        parts = np.concatenate([draws[:, :half], draws[:, -half:]])
        scores = ndtri((rankdata(parts).reshape(parts.shape) - 0.375) / (parts.size + 0.25))
        within = scores.var(axis=1, ddof=1).mean()
        between = scores.mean(axis=1).var(ddof=1)
        return np.sqrt((half - 1) / half + between / within)

    return max(plain(values), plain(np.abs(values - np.median(values))))


@pytest.mark.parametrize("kind", ["alike", "apart", "wider", "drift", "heavy"])
def test_r_hat_is_that_of_the_formula(kind):
    rng = np.random.default_rng(1)
    values = rng.standard_normal((4, 200))
    if kind == "apart":
        values[0] += 1.0
    elif kind == "wider":
        values[0] *= 3.0
    elif kind == "drift":
        values += np.linspace(0.0, 2.0, 200)
    elif kind == "heavy":
        values = rng.standard_cauchy((4, 200))
    found = summary(values)["r_hat"]
    np.testing.assert_allclose(found, r_hat_by_hand(values), rtol=1e-6)
    assert (found > 1.05) == (kind in ("apart", "wider", "drift"))


def test_chains_that_drift_together_have_not_converged():
    """They agree with each other: only their halves tell."""
    path = np.linspace(0.0, 3.0, 300)
    values = path + 0.3 * np.random.default_rng(2).standard_normal((4, 300))
    assert summary(values)["r_hat"] > 1.5


def test_effective_sample_size_and_error_of_an_autoregression():
    """(1 - rho) / (1 + rho) of the draws count, and the mean errs by sd / sqrt(ess)."""
    rng, rho, draws = np.random.default_rng(3), 0.6, 5000
    values = np.empty((4, draws))
    values[:, 0] = rng.standard_normal(4)
    noise = np.sqrt(1 - rho**2) * rng.standard_normal((4, draws))
    for t in range(1, draws):
        values[:, t] = rho * values[:, t - 1] + noise[:, t]
    found = summary(values)
    np.testing.assert_allclose(found["ess_bulk"], 4 * draws * (1 - rho) / (1 + rho), rtol=0.1)
    np.testing.assert_allclose(found["mcse_mean"], 1 / np.sqrt(found["ess_bulk"]), rtol=0.1)
    np.testing.assert_allclose(found["sd"], 1.0, rtol=0.05)
