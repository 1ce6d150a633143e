"""The doubly-sparse kernel model in plain dense NumPy, written from the specification.

Nothing of sparsekern is imported here: this is the oracle. A kernel is a function of
E = sum_l eta_l d_l over the included features. Coefficients are independent N(0, sigma^2 nu),
the intercept N(0, sigma^2 v0), 1 / nu ~ Gamma(shape, rate), 1 / sigma^2 ~ Gamma(shape, rate);
features and vectors are Bernoulli up to a largest number of them.
"""

from itertools import combinations

import numpy as np
from scipy.special import digamma, gammaln

KERNELS = ("rbf", "laplacian", "matern32", "matern52")


def kernel_of_energy(energy, kind):
    if kind in ("rbf", "laplacian"):
        return np.exp(-energy)
    root = np.sqrt((6.0 if kind == "matern32" else 10.0) * energy)
    tail = 0.0 if kind == "matern32" else root**2 / 3.0
    return (1.0 + root + tail) * np.exp(-root)


def distances(features, kind):
    """Distances of all pairs of rows, by feature: shape (p, n, n)."""
    difference = features.T[:, :, None] - features.T[:, None, :]
    return np.abs(difference) if kind == "laplacian" else difference**2


def feature_kernel(features, bandwidths, kind="rbf"):
    """Return the kernel matrices for rows of bandwidths (zero: not included), shape (.., n, n)."""
    energy = np.tensordot(np.asarray(bandwidths, dtype=float), distances(features, kind), axes=1)
    return kernel_of_energy(energy, kind)


def covariance(kernel, rows, nu, v0, precision=None):
    """Q = Omega^-1 + v0 11' + nu K_a K_a', over sigma^2."""
    n = len(kernel)
    columns = kernel[:, np.asarray(rows, dtype=int)]
    noise = np.eye(n) if precision is None else np.diag(1.0 / np.asarray(precision))
    return noise + v0 + nu * columns @ columns.T


def log_evidence(latent, q, noise_prior=None):
    """Log density of the rows of ``latent``: normal, or with the noise integrated out.

    Given ``noise_prior`` (shape, rate) of the precision, all rows share one sigma^2 and the law is
    a multivariate t.
    """
    latent = np.atleast_2d(latent)
    count, n = latent.shape
    total = count * n
    energy = np.einsum("ci,ic->", latent, np.linalg.solve(q, latent.T))
    log_det = count * np.linalg.slogdet(q)[1]
    if noise_prior is None:
        return -0.5 * (log_det + energy + total * np.log(2 * np.pi))
    shape, rate = noise_prior
    degrees = 2 * shape
    scale = energy * shape / rate
    return (
        gammaln(0.5 * (degrees + total)) - gammaln(0.5 * degrees)
        - 0.5 * total * np.log(degrees * np.pi) - 0.5 * (log_det + total * np.log(rate / shape))
        - 0.5 * (degrees + total) * np.log1p(scale / degrees)
    )  # fmt: skip


def subsets(n, largest):
    return [list(s) for size in range(largest + 1) for s in combinations(range(n), size)]


def truncated_bernoulli(sizes, probability):
    """Log prior weights of sets of the given sizes, not normalised."""
    return np.asarray(sizes) * np.log(probability / (1 - probability))


def bandwidth_grid(count):
    """Nodes and weights of Exp(1): the trapezoidal rule in t, eta = log(1 + e^t)."""
    t = np.linspace(-15.0, 17.0, count)
    points = np.logaddexp(0.0, t)
    weights = np.exp(-points) / (1 + np.exp(-t))
    return points, weights / weights.sum()


def precision_grid(shape, rate, count):
    """Nodes and weights of Gamma(shape, rate): the trapezoidal rule in the logarithm."""
    u = np.linspace(-16.0 / shape, np.log(30.0 + 4 * shape), count)
    log_weights = shape * u - np.exp(u)
    weights = np.exp(log_weights - log_weights.max())
    return np.exp(u) / rate, weights / weights.sum()


