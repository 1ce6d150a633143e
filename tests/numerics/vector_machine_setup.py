"""Small sparse kernel machines, and what dense algebra and quadrature say about them."""

import itertools

import numpy as np
from scipy.special import log_expit, log_ndtr

from sparsekern.inference.vector_machine.columns import CandidateColumns
from sparsekern.inference.vector_machine.gains import GAUSSIAN, RULES
from sparsekern.inference.vector_machine.machine import Problem, empty_machine
from sparsekern.inference.vector_machine.selection import INFERENCES, refresh
from sparsekern.likelihoods.terms import CODES, PROBIT

SLOPE = np.sqrt(8 / np.pi)
METHODS = {
    "laplace": ("laplace", "probit", True, "gaussian"),
    "laplace truncated": ("laplace", "probit", True, "truncated"),
    "laplace logit": ("laplace", "scaled_logit", True, "gaussian"),
    "ep": ("ep", "probit", True, "gaussian"),
    "ep truncated": ("ep", "probit", True, "truncated"),
    "smoothed": ("smoothed", "probit", True, "smoothed"),
    "rvm": ("laplace", "logit", False, "gaussian"),
    "rvm ep": ("ep", "probit", False, "gaussian"),
}


def log_likelihood(name, margin):
    """Return the log of each factor; ``margin`` is y f."""
    if name == "probit":
        return log_ndtr(margin)
    return log_expit((SLOPE if name == "scaled_logit" else 1.0) * margin)


def make_problem(method, labels, min_gain=0.1):
    inference, likelihood, signed, rule = METHODS[method]
    return Problem(
        np.asarray(labels, float),
        INFERENCES[inference],
        CODES[likelihood],
        signed,
        RULES[rule],
        min_gain,
    )


def gaussian_kernel(left, right, width):
    return np.exp(-0.5 * ((left[:, None] - right[None]) ** 2).sum(-1) / width**2)


def draw_rows(seed, n, shift=0.8):
    """Return features and labels of two overlapping clouds."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    features = rng.standard_normal((n, 2))
    features[:, 0] += shift * labels
    return features, labels


def signed_design(features, labels, rows, width=1.0, signed=True):
    """Return bias and columns, a row for each."""
    kernel = gaussian_kernel(features, features[rows], width).T
    return np.vstack([np.ones(len(features)), kernel * (labels[rows][:, None] if signed else 1.0)])


def open_machine(design, alpha, problem):
    """Return a refreshed machine with these columns."""
    size = len(design)
    machine = empty_machine(design.shape[1], size + 2, alpha[0])
    machine.size[0] = size
    machine.design[:size] = design
    machine.alpha[:size] = alpha
    machine.members[1:size] = np.arange(size - 1)
    refresh(machine, problem)
    return machine


def small_machine(method, seed=0, n=24, size=4, width=1.0, alpha=None):
    features, labels = draw_rows(seed, n)
    problem = make_problem(method, labels)
    design = signed_design(features, labels, np.arange(size - 1), width, problem.signed)
    if alpha is None:
        alpha = np.concatenate([[0.1], np.random.default_rng(seed).uniform(0.2, 3.0, size - 1)])
    return open_machine(design, alpha, problem), problem


def dense_gaussian(machine):
    """Return H, its inverse and the mean, from the sites alone."""
    size = int(machine.size[0])
    design = machine.design[:size]
    h = np.diag(machine.alpha[:size] + machine.edge_precision[:size])
    h = h + (design * machine.tau) @ design.T
    covariance = np.linalg.inv(h)
    return h, covariance, covariance @ (design @ machine.nu + machine.edge_shift[:size])


def sites_evidence(machine, design, alpha, d, h):
    """Return the log evidence of Gaussian sites, constants of the sites left out."""
    precision = np.diag(alpha + d) + (design * machine.tau) @ design.T
    shift = design @ machine.nu + h
    return 0.5 * (
        np.log(alpha).sum()
        - np.linalg.slogdet(precision)[1]
        + shift @ np.linalg.solve(precision, shift)
    )


def quadrature(log_density, boxes, nodes):
    """Return log of the integral, mean and covariance over a box, by Gauss-Legendre products."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    axes, scales = [], []
    for low, high in boxes:
        axes.append(0.5 * (high - low) * points + 0.5 * (high + low))
        scales.append(0.5 * (high - low) * weights)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")])
    mass = np.prod([part.ravel() for part in np.meshgrid(*scales, indexing="ij")], axis=0)
    values = log_density(grid)
    top = values.max()
    mass = mass * np.exp(values - top)
    total = mass.sum()
    mean = grid @ mass / total
    covariance = (grid - mean[:, None]) * mass @ (grid - mean[:, None]).T / total
    return top + np.log(total), mean, covariance


def exact_posterior(design, labels, alpha, likelihood="probit", signed=True, nodes=40, reach=9.0):
    """Return log evidence, mean and covariance of two or three weights."""
    size = len(design)

    def log_density(w):
        value = log_likelihood(likelihood, labels[:, None] * (design.T @ w)).sum(0)
        value += 0.5 * (np.log(alpha / (2 * np.pi))[:, None] - alpha[:, None] * w**2).sum(0)
        return value + (size - 1) * np.log(2) * signed

    boxes = [(-reach, reach)] + [(0.0 if signed else -reach, reach)] * (size - 1)
    _, mean, covariance = quadrature(log_density, boxes, nodes)
    sd = np.sqrt(np.diag(covariance))  # once more where the mass is
    boxes = [
        (max(low, m - 9 * s), min(high, m + 9 * s))
        for (low, high), m, s in zip(boxes, mean, sd, strict=True)
    ]
    return quadrature(log_density, boxes, nodes)


def columns_of(features, labels, width=1.0, signed=True, single=False, block=512):
    """Return every training row as a candidate."""
    kernel = gaussian_kernel(features, features, width)
    signs = labels if signed else np.ones(len(labels))
    return CandidateColumns(lambda chosen: kernel[chosen], signs, len(labels), block, single)


def subsets(count):
    return itertools.chain.from_iterable(
        itertools.combinations(range(count), k) for k in range(count + 1)
    )


__all__ = [
    "GAUSSIAN", "METHODS", "PROBIT", "SLOPE", "columns_of", "dense_gaussian", "draw_rows",
    "exact_posterior", "gaussian_kernel", "log_likelihood", "make_problem", "open_machine",
    "quadrature", "signed_design", "sites_evidence", "small_machine", "subsets",
]  # fmt: skip
