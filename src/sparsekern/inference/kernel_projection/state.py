"""What chains of all models are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Settings(NamedTuple):
    """Data and priors: what stays the same over all chains of a fit."""

    design: np.ndarray  # float64[m, n], components by row, the intercept last
    gram: np.ndarray  # float64[m, m], design times its transpose (nothing where it is diagonal)
    squares: np.ndarray  # float64[m], diagonal of that
    labels: np.ndarray  # int64[n]
    products: np.ndarray  # float64[C, m], responses times design (least squares)
    energies: np.ndarray  # float64[C], squared sizes of the responses (least squares)
    one_factor: bool  # whether classes share a Cholesky factor up to the intercept
    block: np.ndarray  # int64[m], kernel that a component belongs to, -1 for the intercept
    sizes: np.ndarray  # int64[L], components of each kernel
    reference: bool  # whether the last class has no latent function of its own
    average: bool  # whether components are selected
    select_kernels: bool  # whether a kernel's amplitude may be zero
    own_precisions: bool  # whether every coefficient has a precision of its own
    scale_prior: float  # scale A of the law of a kernel's scale
    half_cauchy: bool  # whether that law is half-Cauchy, not half-normal
    noise_prior: tuple[float, float]  # shape and rate of 1/sigma^2
    precision_prior: tuple[float, float]  # shape and rate of tau
    intercept_prior: tuple[float, float]  # shape and rate of the intercept's tau
    monitored: np.ndarray  # int64[q], rows whose class probability is followed


class ChainState(NamedTuple):
    """All that a chain needs to go on."""

    sweep: np.ndarray  # int64[1]
    coefficients: np.ndarray  # float64[C, m]
    precisions: np.ndarray  # float64[C, m], tau
    included: np.ndarray  # int64[C, m]
    latent: np.ndarray  # float64[C, n], z
    scales: np.ndarray  # float64[L], s^2 of each kernel
    noise: np.ndarray  # float64[1], sigma^2
    share: np.ndarray  # float64[1], prior probability that a component (or kernel) is included
    used: np.ndarray  # int64[C, L], whether a kernel has a part in a latent function
    curvature: np.ndarray  # float64[C, m], h, what paths take the data to say of a coefficient
    log_step: np.ndarray  # float64[L + 1], of the scale moves, and of the paths
    tallies: np.ndarray  # int64[2, 2], scale moves and paths: tried and accepted after tuning


class Draws(NamedTuple):
    """Kept draws of one chain."""

    coefficients: np.ndarray  # float64[T, C, m]
    included: np.ndarray  # int8[T, C, m] (nothing unless components are selected)
    used: np.ndarray  # int8[T, C, L] (nothing unless kernels are selected)
    scales: np.ndarray  # float64[T, L], s, and zero for a kernel without any part
    noise_variance: np.ndarray  # float64[T], sigma^2
    log_likelihood: np.ndarray  # float64[T]
    monitored: np.ndarray  # float64[T, q]


class Workspace(NamedTuple):
    """Memory of one running chain."""

    weighted: np.ndarray  # float64[m, n]
    matrix: np.ndarray  # float64[m, m]
    root: np.ndarray  # float64[m, m]
    right: np.ndarray  # float64[C, m]
    vector: np.ndarray  # float64[m]
    response: np.ndarray  # float64[n]
    rows: np.ndarray  # float64[C, n]
    other: np.ndarray  # float64[C, n]
    places: np.ndarray  # int64[m]
    trial: np.ndarray  # float64[C, m], coefficients along a path
    momentum: np.ndarray  # float64[C, m]
    velocity: np.ndarray  # float64[C, m], per momentum
    gradient: np.ndarray  # float64[C, m], of minus the log-likelihood
    precision: np.ndarray  # float64[C, m], of the prior