def feature_terms(features, feature_probability, max_features, kind, count, select=True):
    """Every feature set with its bandwidths on a grid: bandwidths, log weights, kernels.

    Without ``select`` the only set is that of all features.
    """
    p = features.shape[1]
    points, weights = bandwidth_grid(count)
    eta, log_prior = [], []
    for chosen in subsets(p, max_features) if select else [list(range(p))]:
        grids = np.meshgrid(*[points] * len(chosen), indexing="ij")
        masses = np.meshgrid(*[weights] * len(chosen), indexing="ij")
        block = np.zeros((max(1, len(points) ** len(chosen)), p))
        mass = np.ones(len(block))
        for place, feature in enumerate(chosen):
            block[:, feature] = grids[place].ravel()
            mass *= masses[place].ravel()
        eta.append(block)
        log_prior.append(np.log(mass) + truncated_bernoulli(len(chosen), feature_probability))
    eta = np.concatenate(eta)
    keep = np.concatenate(log_prior) > -60.0
    eta = eta[keep]
    return eta, np.concatenate(log_prior)[keep], feature_kernel(features, eta, kind)


def spectra(kernels, rows, response, v0, precision):
    """Eigenvalues of nu = 1 and squared loadings of the response, so that any nu is cheap.

    With C = Omega^-1 + v0 11' = LL' and L^-1 K_a K_a' L^-T = U diag(e) U' the covariance is
    L U (1 + nu e) U' L'.
    """
    n = kernels.shape[1]
    root = np.linalg.cholesky(np.diag(1.0 / precision) + v0 * np.ones((n, n)))
    columns = np.linalg.solve(root, kernels[:, :, rows])
    values, vectors = np.linalg.eigh(columns @ columns.transpose(0, 2, 1))
    loadings = np.einsum("tij,ci->tcj", vectors, np.linalg.solve(root, response.T).T)
    return np.maximum(values, 0.0), (loadings**2).sum(1)


def posterior_moments(
    features, response, model, functionals, counts=(48, 40), precision=None, rows=None,
    counted=None,
):  # fmt: skip
    """Return posterior means of ``functionals`` by enumeration and quadrature.

    ``rows`` may become active; None: all. ``counted`` is how many responses there are, where rows
    have weights (which are their ``precision``).

    ``model`` is a dict: kind, feature_probability, vector_probability, max_features, max_active,
    v0, slab_prior or nu, noise_prior, and where all are in, select_features or select_vectors
    false. ``functionals(eta, active, log_nu, log_variance)`` gets
    arrays that broadcast (terms, nodes of nu); log_variance is E log sigma^2 given the rest.
    """
    response = np.atleast_2d(response)
    latents, n = response.shape
    precision = np.ones(n) if precision is None else precision
    counted = n if counted is None else counted
    kind = model.get("kind", "rbf")
    eta, log_prior, kernels = feature_terms(
        features, model["feature_probability"], model["max_features"], kind, counts[0],
        model.get("select_features", True),
    )  # fmt: skip
    if model.get("slab_prior") is None:
        nu, nu_log_weight = np.array([model["nu"]]), np.zeros(1)
    else:
        nodes, weights = precision_grid(*model["slab_prior"], counts[1])
        with np.errstate(divide="ignore"):
            nu, nu_log_weight = 1.0 / nodes, np.log(weights)
    logs, found = [], []
    candidates = np.arange(n) if rows is None else np.asarray(rows)
    everything = [list(range(len(candidates)))]
    select = model.get("select_vectors", True)
    for chosen in subsets(len(candidates), model["max_active"]) if select else everything:
        rows = candidates[np.array(chosen, dtype=int)]
        values, loadings = spectra(kernels, rows, response, model["v0"], precision)
        stretched = 1.0 + nu[None, :, None] * values[:, None, :]
        log_det = latents * np.log(stretched).sum(-1)
        form = (loadings[:, None, :] / stretched).sum(-1)
        log_variance = np.zeros_like(form)
        if model.get("noise_prior") is None:
            log_m = -0.5 * (log_det + form)
        else:
            shape, rate = model["noise_prior"]
            shape, rate = shape + 0.5 * counted * latents, rate + 0.5 * form
            log_m = -0.5 * log_det - shape * np.log(rate)
            log_variance = np.log(rate) - digamma(shape)
        prior = log_prior[:, None] + nu_log_weight
        logs.append(log_m + prior + truncated_bernoulli(len(rows), model["vector_probability"]))
        active = np.zeros(n)
        active[rows] = 1.0
        values = functionals(
            eta.T[:, :, None], active[:, None, None], np.log(nu)[None, :], log_variance
        )
        found.append([np.broadcast_to(v, log_m.shape) for v in values.values()])
    top = max(block.max() for block in logs)
    total, sums = 0.0, 0.0
    for block, values in zip(logs, found, strict=True):
        weight = np.exp(block - top)
        total += weight.sum()
        sums = sums + np.array([(weight * v).sum() for v in values])
    return dict(zip(functionals(*[np.zeros((9, 1, 1))] * 2, 0.0, 0.0), sums / total, strict=True))


