"""R-hat, effective sample sizes and Monte-Carlo errors of scalar draws, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats

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
    size: NaN stands there.
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
                    array_stats.rhat(values),
                ]
        table.append(row)
    return pd.DataFrame(
        np.array(table, dtype=np.float64).reshape(-1, len(_COLUMNS)),
        index=pd.Index(list(scalars), name="quantity"),
        columns=_COLUMNS,
    )


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
    bad = rows[(rows["r_hat"] > LARGEST_R_HAT) | (rows["ess_bulk"] < least)]
    if bad.empty:
        return None
    worst = bad.sort_values("r_hat", ascending=False)
    named = "; ".join(
        f"{name}: R-hat {row['r_hat']:.3f}, bulk ESS {row['ess_bulk']:.0f}"
        for name, row in worst.head(3).iterrows()
    )
    more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
    return (
        f"The chains have not converged ({named}{more}; wanted: R-hat at most {LARGEST_R_HAT}, "
        f"bulk ESS at least {least}). Increase tune and draws (now {n_draws} draws in each of "
        f"{n_chains} chains); with warm_start=True a second fit with more draws goes on from here. "
        "Predictions average over the chains and are often usable before that; the spread "
        "between chains is the part of their error that R-hat shows."
    )
