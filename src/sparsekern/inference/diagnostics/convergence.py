"""R-hat, effective sample sizes and Monte-Carlo errors of scalar draws, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from scipy.special import ndtri
from scipy.stats import rankdata

LARGEST_R_HAT = 1.05
LEAST_ESS_PER_CHAIN = 25
_COLUMNS = ["mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"]


def summarize_scalars(scalars: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return one row per scalar: mean, sd, MCSE of the mean, bulk and tail ESS, rank R-hat.

    Parameters
    ----------
    scalars : mapping of name to ndarray of shape (chains, draws)

    Notes
    -----
    A quantity that never moves, or fewer than four draws, has no R-hat and no effective sample
    size: NaN stands there. R-hat compares the halves of all chains, so that one chain has it too;
    the tail ESS is the smaller one of those of the 5 % and the 95 % quantile.
    """
    table = []
    for values in scalars.values():
        values = np.asarray(values, dtype=np.float64)
        row = [values.mean(), values.std(ddof=1) if values.size > 1 else np.nan]
        if values.shape[1] < 4 or np.ptp(values) == 0.0:
            row += [np.nan] * 4
        else:
            with np.errstate(divide="ignore", invalid="ignore"):  # chains that stand still, apart
                row += [
                    array_stats.mcse(values, method="mean"),
                    array_stats.ess(values, method="bulk"),
                    array_stats.ess(values, method="tail", prob=(0.05, 0.95)),
                    _rank_r_hat(values),
                ]
        table.append(row)
    return pd.DataFrame(
        np.array(table, dtype=np.float64).reshape(-1, len(_COLUMNS)),
        index=pd.Index(list(scalars), name="quantity"),
        columns=_COLUMNS,
    )


def _rank_r_hat(values: np.ndarray) -> float:
    """Return ArviZ's R-hat of ranks over half-chains; of one chain, which it refuses, as well."""
    if len(values) > 1:
        return float(array_stats.rhat(values))
    half = values.shape[1] // 2
    halves = np.stack([values[0, :half], values[0, -half:]])
    folded = np.abs(halves - np.median(halves))
    return max(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))


def _r_hat(chains: np.ndarray) -> float:
    """Return the root of the ratio of the variances over all draws and within chains."""
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    return float(np.sqrt((between * n / within + n - 1) / n))


def _normal_scores(values: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of ranks, by Blom's rule."""
    ranks = rankdata(values).reshape(values.shape)
    return ndtri((ranks - 0.375) / (values.size + 0.25))


def convergence_problems(
    diagnostics: pd.DataFrame, judged: Sequence[str], n_chains: int, n_draws: int
) -> str | None:
    """Return a sentence about the judged quantities that have not converged, or None.

    Parameters
    ----------
    diagnostics : DataFrame
        As :func:`summarize_scalars` returns it.
    judged : sequence of str
        The quantities that decide.
    n_chains, n_draws : int
    """
    if n_draws < 4:
        return (
            f"{n_draws} draws per chain are too few to judge convergence by R-hat and effective "
            "sample size; increase draws."
        )
    rows = diagnostics.loc[list(judged)]
    least = LEAST_ESS_PER_CHAIN * n_chains
    effective = rows[["ess_bulk", "ess_tail"]].min(axis=1)
    bad = rows[(rows["r_hat"] > LARGEST_R_HAT) | (effective < least)]
    if bad.empty:
        return None
    worst = bad.sort_values("r_hat", ascending=False)
    named = "; ".join(
        f"{name}: R-hat {row['r_hat']:.3f}, bulk ESS {row['ess_bulk']:.0f}, "
        f"tail ESS {row['ess_tail']:.0f}"
        for name, row in worst.head(3).iterrows()
    )
    more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
    return (
        f"The chains have not converged ({named}{more}; wanted: R-hat at most {LARGEST_R_HAT}, "
        f"bulk and tail ESS at least {least}). Increase tune and draws (now {n_draws} draws in "
        f"each of {n_chains} chains); with warm_start=True a second fit with more draws goes on "
        "from here. "
        "Predictions average over the chains and are often usable before that; the spread "
        "between chains is the part of their error that R-hat shows."
    )
