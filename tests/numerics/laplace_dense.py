"""Evidence of log-concave laws in plain NumPy: exact by quadrature, and Laplace's.

Nothing of sparsekern is imported here: this is the oracle. A law is a name; the latent value of a
row is its offset plus the function, its log density counts ``weights`` times. The function is
``design @ alpha`` with whitened coefficients, alpha ~ N(0, I).
"""

import numpy as np
from scipy.special import expit, gammaln, log_ndtr

LAWS = ("probit", "logit", "hinge", "poisson")
SHARPNESS = 5.0  # of the smooth hinge that Laplace's method is applied to


def log_density(law, y, f):
    """Return log p(y | f)."""
    if law == "probit":
        return log_ndtr(y * f)
    if law == "logit":
        return -np.logaddexp(0.0, -y * f)
    if law == "hinge":
        return -2.0 * np.maximum(1.0 - y * f, 0.0)
    with np.errstate(over="ignore"):
        return y * f - np.exp(f) - gammaln(y + 1.0)


def smooth_terms(law, y, f):
    """Return log density (of the hinge: a smooth one), slope and minus the second derivative."""
    if law == "probit":
        z = y * f
        ratio = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
        return log_ndtr(z), y * ratio, ratio * (z + ratio)
    if law == "logit":
        wrong = expit(-y * f)
        return -np.logaddexp(0.0, -y * f), y * wrong, wrong * (1.0 - wrong)
    if law == "hinge":
        gap = SHARPNESS * (1.0 - y * f)
        inside = expit(gap)
        value = -2.0 / SHARPNESS * np.logaddexp(0.0, gap)
        return value, 2.0 * y * inside, 2.0 * SHARPNESS * inside * (1.0 - inside)
    with np.errstate(over="ignore"):
        mean = np.exp(f)
        return y * f - mean - gammaln(y + 1.0), y - mean, mean


def laplace_evidence(law, y, design, offset=None, weights=None):
    """Return Laplace's log evidence for a stack of designs, shape (.., n, k), and the modes.

    Newton's method from zero, each step halved until it gains.
    """
    *stack, n, size = design.shape
    design = design.reshape(-1, n, size)
    offset = np.zeros(n) if offset is None else offset
    weights = np.ones(n) if weights is None else weights

    def value(alpha, here):
        f = offset + np.einsum("tij,tj->ti", design[here], alpha)
        return smooth_terms(law, y, f)[0] @ weights - 0.5 * (alpha**2).sum(1)

    alpha = np.zeros((len(design), size))
    left = np.arange(len(design))
    for _ in range(300):
        f = offset + np.einsum("tij,tj->ti", design[left], alpha[left])
        _, slope, curvature = smooth_terms(law, y, f)
        gradient = np.einsum("ti,tij->tj", weights * slope, design[left]) - alpha[left]
        weighted = (weights * curvature)[:, :, None] * design[left]
        hessian = np.eye(size) + np.einsum("tij,tik->tjk", design[left], weighted)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        before, length = value(alpha[left], left), np.ones(len(left))
        for _ in range(60):
            after = value(alpha[left] + length[:, None] * step, left)
            short = ~(after >= before - 1e-12 * np.abs(before))
            if not short.any():
                break
            length[short] *= 0.5
        alpha[left] += length[:, None] * step
        left = left[np.einsum("tj,tj->t", gradient, step) > 1e-22]
        if len(left) == 0:
            break
    assert len(left) == 0, "Newton's method has not arrived"
    f = offset + np.einsum("tij,tj->ti", design, alpha)
    curvature = smooth_terms(law, y, f)[2]
    hessian = np.eye(size) + np.einsum(
        "tij,tik->tjk", design, (weights * curvature)[:, :, None] * design
    )
    logs = value(alpha, np.arange(len(design))) - 0.5 * np.linalg.slogdet(hessian)[1]
    return logs.reshape(stack), alpha.reshape(*stack, size)


def evidence_by_quadrature(law, y, design, offset=None, weights=None, functionals=None, count=601):
    """Return the log evidence of one design of one or two columns, and posterior means."""
    n, size = design.shape
    offset = np.zeros(n) if offset is None else offset
    weights = np.ones(n) if weights is None else weights
    line = np.linspace(-10.0, 10.0, count)
    points = np.stack(np.meshgrid(*[line] * size, indexing="ij"), -1).reshape(-1, size)
    logs = log_density(law, y, offset + points @ design.T) @ weights
    logs += -0.5 * (points**2).sum(1) + size * (np.log(line[1] - line[0]) - 0.5 * np.log(2 * np.pi))
    top = logs.max()
    mass = np.exp(logs - top)
    means = [] if functionals is None else functionals(points).T @ mass / mass.sum()
    return top + np.log(mass.sum()), means
