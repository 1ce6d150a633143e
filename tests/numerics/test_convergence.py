"""R-hat, effective sample sizes, and what is said about them."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from numpy.testing import assert_allclose

from sparsekern.inference.diagnostics import convergence_problems, summarize_scalars
from sparsekern.inference.diagnostics.convergence import _normal_scores, _r_hat, _rank_r_hat


def drifting(chains, draws, rng):
    return rng.standard_normal((chains, draws)).cumsum(axis=1)


@pytest.mark.parametrize("draws", [4, 5, 60, 101])
def test_half_chains_by_hand_are_those_of_arviz(draws):
    """Where ArviZ has an answer, several chains, the formula of one chain gives the same."""
    values = drifting(3, draws, np.random.default_rng(draws))
    half = draws // 2
    halves = np.concatenate([values[:, :half], values[:, -half:]])
    folded = np.abs(halves - np.median(halves))
    ours = max(_r_hat(_normal_scores(part)) for part in (halves, folded))
    assert_allclose(ours, array_stats.rhat(values), rtol=1e-12)


def test_one_chain_has_an_r_hat():
    rng = np.random.default_rng(0)
    table = summarize_scalars(
        {"still": rng.standard_normal((1, 500)), "drifting": drifting(1, 500, rng)}
    )
    assert 0.99 < table.loc["still", "r_hat"] < 1.02
    assert table.loc["drifting", "r_hat"] > 1.3
    sentence = convergence_problems(table, ["still", "drifting"], 1, 500)
    assert sentence.startswith("The chains have not converged (drifting: R-hat")


def test_one_chain_whose_spread_changes_is_noticed():
    """Halves of the same mean: only the folded ranks see the difference."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((1, 1000)) * np.where(np.arange(1000) < 500, 1.0, 5.0)
    assert _rank_r_hat(values) > 1.1


def test_tail_ess_is_judged():
    """Good chains but for one long excursion: its quantile is known from a few draws only."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal((4, 1000))
    for chain in values:
        chain[300:360] = 20.0 + rng.standard_normal(60)
    table = summarize_scalars({"log_likelihood": values})
    row = table.loc["log_likelihood"]
    assert row["r_hat"] < 1.05 and row["ess_bulk"] > 100 and row["ess_tail"] < 100
    sentence = convergence_problems(table, ["log_likelihood"], 4, 1000)
    assert sentence is not None and f"tail ESS {row['ess_tail']:.0f}" in sentence
