"""Labels as Gaussian responses: evidence, posterior and joint law; kernels that may be left out."""

from typing import NamedTuple

import numpy as np
import pytest
from chain_setup import recompiled
from dense_model import batch_error
from numpy.testing import assert_allclose
from projection_setup import make_sampler, orthogonal_columns, rewritten
from scipy.stats import multivariate_normal
from speed import slow_except

from sparsekern._jit import jit
from sparsekern.inference.kernel_projection import kernel_parts, least_squares
from sparsekern.inference.kernel_projection.responses import (
    RESPONSE,
    log_evidence,
    make_responses,
)
from sparsekern.inference.kernel_projection.sampler import Priors

TAU, NOISE = (3.0, 2.0), (3.0, 2.0)
PLAIN = {"model": "least_squares", "scale": 1.5, "noise": NOISE, "intercept_precision": TAU}
OBLIQUE = np.random.default_rng(1).standard_normal((12, 3)) + 0.3
TWO = [orthogonal_columns(3, m=2), orthogonal_columns(4, m=2)]
sweep_once = least_squares.sweep_once


def started(priors, columns=None, seed=0):
    """Return a sampler and a state with nothing at its first value."""
    sampler = make_sampler(priors, columns=columns)
    rng = np.random.default_rng(seed)
    state = sampler.start(rng, 1)
    state.precisions[:] = rng.gamma(3, 0.5, state.precisions.shape)
    if priors.precision is None:
        state.precisions[:, sampler.settings.block >= 0] = 1
    return sampler, state, sampler.open(state)


def test_responses():
    labels = np.array([0, 2, 1, 2])
    every = make_responses(labels, 3, reference=False)
    assert_allclose(every.sum(0), 0, atol=1e-12)
    assert_allclose(every[labels, np.arange(4)] - every.min(0), RESPONSE)
    contrasts = make_responses(labels, 3, reference=True)
    assert_allclose(contrasts, every[:2] - every[2])


@pytest.mark.parametrize(
    ("priors", "columns", "one_factor"),
    [
        (Priors(**PLAIN), None, False),
        (Priors(**PLAIN, reference=True, precision=TAU), None, False),
        (Priors(**PLAIN, intercept=False), None, False),
        (Priors(**PLAIN), TWO, True),
        (Priors(**PLAIN, intercept=False), TWO, True),
        (Priors(**PLAIN, precision=TAU), TWO, False),
        (Priors(**PLAIN), [OBLIQUE], False),
    ],
)
@pytest.mark.parametrize("hidden", [(), (0, 1)])
def test_evidence_against_the_dense_normal_law(priors, columns, one_factor, hidden):
    sampler, state, work = started(priors, columns)
    settings = sampler.settings
    assert settings.one_factor == one_factor
    assert (len(settings.gram) == 0) == (columns is None)
    state.included[:, list(hidden)] = 0
    responses = make_responses(settings.labels, 3, priors.reference)

    def dense():
        total = 0.0
        for k, response in enumerate(responses):
            scale = np.append(state.scales, 1.0)[settings.block]
            variance = state.included[k] * scale / state.precisions[k]
            covariance = (settings.design.T * variance) @ settings.design
            covariance += state.noise[0] * np.eye(len(response))
            total += multivariate_normal(cov=covariance).logpdf(response)
        return total + 0.5 * responses.size * np.log(2 * np.pi)

    for _ in range(3):
        assert_allclose(log_evidence(state, work, settings), dense(), rtol=1e-9)
        state.noise[0] *= 3.0
        state.scales[:] *= 0.4


