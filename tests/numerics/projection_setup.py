"""Joint law of parameters and labels of the kernel projection models, both ways."""

import inspect
import re
import textwrap
from typing import NamedTuple

import numba
import numpy as np
from dense_model import batch_error

from sparsekern._jit import jit
from sparsekern.inference.kernel_projection import latent_noise, polya_gamma
from sparsekern.inference.kernel_projection.sampler import KernelProjectionSampler
from sparsekern.inference.kernel_projection.softmax import log_sum_of_others

sweep_polya_gamma = polya_gamma.sweep_once
sweep_latent_noise = latent_noise.sweep_once
N, M = 12, 3


def orthogonal_columns(seed=3, n=N, m=M):
    """Return columns with P'P diagonal and P'1 = 0, as projections are."""
    rng = np.random.default_rng(seed)
    centred = rng.standard_normal((n, m)) * [1.5, 1.0, 0.6][:m]
    centred -= centred.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    return left * values


def make_sampler(priors, n_classes=3, columns=None, labels=None):
    columns = [orthogonal_columns()] if columns is None else columns
    labels = np.arange(len(columns[0])) % n_classes if labels is None else labels
    return KernelProjectionSampler(columns, labels, n_classes, priors)


@jit
def fresh_labels(rng, latent, labels, reference):
    """Draw labels given the latent values."""
    classes = latent.shape[0]
    for i in range(labels.shape[0]):
        total = log_sum_of_others(latent, i, -1, reference)
        level = rng.random()
        label = 0
        while label < classes:
            level -= np.exp(latent[label, i] - total)
            if level < 0.0:
                break
            label += 1
        labels[i] = min(label, classes if reference else classes - 1)


@jit
def alternate_polya_gamma(rng, state, work, settings, numbers, coefficients, labels):
    """Alternate sweeps and fresh labels; write everything down after each."""
    for t in range(labels.shape[0]):
        sweep_polya_gamma(rng, state, work, settings, False)
        state.sweep[0] += 1  # whose turn it is
        fresh_labels(rng, state.latent, settings.labels, settings.reference)
        coefficients[t] = state.coefficients
        labels[t] = settings.labels
        numbers[t, 0] = state.scales[0]
        numbers[t, 1] = state.precisions[0, state.precisions.shape[1] - 1]
        numbers[t, 2] = state.precisions[0, 0]
        numbers[t, 3] = state.included[0, 0] + state.included[1, 1]
        numbers[t, 4] = state.share[0]
        numbers[t, 5] = (state.latent**2).sum()


@jit
def alternate_latent_noise(rng, state, work, settings, numbers, coefficients, labels):
    """The same with fresh latent values, too."""
    for t in range(labels.shape[0]):
        sweep_latent_noise(rng, state, work, settings, False)
        sd = np.sqrt(state.noise[0])
        for k in range(state.latent.shape[0]):
            for i in range(state.latent.shape[1]):
                state.latent[k, i] = work.rows[k, i] + sd * rng.standard_normal()
        fresh_labels(rng, state.latent, settings.labels, settings.reference)
        coefficients[t] = state.coefficients
        labels[t] = settings.labels
        numbers[t, 0] = state.noise[0]
        numbers[t, 1] = state.precisions[0, state.precisions.shape[1] - 1]
        numbers[t, 2] = state.precisions[0, 0]
        numbers[t, 3] = state.included[0, 0] + state.included[1, 1]
        numbers[t, 4] = state.share[0]
        numbers[t, 5] = (state.latent**2).sum()


def rewritten(function, *changes, **replacements):
    """Compile a compiled function again with pieces of its text changed, (old, new) each.

    ``replacements`` are names that it uses. Nothing is cached on disk.
    """
    source = function.py_func
    text = re.sub(r"@jit\w*\n", "", textwrap.dedent(inspect.getsource(source)))
    for old, new in changes:
        assert old in text, f"{source.__name__} has no {old!r}"
        text = text.replace(old, new)
    names = {**source.__globals__, **replacements}
    exec(text, names)
    return numba.njit(error_model="numpy")(names[source.__name__])


def printed_order():
    """Return the block step as printed: beta given the old noise, then the noise without beta."""
    return rewritten(
        latent_noise.draw_noise_and_coefficients,
        ("    state.noise[0] = rate", "    before = state.noise[0]\n    state.noise[0] = rate"),
        ("math.sqrt(state.noise[0])", "math.sqrt(before)"),
    )


def run_chain(alternate, sampler, sweeps, seed):
    rng = np.random.default_rng(seed)
    state = sampler.start(rng, 1)
    state.log_step[:] = np.log(0.5)
    latents, m = state.coefficients.shape
    numbers, coefficients = np.zeros((sweeps, 6)), np.zeros((sweeps, latents, m))
    labels = np.zeros((sweeps, sampler.settings.design.shape[1]), np.int64)
    settings = sampler.settings._replace(labels=sampler.settings.labels.copy())
    alternate(rng, state, sampler.open(state), settings, numbers, coefficients, labels)
    return numbers, coefficients, labels


class PriorDraws(NamedTuple):
    """Parameters and labels, one draw after the other."""

    variance: np.ndarray  # s^2, or that of the latent noise
    precisions: np.ndarray
    included: np.ndarray
    share: np.ndarray
    coefficients: np.ndarray
    latent: np.ndarray
    labels: np.ndarray

    def numbers(self):
        """Return the columns that functionals are made of."""
        tau, included = self.precisions, self.included
        both = included[:, 0, 0] + included[:, 1, 1]
        size = (self.latent**2).sum((1, 2))
        columns = [self.variance, tau[:, 0, -1], tau[:, 0, 0], both, self.share, size]
        return np.column_stack(columns)


