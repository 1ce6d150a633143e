"""R-hat, effective sample sizes and Monte-Carlo errors of draws whose answers are known."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from sparsekern.inference.diagnostics import convergence_problems, summarize_scalars


def summary(values):
    return summarize_scalars({"x": np.asarray(values)}).loc["x"]


def r_hat_by_hand(values):
    """Rank-normalised split R-hat: the larger of that of the draws and of their distances."""

    half = values.shape[1] // 2  # of an odd number of draws that in the middle is left out
    halves = np.concatenate([values[:, :half], values[:, -half:]])

    def plain(parts):
        scores = ndtri((rankdata(parts).reshape(parts.shape) - 0.375) / (parts.size + 0.25))
        within = scores.var(axis=1, ddof=1).mean()
        between = scores.mean(axis=1).var(ddof=1)
        return np.sqrt((half - 1) / half + between / within)

    return max(plain(halves), plain(np.abs(halves - np.median(halves))))


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


@pytest.mark.parametrize("draws", [4, 5, 60, 101])
def test_one_chain_has_the_r_hat_of_its_halves(draws):
    values = np.random.default_rng(draws).standard_normal((1, draws)).cumsum(axis=1)
    np.testing.assert_allclose(summary(values)["r_hat"], r_hat_by_hand(values), rtol=1e-12)


def test_one_chain_that_drifts_is_named():
    rng = np.random.default_rng(0)
    table = summarize_scalars(
        {
            "still": rng.standard_normal((1, 500)),
            "drifting": rng.standard_normal((1, 500)).cumsum()[None],
        }
    )
    assert 0.99 < table.loc["still", "r_hat"] < 1.02
    sentence = convergence_problems(table, 1, 500, 1.05, 25, "Draw more.")
    assert sentence.startswith("The chains have not converged (drifting: R-hat")


def test_one_chain_whose_spread_changes_is_noticed():
    """Halves of the same mean: only the distances see the difference."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((1, 1000)) * np.where(np.arange(1000) < 500, 1.0, 5.0)
    assert summary(values)["r_hat"] > 1.1


def test_tail_ess_is_judged():
    """Good chains but for one long excursion: its quantile is known from a few draws only."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal((4, 1000))
    for chain in values:
        chain[300:360] = 20.0 + rng.standard_normal(60)
    table = summarize_scalars({"log_likelihood": values})
    row = table.loc["log_likelihood"]
    assert row["r_hat"] < 1.05 and row["ess_bulk"] > 100 and row["ess_tail"] < 100
    sentence = convergence_problems(table, 4, 1000, 1.05, 100, "Draw more.")
    assert sentence is not None and f"tail ESS {row['ess_tail']:.0f}" in sentence


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