def test_posterior_against_quadrature():
    sampler, state, work = started(Priors(**PLAIN, intercept=False))
    settings = sampler.settings
    first, second = np.meshgrid(np.linspace(-11, 3, 141), np.linspace(-1, 6, 141), indexing="ij")
    logs, means = np.empty(first.shape), np.empty((*first.shape, 3))
    for place in np.ndindex(first.shape):
        s2, noise = np.exp(2 * first[place]), np.exp(second[place])
        # densities of log s and log sigma^2
        log = first[place] - 0.5 * s2 / 1.5**2 - NOISE[0] * second[place] - NOISE[1] / noise
        variance = s2 * settings.squares + noise
        for k in range(3):
            projected = settings.products[k] ** 2 / settings.squares
            rest = settings.energies[k] - projected.sum()
            log -= 0.5 * np.sum(np.log(variance) + projected / variance)
            log -= 0.5 * ((12 - 3) * second[place] + rest / noise)
        logs[place] = log
        means[place] = s2 / variance * settings.products[1]
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    found = np.empty((20_000, 5))
    keep_draws(np.random.default_rng(2), state, work, settings, found)
    expected = [
        (weight * first).sum(), (weight * second).sum(),
        *np.einsum("ij,ijl->l", weight, means),
    ]  # fmt: skip
    z = (found.mean(0) - expected) / batch_error(found)
    assert np.abs(z).max() < 4, z
    spread = np.sqrt((weight * (first - expected[0]) ** 2).sum())
    assert_allclose(found[:, 0].std(), spread, rtol=0.05)


@jit
def keep_draws(rng, state, work, settings, out):
    for t in range(out.shape[0]):
        sweep_once(rng, state, work, settings, False)
        out[t, 0] = 0.5 * np.log(state.scales[0])
        out[t, 1] = np.log(state.noise[0])
        out[t, 2:] = state.coefficients[1]


@jit
def keep_use(rng, state, work, settings, out):
    for t in range(out.shape[0]):
        sweep_once(rng, state, work, settings, False)
        state.sweep[0] += 1
        out[t] = state.used[0]


def test_equal_kernels_have_equal_parts():
    """One may always stand in for the other: single flips would hardly ever change over."""
    columns = orthogonal_columns(n=60)
    labels = np.digitize(columns[:, 0], np.quantile(columns[:, 0], [0.33, 0.67]))
    sampler = make_sampler(
        Priors(**{**PLAIN, "scale": 20.0}, select_kernels=True), columns=[columns, columns.copy()],
        labels=labels,
    )  # fmt: skip
    state = sampler.start(np.random.default_rng(0), 1)
    used = np.empty((20_000, 2))
    keep_use(np.random.default_rng(1), state, sampler.open(state), sampler.settings, used)
    difference = used[:, :1] - used[:, 1:]
    assert 0.3 < used.mean() < 1
    assert abs(difference.mean() / batch_error(difference)[0]) < 4
    assert np.count_nonzero(np.diff(difference[:, 0])) > 2000


def test_probability_of_a_part_against_quadrature():
    priors = Priors(**PLAIN, intercept=False, select_kernels=True)
    columns = orthogonal_columns()
    labels = np.digitize(columns[:, 0] + 3.0 * np.cos(5 * np.arange(12)), [-1.0, 1.0])
    sampler = make_sampler(priors, labels=labels)
    state = sampler.start(np.random.default_rng(0), 1)
    work, settings = sampler.open(state), sampler.settings
    logs, noise = np.meshgrid(np.linspace(-6, 3, 181), np.linspace(-1, 6, 141), indexing="ij")
    on, off = np.empty(logs.shape), np.empty(logs.shape)
    for place in np.ndindex(logs.shape):
        s2 = np.exp(2 * logs[place])
        state.scales[0], state.noise[0] = s2, np.exp(noise[place])
        shared = 3 * logs[place] - 0.5 * s2 / 1.5**2
        shared -= NOISE[0] * noise[place] + NOISE[1] / state.noise[0]
        for out, used in ((on, 1), (off, 0)):
            state.included[:] = used
            out[place] = shared + log_evidence(state, work, settings)
    top = max(on.max(), off.max())
    # the share of kernels has a uniform law: half beforehand
    expected = np.exp(on - top).sum() / (np.exp(on - top).sum() + np.exp(off - top).sum())
    state.included[:] = 1
    used = np.empty((40_000, 1))
    keep_use(np.random.default_rng(1), state, work, settings, used)
    print(expected, used.mean())
    assert 0.05 < expected < 0.95
    assert abs((used.mean() - expected) / batch_error(used)[0]) < 4