def draw_prior(sampler, draws, seed):
    """Draw parameters and labels from the prior, in NumPy."""
    rng = np.random.default_rng(seed)
    settings, priors, latents = sampler.settings, sampler.priors, sampler.n_latents
    m, n = settings.design.shape
    component = settings.block >= 0
    tau = np.ones((draws, latents, m))
    if priors.precision is not None:
        tau = rng.gamma(priors.precision[0], 1 / priors.precision[1], tau.shape)
    shape, rate = priors.intercept_precision
    tau[..., ~component] = rng.gamma(shape, 1 / rate, (draws, latents, int((~component).sum())))
    share, included = np.full(draws, 0.5), np.ones((draws, latents, m), np.int64)
    if priors.average:
        share = rng.random(draws)
        each = (draws, 1, m) if priors.model == "latent_noise" else included.shape
        included = included * (rng.random(each) < share[:, None, None])
        included[..., ~component] = 1
    if priors.select_kernels:
        share = rng.random(draws)
        kernels = settings.block.max() + 1
        used = rng.random((draws, latents, kernels)) < share[:, None, None]
        included = np.where(component, used[..., settings.block], 1)
    if priors.model == "latent_noise":
        variance = 1 / rng.gamma(priors.noise[0], 1 / priors.noise[1], draws)
        spread = np.broadcast_to(variance[:, None, None], tau.shape) / tau
    else:
        shape = (draws, settings.block.max() + 1)
        standard = np.tan(0.5 * np.pi * rng.random(shape))
        if not priors.half_cauchy:
            standard = rng.standard_normal(shape)
        if priors.select_kernels:  # with the further factor s^2: the length of three normals
            standard = np.linalg.norm(rng.standard_normal((*shape, 3)), axis=-1)
        variances = (priors.scale * standard) ** 2
        variance = variances[:, 0]
        spread = np.column_stack([variances, np.ones(draws)])[:, None, settings.block] / tau
    coefficients = included * np.sqrt(spread) * rng.standard_normal(tau.shape)
    latent = coefficients @ settings.design
    if priors.model == "latent_noise":
        latent = latent + np.sqrt(variance)[:, None, None] * rng.standard_normal(latent.shape)
    every = latent
    if priors.reference:
        every = np.concatenate([latent, np.zeros((draws, 1, n))], axis=1)
    labels = np.argmax(every + rng.gumbel(size=every.shape), axis=1)
    return PriorDraws(variance, tau, included, share, coefficients, latent, labels)


def functionals(numbers, coefficients, labels):
    """Return the matrix of functionals, one column each, and their names."""
    log_variance, log_tau = np.log(numbers[:, 0]), np.log(numbers[:, 1:3])
    size = np.log1p(coefficients[..., :-1] ** 2 / numbers[:, 0, None, None])
    intercept = np.log1p(coefficients[..., -1] ** 2)
    counts = np.stack([(labels == k).sum(1) for k in range(3)], axis=1)
    columns = {
        "log variance": log_variance,
        "log variance, bounded": np.tanh(log_variance / 4),
        "precision": 1 / (1 + numbers[:, 0]),
        "log tau_0": log_tau[:, 0],
        "log tau": log_tau[:, 1],
        "log variance log tau_0": np.tanh(log_variance / 4) * log_tau[:, 0],
        "sizes": size.sum((1, 2)),
        "first size": size[:, 0, 0],
        "size and scale": size.sum((1, 2)) * np.tanh(log_variance / 4),
        "intercepts": intercept.sum(1),
        "intercept and tau_0": intercept[:, 0] * log_tau[:, 0],
        "sign": np.sign(coefficients[:, 0, 0]) * np.sign(coefficients[:, 1, 1]),
        "energy": np.log1p((coefficients**2).sum((1, 2))),
        "latent energy": np.log1p(numbers[:, 5]),
        "first class": counts[:, 0],
        "second class": counts[:, 1],
        "largest class": counts.max(1),
        "first class and scale": (counts.max(1)) * np.tanh(log_variance / 4),
        "label and coefficient": (labels[:, 0] == 0) * np.arctan(coefficients[:, 0, 0]),
        "label and intercept": (labels[:, 0] == 0) * np.arctan(coefficients[:, 0, -1]),
        "included": numbers[:, 3],
        "share": numbers[:, 4],
    }
    kept = {name: values for name, values in columns.items() if np.ptp(values) > 0}
    return list(kept), np.column_stack(list(kept.values()))


def scores(alternate, sampler, sweeps, seed=0):
    """Return z-scores of the functionals: chain against prior."""
    names, ours = functionals(*run_chain(alternate, sampler, sweeps, seed))
    prior = draw_prior(sampler, sweeps, seed + 1)
    others, theirs = functionals(prior.numbers(), prior.coefficients, prior.labels)
    assert names == others
    ours = ours[sweeps // 50 :]
    error = np.hypot(batch_error(ours), theirs.std(0) / np.sqrt(len(theirs)))
    z = (ours.mean(0) - theirs.mean(0)) / error
    print(f"max|z| {np.abs(z).max():.2f} ({names[int(np.abs(z).argmax())]}) of {len(names)}")
    return dict(zip(names, z, strict=True))