def draw_prior(rng, count, features, model):
    """Draw everything but responses ``count`` times; a dict of arrays.

    ``latents`` functions share features, vectors, slab and noise.
    """
    n, p = features.shape
    latents = model.get("latents", 1)

    def choose(size, largest, probability):
        sets = subsets(size, largest)
        weights = np.exp(truncated_bernoulli([len(s) for s in sets], probability))
        table = np.zeros((len(sets), size), bool)
        for i, chosen in enumerate(sets):
            table[i, chosen] = True
        return table[rng.choice(len(sets), count, p=weights / weights.sum())]

    included = choose(p, model["max_features"], model["feature_probability"])
    active = choose(n, model["max_active"], model["vector_probability"])
    eta = np.where(included, rng.standard_exponential((count, p)), 0.0)
    nu = np.full(count, model.get("nu", 1.0))
    if model.get("slab_prior") is not None:
        nu = model["slab_prior"][1] / rng.standard_gamma(model["slab_prior"][0], count)
    variance = np.ones(count)
    if model.get("noise_prior") is not None:
        variance = model["noise_prior"][1] / rng.standard_gamma(model["noise_prior"][0], count)
    deviation = np.sqrt(variance)[:, None, None]
    beta = rng.standard_normal((count, latents, n)) * np.sqrt(nu)[:, None, None] * deviation
    beta = np.where(active[:, None, :], beta, 0.0)
    intercept = rng.standard_normal((count, latents)) * np.sqrt(model["v0"]) * deviation[:, 0]
    kernels = feature_kernel(features, eta, model.get("kind", "rbf"))
    fitted = intercept[:, :, None] + np.einsum("tij,tcj->tci", kernels, beta)
    return {
        "included": included, "eta": eta, "active": active, "nu": nu, "variance": variance,
        "beta": beta, "intercept": intercept, "fitted": fitted,
    }  # fmt: skip


def batch_error(values, batches=50):
    """Standard error of the mean of a correlated series, by batch means."""
    length = len(values) // batches
    means = values[: length * batches].reshape(batches, length, *values.shape[1:]).mean(1)
    return means.std(0, ddof=1) / np.sqrt(batches)


def scores(draws, exact, exact_error=0.0, batches=50):
    """Return z by name: chain means against exact values; both are dicts."""
    found = {}
    for name, value in exact.items():
        series = np.asarray(draws[name], dtype=float)
        rough = exact_error[name] if isinstance(exact_error, dict) else exact_error
        error = np.hypot(batch_error(series, batches), rough)
        if np.ptp(series) == 0:  # the chain never moved it
            error = max(error, 1.0 / np.sqrt(len(series)) * np.sqrt(1e-12 + abs(value)))
        found[name] = float((series.mean() - value) / error)
    return found


def worst(z):
    name = max(z, key=lambda key: abs(z[key]))
    return f"max|z| {abs(z[name]):.2f} ({name}) of {len(z)}"