# ---------------------------------------------------------------- the joint law


@jit
def write_down(state, numbers):
    last = state.precisions.shape[1] - 1
    numbers[0] = np.log(state.noise[0])
    numbers[1] = np.log(state.precisions[0, last])
    numbers[2] = np.log(state.precisions[0, 0])
    numbers[3] = state.share[0]
    numbers[4] = state.included[0, 0] + state.included[1, last - 1]
    for q in range(state.scales.shape[0]):
        numbers[5 + q] = np.log(state.scales[q])


@jit
def set_responses(settings, responses):
    for k in range(responses.shape[0]):
        settings.energies[k] = (responses[k] ** 2).sum()
        settings.products[k] = settings.design @ responses[k]


@jit
def alternate(rng, state, work, settings, numbers, coefficients, responses):
    """Alternate sweeps and fresh responses; write everything down after each."""
    for t in range(numbers.shape[0]):
        sweep_once(rng, state, work, settings, False)
        state.sweep[0] += 1
        write_down(state, numbers[t])
        sd = np.sqrt(state.noise[0])
        for k in range(responses.shape[1]):
            for i in range(responses.shape[2]):
                responses[t, k, i] = state.latent[k, i] + sd * rng.standard_normal()
        set_responses(settings, responses[t])
        coefficients[t] = state.coefficients


@jit
def sweep_each(rng, state, work, settings, prior, numbers, coefficients):
    """Carry out one sweep from each of many draws of everything; write down where it ends."""
    for t in range(numbers.shape[0]):
        state.noise[0] = prior.noise[t]
        state.scales[:] = prior.scales[t]
        state.share[0] = prior.share[t]
        state.precisions[:] = prior.precisions[t]
        state.included[:] = prior.included[t]
        if settings.select_kernels:
            state.used[:] = prior.used[t]
        set_responses(settings, prior.responses[t])
        state.sweep[0] = t
        sweep_once(rng, state, work, settings, False)
        write_down(state, numbers[t])
        coefficients[t] = state.coefficients


class Prior(NamedTuple):
    noise: np.ndarray
    scales: np.ndarray
    share: np.ndarray
    precisions: np.ndarray
    included: np.ndarray
    used: np.ndarray
    coefficients: np.ndarray
    responses: np.ndarray

    def numbers(self):
        """What `write_down` writes."""
        tau, included = self.precisions, self.included
        return np.column_stack(
            [np.log(self.noise), np.log(tau[:, 0, -1]), np.log(tau[:, 0, 0]), self.share,
             included[:, 0, 0] + included[:, 1, -2], np.log(self.scales)]
        )  # fmt: skip


def draw_prior(sampler, draws, seed):
    rng = np.random.default_rng(seed)
    settings, priors, latents = sampler.settings, sampler.priors, sampler.n_latents
    m = len(settings.design)
    kernels = settings.block.max() + 1
    component = settings.block >= 0
    noise = 1 / rng.gamma(priors.noise[0], 1 / priors.noise[1], draws)
    scales = (priors.scale * rng.standard_normal((draws, kernels))) ** 2
    if priors.select_kernels:  # with the further factor s^2: the length of three normals
        scales = (priors.scale**2 * rng.standard_normal((draws, kernels, 3)) ** 2).sum(-1)
    tau = np.ones((draws, latents, m))
    if priors.precision is not None:
        tau = rng.gamma(priors.precision[0], 1 / priors.precision[1], tau.shape)
    tau[..., ~component] = rng.gamma(TAU[0], 1 / TAU[1], (draws, latents, 1))
    share, included = np.full(draws, 0.5), np.ones((draws, latents, m))
    used = np.ones((draws, latents, kernels), dtype=np.int64)
    if priors.select_kernels:
        share = rng.random(draws)
        used *= rng.random((draws, 1, kernels)) < share[:, None, None]
        included = np.where(component, used[..., settings.block], 1)
    elif priors.average:
        share = rng.random(draws)
        included = np.where(component, rng.random(included.shape) < share[:, None, None], 1)
    variance = np.concatenate([scales, np.ones((draws, 1))], axis=1)[:, settings.block]
    beta = included * np.sqrt(variance[:, None] / tau) * rng.standard_normal(tau.shape)
    responses = beta @ settings.design
    responses += np.sqrt(noise)[:, None, None] * rng.standard_normal(responses.shape)
    return Prior(noise, scales, share, tau, included.astype(np.int64), used, beta, responses)


