"""The Gaussian processes of the hybrid search in plain dense NumPy, written from the specification.

Nothing of sparsekern is imported here: this is the oracle. ``log_parameters`` are the logarithms
of amplitude, bandwidths (one for all features or one for each, none without features) and noise
variance. A prior is a triple of (shape, rate) of their inverses.
"""

import math
from itertools import combinations

import numpy as np
from doubly_sparse_dense import KERNELS, kernel_of_energy
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, logsumexp

__all__ = ["KERNELS"]


def energies(here, there, bandwidths, kind):
    """Sum of scaled distances of all pairs of rows; ``bandwidths`` one for each column."""
    apart = here[:, None, :] - there[None, :, :]
    apart = np.abs(apart) if kind == "laplacian" else apart**2
    return (apart / bandwidths).sum(-1)


def correlation(here, there, log_parameters, kind):
    bandwidths = np.exp(log_parameters[1:-1]) if here.shape[1] else 1.0
    return kernel_of_energy(energies(here, there, bandwidths, kind), kind)


def covariance(features, log_parameters, kind):
    """C of the rows, for columns that are all in the model."""
    kernel = np.exp(log_parameters[0]) * correlation(features, features, log_parameters, kind)
    return kernel + np.exp(log_parameters[-1]) * np.eye(len(features))


def log_likelihood(features, response, log_parameters, kind):
    c = covariance(features, log_parameters, kind)
    form = response @ np.linalg.solve(c, response)
    return -0.5 * (form + np.linalg.slogdet(c)[1] + len(response) * np.log(2 * np.pi))


def log_prior(log_parameters, prior):
    """Density of the log parameters: inverse gamma laws, with the Jacobian."""
    amplitude, bandwidth, noise = prior
    pairs = [amplitude, *[bandwidth] * (len(log_parameters) - 2), noise]
    return sum(
        shape * math.log(rate) - math.lgamma(shape) - shape * u - rate * np.exp(-u)
        for u, (shape, rate) in zip(log_parameters, pairs, strict=True)
    )


def predict(features, response, new, log_parameters, kind):
    """Mean and variance of the function at new rows."""
    factor = cho_factor(covariance(features, log_parameters, kind), lower=True)
    cross = np.exp(log_parameters[0]) * correlation(features, new, log_parameters, kind)
    mean = cross.T @ cho_solve(factor, response)
    explained = (cross * cho_solve(factor, cross)).sum(0)
    return mean, np.exp(log_parameters[0]) - explained


def differences(function, at, step):
    """Central differences, the leading error removed: one row for each coordinate."""
    out = []
    for move in np.eye(len(at)):
        narrow, wide = (
            (function(at + h * move) - function(at - h * move)) / (2 * h) for h in (step, 2 * step)
        )
        out.append((4 * narrow - wide) / 3)
    return np.array(out)


def integrate(features, response, kind, prior, count=61, reach=(-7.0, 13.0)):
    """Log evidence and posterior means of the log parameters, by the trapezoidal rule.

    One bandwidth is shared. With the eigenvalues of the correlation matrix at a bandwidth,
    amplitude and noise are cheap. Without features the bandwidth has the mean of its prior.
    """
    grid = np.linspace(*reach, count)
    amplitude, noise = grid[:, None], grid[None, :]
    n = len(response)
    logs, means = [], []
    taus = grid if features.shape[1] else [None]
    for tau in taus:
        u = np.zeros(2) if tau is None else np.array([0.0, tau, 0.0])
        values, vectors = np.linalg.eigh(correlation(features, features, u, kind))
        loadings = (vectors.T @ response) ** 2
        total = np.exp(amplitude)[..., None] * np.maximum(values, 0.0) + np.exp(noise)[..., None]
        inside = -0.5 * ((loadings / total + np.log(total)).sum(-1) + n * np.log(2 * np.pi))
        at = [amplitude, noise] if tau is None else [amplitude, tau, noise]
        inside = inside + log_prior(at, prior)
        logs.append(logsumexp(inside))
        weights = np.exp(inside - logs[-1])
        (shape, rate) = prior[1]
        usual = math.log(rate) - digamma(shape)
        middle = usual if tau is None else tau
        means.append(((weights * amplitude).sum(), middle, (weights * noise).sum()))
    evidence = logsumexp(logs) + (3 if features.shape[1] else 2) * np.log(grid[1] - grid[0])
    return evidence, np.exp(np.array(logs) - logsumexp(logs)) @ np.array(means)


def quadrature_evidence(*data, **options):
    return integrate(*data, **options)[0]


def feature_sets(p, largest):
    """All models, as sorted tuples."""
    return [chosen for size in range(largest + 1) for chosen in combinations(range(p), size)]


def log_model_prior(p, size, exponent=1.0):
    return -exponent * (gammaln(p + 1) - gammaln(size + 1) - gammaln(p - size + 1))


def laplace_evidence(features, response, kind, prior, starts):
    """Log evidence and mode, by a general optimiser and differences; one shared bandwidth."""

    def loss(u):
        return -log_likelihood(features, response, u, kind) - log_prior(u, prior)

    m = 3 if features.shape[1] else 2
    ends = [minimize(loss, np.asarray(start)[[0, *range(3 - m + 1, 3)]]) for start in starts]
    end = min(ends, key=lambda found: found.fun)
    bends = differences(lambda u: differences(loss, u, 3e-3), end.x, 3e-3)
    log_det = np.linalg.slogdet(bends)[1]
    return -end.fun + 0.5 * m * np.log(2 * np.pi) - 0.5 * log_det, end.x
