r"""How many components: expected utility, or log score, over random halves.

.. math:: \hat u(n')=\frac1N\sum_r\Big[\mathrm{accuracy}_r(n')-c\,\frac{n'}{n_r}\Big].

Every size is tried on the same splits, so that differences between sizes are known better than the
utilities themselves: their standard errors are those of the N differences.
"""

from __future__ import annotations

import numpy as np
import pandas as pd


def even_split(labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two halves of the rows, every class shared out evenly between them."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def utility_table(
    sizes: np.ndarray,
    accuracy: np.ndarray,
    log_score: np.ndarray,
    n_train: np.ndarray,
    cost: float | None,
) -> pd.DataFrame:
    """Return the table of sizes.

    Parameters
    ----------
    sizes : ndarray of int of shape (S,)
        Components, over all kernels.
    accuracy, log_score : ndarray of shape (N, S)
        Of the held-out rows of every split.
    n_train : ndarray of shape (N,)
        Rows that each split was trained on.
    cost : float or None
        c; None: the utility is the log score.

    Returns
    -------
    DataFrame
        Index ``n_components``; ``utility``, ``accuracy`` and ``log_score`` with their standard
        errors over splits, ``difference`` to the size before and ``to_best`` to the size of largest
        utility, with standard errors of the differences.
    """
    utility = log_score
    if cost is not None:
        utility = accuracy - cost * sizes / n_train[:, None]
    best = int(np.argmax(utility.mean(axis=0)))  # the first, hence smallest, of equal ones
    step = np.diff(utility, axis=1, prepend=np.nan)
    table = {}
    for name, values in (
        ("utility", utility),
        ("accuracy", accuracy),
        ("log_score", log_score),
        ("difference", step),
        ("to_best", utility - utility[:, best : best + 1]),
    ):
        table[name] = values.mean(axis=0)
        several = len(values) > 1
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.nan
        table[f"{name}_error"] = np.broadcast_to(error, sizes.shape)
    return pd.DataFrame(table, index=pd.Index(sizes, name="n_components"))


def choose_size(table: pd.DataFrame, one_standard_error: bool) -> int:
    """Return the position of the size to use: the best, or the smallest not clearly worse."""
    best = int(table["utility"].to_numpy().argmax())
    if not one_standard_error:
        return best
    close = (table["to_best"] >= -table["to_best_error"].fillna(0.0)).to_numpy()
    return int(np.argmax(close | (np.arange(len(close)) == best)))
