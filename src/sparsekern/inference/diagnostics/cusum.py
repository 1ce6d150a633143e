r"""Brooks' cusum hairiness, a legacy diagnostic.

With :math:`S_t=\sum_{j\le t}(x_j-\bar x)` over the draws after a start, :math:`d_t=1` where the
path S turns, that is where :math:`x_t-\bar x` and :math:`x_{t+1}-\bar x` differ in sign, and
:math:`D_t` is the running mean of d. For independent draws from a law whose median is its mean
:math:`D_t` is about one half, within :math:`\frac12\pm z/(2\sqrt t)`.

Read it with care. Autocorrelated draws fail it however well they have converged: for a first-order
autoregression :math:`D=\arccos(\rho)/\pi` (.33, .14 and .05 at :math:`\rho` = .5, .9 and .99), and
even independent exponential draws give .465. The number of active vectors changes by at most a few
at a time, so it "fails" for ever unless thinned. R-hat and effective sample sizes judge
convergence; this is here for comparison with papers that print it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri


class Hairiness(NamedTuple):
    """Path of D with the band of independent, symmetric draws."""

    path: np.ndarray  # float64[chains, t]
    lower: np.ndarray  # float64[t]
    upper: np.ndarray  # float64[t]

    @property
    def inside(self) -> np.ndarray:
        """Return, for each chain, whether D ends inside the band."""
        last = self.path[:, -1]
        return (self.lower[-1] <= last) & (last <= self.upper[-1])


def cusum_hairiness(values: np.ndarray, start: int = 0, level: float = 0.9) -> Hairiness:
    """Return Brooks' cusum hairiness of scalar draws.

    Parameters
    ----------
    values : array-like of shape (draws,) or (chains, draws)
    start : int, default=0
        Draws to leave out at the beginning.
    level : float, default=0.9
        Probability of the band.

    Returns
    -------
    Hairiness
        ``path`` of shape (chains, draws - start - 1), ``lower``, ``upper`` and ``inside``.
    """
    draws = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if draws.ndim != 2 or start < 0 or draws.shape[1] - start < 3:
        raise ValueError(
            "values must be (draws,) or (chains, draws) with at least three draws after start; "
            f"got the shape {np.shape(values)} and start={start!r}."
        )
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}.")
    if not np.isfinite(draws).all():
        raise ValueError("values holds NaN or infinity; the cusum path is not defined.")
    kept = draws[:, start:]
    above = kept > kept.mean(axis=1, keepdims=True)
    turns = above[:, 1:] != above[:, :-1]
    count = np.arange(1, turns.shape[1] + 1)
    half = ndtri(0.5 * (1 + level)) / (2 * np.sqrt(count))
    return Hairiness(np.cumsum(turns, axis=1) / count, 0.5 - half, 0.5 + half)