def functionals(numbers, beta, responses):
    sizes = np.log1p(beta**2)
    columns = [
        numbers, np.tanh(numbers), numbers[:, :1] * np.tanh(numbers[:, 5:]),
        sizes.sum(1), np.sign(beta[:, 0, 0]) * np.sign(beta[:, 1, 1]),
        np.log1p((responses**2).sum(2)), np.arctan(beta[:, 0, 0] * responses[:, 0, 0]),
        np.tanh(numbers[:, :1]) * sizes.sum(1), np.arctan(beta[:, 1, -1] * responses[:, 1].sum(1)),
        numbers[:, 4:5] * np.tanh(numbers[:, 5:]), numbers[:, 4] ** 2,
        numbers[:, 3] * numbers[:, 4], np.tanh(numbers[:, 5:]).prod(axis=1),
    ]  # fmt: skip
    return np.column_stack(columns)


def with_own_responses(settings):
    return settings._replace(products=settings.products.copy(), energies=settings.energies.copy())


def geweke(run, priors, columns=None, sweeps=40_000, seed=0):
    sampler, state, work = started(priors, columns, seed)
    kernels = len(state.scales)
    numbers = np.zeros((sweeps, 5 + kernels))
    beta = np.zeros((sweeps, *state.coefficients.shape))
    responses = np.zeros((sweeps, *state.latent.shape))
    rng = np.random.default_rng(seed + 1)
    run(rng, state, work, with_own_responses(sampler.settings), numbers, beta, responses)
    ours = functionals(numbers, beta, responses)[sweeps // 50 :]
    prior = draw_prior(sampler, sweeps, seed + 2)
    theirs = functionals(prior.numbers(), prior.coefficients, prior.responses)
    moving = (np.ptp(ours, axis=0) > 0) | (np.ptp(theirs, axis=0) > 0)
    assert moving.sum() > 12
    error = np.hypot(batch_error(ours), theirs.std(0) / np.sqrt(len(theirs)))
    z = (ours.mean(0) - theirs.mean(0))[moving] / error[moving]
    print(f"max|z| {np.abs(z).max():.2f} of {len(z)}")
    return z


def changes_of_one_sweep(run, priors, columns=None, draws=100_000, seed=0):
    """Return mean changes over independent draws, in standard errors.

    Alternating mixes slowly where responses say which kernels have a part; here nothing has to mix.
    """
    sampler, state, work = started(priors, columns, seed)
    prior = draw_prior(sampler, draws, seed + 2)
    numbers = np.zeros((draws, 5 + len(state.scales)))
    beta = np.zeros((draws, *state.coefficients.shape))
    rng = np.random.default_rng(seed + 1)
    run(rng, state, work, with_own_responses(sampler.settings), prior, numbers, beta)
    change = functionals(numbers, beta, prior.responses)
    change -= functionals(prior.numbers(), prior.coefficients, prior.responses)
    moving = np.ptp(change, axis=0) > 0
    assert moving.sum() > 12
    change = change[:, moving]
    z = change.mean(0) / (change.std(0) / np.sqrt(draws))
    print(f"max|z| {np.abs(z).max():.2f} of {len(z)}")
    return z


VARIANTS = {
    "plain": (Priors(**PLAIN), None),
    "own precisions": (Priors(**PLAIN, precision=TAU, reference=True), None),
    "selection": (Priors(**PLAIN, average=True), None),
    "two kernels": (Priors(**PLAIN), TWO),
    "kernels left out": (Priors(**PLAIN, select_kernels=True), TWO),
    "one kernel left out": (Priors(**PLAIN, select_kernels=True), None),
    "oblique": (Priors(**PLAIN, precision=TAU), [OBLIQUE]),
}


# every step of a sweep is in one of these
QUICK = ("selection", "kernels left out", "oblique")


@pytest.mark.parametrize("name", slow_except(VARIANTS, QUICK))
def test_a_sweep_keeps_the_joint_law(name):
    priors, columns = VARIANTS[name]
    z = changes_of_one_sweep(sweep_each, priors, columns)
    assert np.abs(z).max() < 4, z


@pytest.mark.slow  # one sweep, above, is the sharper test
@pytest.mark.parametrize("name", ["plain", "selection", "kernels left out"])
def test_least_squares_keeps_the_joint_law(name):
    priors, columns = VARIANTS[name]
    z = geweke(alternate, priors, columns, sweeps=120_000)
    assert np.abs(z).max() < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", list(VARIANTS))
def test_least_squares_long(name):
    priors, columns = VARIANTS[name]
    z = geweke(alternate, priors, columns, sweeps=400_000, seed=7)
    assert np.abs(z).max() < 4, z


def with_evidence(*changes):
    """Return a sweep with another evidence."""
    evidence = rewritten(log_evidence, *changes)
    density = recompiled(least_squares.log_density_of, log_evidence=evidence)
    sliced = recompiled(least_squares.slice_parameter, log_density_of=density)
    one = recompiled(kernel_parts.select_kernel, log_evidence=evidence)
    exchange = recompiled(kernel_parts.exchange_kernels, log_evidence=evidence)
    chosen = recompiled(kernel_parts.select_kernels, select_kernel=one, exchange_kernels=exchange)
    return recompiled(sweep_once, slice_parameter=sliced, select_kernels=chosen)


def with_selection(**moves):
    """Return a sweep with other moves of whole kernels."""
    return recompiled(sweep_once, select_kernels=recompiled(kernel_parts.select_kernels, **moves))


WRONG = {
    "without the prior's determinant": (
        "plain", lambda: with_evidence(("math.log(prior / posterior)", "-math.log(posterior)"))
    ),
    "without the energy": (
        "plain", lambda: with_evidence(("0.5 * settings.energies[k] / noise", "0.0"))
    ),
    "kernels by a factor of another class": (
        "kernels left out",
        lambda: with_evidence(
            ("total += 0.5 * math.log(prior_precision(state, settings, k, a))", "total += 0.0")
        ),
    ),
    "kernels whatever their share": (
        "kernels left out",
        lambda: with_selection(
            select_kernel=rewritten(kernel_parts.select_kernel, ("prior + log_odds", "prior"))
        ),
    ),
    "exchange at random": (
        "kernels left out",
        lambda: with_selection(exchange_kernels=rewritten(
            kernel_parts.exchange_kernels, ("draw_use(rng, 0.5, gain)", "draw_use(rng, 0.5, 0.0)")
        )),
    ),
    "noise with a wrong shape": (
        "plain",
        lambda: recompiled(
            sweep_once,
            _draw_noise=rewritten(least_squares._draw_noise, ("0.5 * n * classes", "0.5 * n")),
        ),
    ),
    "coefficients of before": (
        "plain",
        lambda: rewritten(
            sweep_once,
            ("    if not draw_coefficients(rng, state, work, settings):\n        return False\n",
             ""),
            ("    places = ", "    draw_coefficients(rng, state, work, settings)\n    places = "),
        ),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(WRONG))
def test_a_wrong_step_is_noticed(name):
    variant, make = WRONG[name]
    priors, columns = VARIANTS[variant]
    with np.errstate(all="ignore"):  # a draw may be lost altogether
        wrong = recompiled(sweep_each, sweep_once=make())
        z = changes_of_one_sweep(wrong, priors, columns, draws=300_000)
    assert not np.isfinite(z).all() or np.abs(z).max() > 6
