"""R-hat, effective sample sizes and Monte-Carlo errors of scalar draws, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from scipy.special import ndtri
from scipy.stats import rankdata

LARGEST_R_HAT = 1.05  # where the number of draws is given
LEAST_ESS_PER_CHAIN = 25
_COUNTS = ("n_active", "n_features", "n_included")
_COUNT_ERROR = 0.05  # Monte-Carlo error that is small for a number of vectors or features
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
        still = np.ptp(values) == 0.0
        sd = 0.0 if still else values.std(ddof=1)  # that of equal numbers may be 1e-17
        row = [values.mean(), sd if values.size > 1 else np.nan]
        if values.shape[1] < 4 or still:
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


def worst_standing(diagnostics: pd.DataFrame) -> tuple[float, float]:
    """Return the largest R-hat and the smallest effective sample size of judged quantities.

    Parameters
    ----------
    diagnostics : DataFrame
        Rows of :func:`summarize_scalars`.

    Notes
    -----
    What never moves is left out; if nothing moves the answer is (1, infinity). So is a number of
    vectors or features whose Monte-Carlo error is .05 or less: where a feature comes and goes once
    in a thousand draws the effective sample size is tiny, and so is the error. What moves but
    cannot be judged, such as three draws, or chains that stand still at different places, has the
    R-hat infinity and the effective sample size zero.
    """
    r_hat, ess = _judged(diagnostics)
    return float(r_hat.max(initial=1.0)), float(ess.min(initial=np.inf))


def _judged(diagnostics: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return R-hat and the smaller ESS of each quantity, 1 and infinity where these do not matter.

    They do not where nothing moves, and for counts that are known well.
    """
    count = diagnostics.index.str.partition("[").get_level_values(0).isin(_COUNTS)
    settled = count & (diagnostics["mcse_mean"] <= _COUNT_ERROR).to_numpy()
    matters = (diagnostics["sd"] != 0.0).to_numpy() & ~settled
    r_hat = diagnostics["r_hat"].fillna(np.inf).to_numpy()
    ess = diagnostics[["ess_bulk", "ess_tail"]].fillna(0.0).min(axis=1).to_numpy()
    return np.where(matters, r_hat, 1.0), np.where(matters, ess, np.inf)


def convergence_problems(
    diagnostics: pd.DataFrame,
    n_chains: int,
    n_draws: int,
    r_hat: float,
    ess: float,
    remedy: str,
) -> str | None:
    """Return a sentence about the judged quantities that have not converged, or None.

    Parameters
    ----------
    diagnostics : DataFrame
        Rows of :func:`summarize_scalars`, of the quantities that decide.
    n_chains, n_draws : int
    r_hat, ess : float
        The largest and the smallest that will do.
    remedy : str
        What to do, as a sentence.
    """
    if n_draws < 4:
        return (
            f"{n_draws} draws per chain are too few to judge convergence by R-hat and effective "
            f"sample size. {remedy}"
        )
    found_r_hat, found_ess = _judged(diagnostics)
    bad = (found_r_hat > r_hat) | (found_ess < ess)
    if not bad.any():
        return None
    with np.errstate(divide="ignore"):
        short = np.maximum((found_r_hat - 1.0) / (r_hat - 1.0), ess / found_ess)
    order = np.argsort(-short, kind="stable")
    worst = diagnostics.iloc[order[bad[order]]].fillna({"r_hat": np.inf}).fillna(0.0)
    named = "; ".join(
        f"{name}: R-hat {row['r_hat']:.3f}, bulk ESS {row['ess_bulk']:.0f}, "
        f"tail ESS {row['ess_tail']:.0f}"
        for name, row in worst.head(3).iterrows()
    )
    more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
    return (
        f"The chains have not converged ({named}{more}; wanted: R-hat at most {r_hat:g}, "
        f"bulk and tail ESS at least {ess:g}; {n_draws} draws in each of {n_chains} chains). "
        f"{remedy} "
        "Predictions average over the chains and are often usable before that; the spread "
        "between chains is the part of their error that R-hat shows."
    )
