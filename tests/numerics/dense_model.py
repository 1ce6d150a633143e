"""The generalized kernel model in plain dense NumPy, written from the specification.

Nothing of sparsekern is imported here: this is the oracle. Precisions are g (coefficients) and
eta (intercept), both with a gamma prior given as (shape, rate); the kernel is the Gaussian one,
exp(-sum (x-x')^2 / 2 l^2).
"""

import numpy as np
from scipy.special import betaln


def gaussian_kernel(left, right, length_scale):
    difference = (left[:, None, :] - right[None, :, :]) / length_scale
    return np.exp(-0.5 * (difference**2).sum(-1))


def covariance(kernel, rows, g, eta, jitter, precision=None):
    """Q = Omega^-1 + 11'/eta + K_gamma (K_gamma,gamma + jitter I)^-1 K_gamma' / g."""
    n = len(kernel)
    rows = np.asarray(rows, dtype=int)
    noise = np.eye(n) if precision is None else np.diag(1.0 / np.asarray(precision))
    q = noise + np.full((n, n), 1.0 / eta)
    if len(rows):
        columns = kernel[:, rows]
        q += columns @ np.linalg.solve(columns[rows] + jitter * np.eye(len(rows)), columns.T) / g
    return q


def log_normal(latent, q):
    """Sum over the rows of ``latent`` of log N(row; 0, Q)."""
    latent = np.atleast_2d(latent)
    size = q.shape[0]
    log_det = np.linalg.slogdet(q)[1]
    energy = np.einsum("ci,ci->", latent, np.linalg.solve(q, latent.T).T)
    return -0.5 * (len(latent) * (log_det + size * np.log(2 * np.pi)) + energy)


def log_joint(latent, kernel, rows, g, eta, jitter, prior, precision=None):
    """log N(s; 0, Q) + log p(log g) + log p(log eta); ``prior`` = (a_g, b_g, a_eta, b_eta)."""
    value = log_normal(latent, covariance(kernel, rows, g, eta, jitter, precision))
    value += prior[0] * np.log(g) - prior[1] * g
    return value + prior[2] * np.log(eta) - prior[3] * eta


def all_sets(n, largest):
    """Every active set of at most ``largest`` of n rows, by the integer whose bits it is."""
    return {
        code: [i for i in range(n) if code >> i & 1]
        for code in range(2**n)
        if bin(code).count("1") <= largest
    }


def set_log_prior(n, size, shapes=(1.0, 1.0)):
    return betaln(size + shapes[0], n - size + shapes[1])


def normalized(log_weights):
    weights = np.exp(np.asarray(log_weights) - np.max(log_weights))
    return weights / weights.sum()


def exact_set_posterior(n, largest, log_evidence, shapes=(1.0, 1.0)):
    """Probability of every set by enumeration; zero for those that are too large."""
    sets = all_sets(n, largest)
    logs = [log_evidence(rows) + set_log_prior(n, len(rows), shapes) for rows in sets.values()]
    probabilities = np.zeros(2**n)
    probabilities[list(sets)] = normalized(logs)
    return probabilities


def total_variation(left, right):
    return 0.5 * np.abs(left - right).sum()


def by_size(probabilities):
    """Marginal law of the size from the law of the sets."""
    n = int(np.log2(len(probabilities)))
    sizes = np.array([bin(code).count("1") for code in range(2**n)])
    return np.bincount(sizes, weights=probabilities, minlength=n + 1)


def draw_prior(rng, draws, features, prior, jitter, largest, box, per_feature=False):
    """Draw everything from the prior ``draws`` times; returns a dict of arrays.

    The size k is uniform on 0..largest (shapes 1, 1) and the set uniform given k. Inactive
    coefficients are zero: the prior matrix gets a unit row there, which decouples them.
    """
    n, p = features.shape
    size = rng.integers(0, largest + 1, draws)
    order = np.argsort(rng.random((draws, n)), axis=1)
    active = np.argsort(order, axis=1) < size[:, None]
    scale = rng.uniform(box[0], box[1], (draws, p if per_feature else 1)) * np.ones(p)
    g = rng.gamma(prior[0], 1 / prior[1], draws)
    eta = rng.gamma(prior[2], 1 / prior[3], draws)
    squares = (features[:, None, :] - features[None, :, :]) ** 2
    kernel = np.exp(-0.5 * np.einsum("ijl,tl->tij", squares, scale**-2.0))
    both = active[:, :, None] & active[:, None, :]
    matrix = np.where(both, kernel, 0.0) + np.eye(n) * np.where(active, jitter, 1.0)[:, None, :]
    root = np.linalg.cholesky(matrix)
    noise = rng.standard_normal((draws, n, 1))
    beta = np.linalg.solve(root.transpose(0, 2, 1), noise)[:, :, 0] / np.sqrt(g)[:, None]
    beta = np.where(active, beta, 0.0)
    intercept = rng.standard_normal(draws) / np.sqrt(eta)
    fitted = intercept[:, None] + np.einsum("tij,tj->ti", kernel, beta)
    latent = fitted + rng.standard_normal((draws, n))
    energy = np.einsum("ti,tij,tj->t", beta, matrix, beta)
    return {
        "active": active, "scale": scale, "g": g, "eta": eta, "beta": beta, "energy": energy,
        "intercept": intercept, "fitted": fitted, "latent": latent,
        "side": np.where(latent > 0, 1.0, -1.0),
    }  # fmt: skip


def batch_error(values, batches=100):
    """Standard error of the mean of a correlated series, by batch means."""
    length = len(values) // batches
    means = values[: length * batches].reshape(batches, length, *values.shape[1:]).mean(1)
    return means.std(0, ddof=1) / np.sqrt(batches)
