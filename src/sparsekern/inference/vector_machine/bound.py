r"""The paper's generalisation bound, corrected, as a diagnostic.

With :math:`\tilde\rho=r\max(KL,\rho)`, with probability :math:`1-\vartheta`

.. math:: \text{risk}\le R_{emp}^{(s)}+\frac2s\sqrt{2\tilde\rho/N}
          +\sqrt{\frac{\ln\log_r(r\tilde\rho/\rho)+\frac12\ln(1/\vartheta)}N},

:math:`R_{emp}^{(s)}` the mean of the ramp loss :math:`\min(1,\max(0,1-yf/s))`. For each weight the
posterior is :math:`N(w,1/p)` restricted to :math:`w\ge0`, the prior half-normal of precision
:math:`\alpha_0`. (The paper prints :math:`erfc(-w\alpha/2)` for :math:`erfc(-w\sqrt{p/2})` and
takes the prior's precision for p.) The basis depends on the training labels, so that the bound's
premise of a fixed class does not hold: compare models by it, do not quote it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr


def half_normal_divergence(w: np.ndarray, p: np.ndarray, prior: float) -> np.ndarray:
    r"""Return KL of :math:`N(w,1/p)` on the half line to a half normal of precision ``prior``."""
    root = np.sqrt(p / 2.0)
    squares = 0.5 * (prior / p - 1.0 + np.log(p / prior) + prior * w**2)
    edge = (p + prior) * w / (np.sqrt(2.0 * np.pi * p) * erfcx(-w * root))
    return squares + edge - (np.log(2.0) + log_ndtr(w * np.sqrt(p)))


def risk_bound(
    margins: np.ndarray,
    divergence: float,
    scale: float = 1.0,
    growth: float = 2.0,
    least: float = 1.0,
    confidence: float = 0.95,
) -> float:
    """Return the bound on the error.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        y times the latent value of each training row.
    divergence : float
        Sum of the weights' divergences from their prior.
    scale, growth, least : float
        s, r and rho of the formula.
    confidence : float
    """
    n = len(margins)
    loss = float(np.clip(1.0 - margins / scale, 0.0, 1.0).mean())
    rho = growth * max(divergence, least)
    log_steps = np.log(np.log(growth * rho / least) / np.log(growth))
    last = np.sqrt((log_steps + 0.5 * np.log(1.0 / (1.0 - confidence))) / n)
    return float(loss + 2.0 / scale * np.sqrt(2.0 * rho / n) + last)
