"""Each move of the noise-free model alone keeps the joint law of parameters and labels.

Parameters and labels are drawn from the prior, afresh for every repetition, and moved a few times
given the labels: the law of both together must not change. Differences between before and after are
paired, which makes small mistakes show; each wrong variant below is noticed so.
"""

import numpy as np
import pytest
from chain_setup import recompiled
from numba import njit
from numpy.testing import assert_allclose
from projection_setup import draw_prior, functionals, make_sampler, orthogonal_columns, rewritten
from scipy.optimize import approx_fprime

from sparsekern._jit import jit
from sparsekern.inference.kernel_projection import hamiltonian, polya_gamma, scales
from sparsekern.inference.kernel_projection.sampler import Priors
from sparsekern.inference.kernel_projection.softmax import log_likelihood

TAU = (3.0, 2.0)
HALF_NORMAL = Priors(scale=1.5, intercept_precision=TAU)
HALF_CAUCHY = Priors(scale=1.5, half_cauchy=True, precision=TAU, intercept_precision=TAU)
REFERENCE = Priors(scale=1.5, reference=True, intercept_precision=TAU)
SELECTION = Priors(scale=1.5, average=True, intercept_precision=TAU)

draw_scales, move_scale = scales.draw_scales, scales.move_scale
slice_log_scale = scales.slice_log_scale
move_along_path, translate = hamiltonian.move_along_path, hamiltonian.translate
_augment, _draw_coefficients = polya_gamma._augment, polya_gamma._draw_coefficients


@jit
def by_slice(rng, state, work, settings):
    draw_scales(rng, state, settings)


@jit
def by_scale(rng, state, work, settings):
    move_scale(rng, state, work, settings, 0, False)


@jit
def by_path(rng, state, work, settings):
    move_along_path(rng, state, work, settings, False)


@jit
def by_translation(rng, state, work, settings):
    translate(rng, state, work, settings)


@jit
def by_polya_gamma(rng, state, work, settings):
    _augment(rng, state, work, settings, 1)
    _draw_coefficients(rng, state, work, settings, 1)
    np.dot(state.coefficients[1], settings.design, state.latent[1])


MOVES = ("slice", "scale", "path", "translation", "Polya-Gamma")


@jit
def apply(rng, kind, state, work, settings):
    if kind == 0:
        by_slice(rng, state, work, settings)
    elif kind == 1:
        by_scale(rng, state, work, settings)
    elif kind == 2:
        by_path(rng, state, work, settings)
    elif kind == 3:
        by_translation(rng, state, work, settings)
    else:
        by_polya_gamma(rng, state, work, settings)


@jit
def move_all(rng, kind, state, work, settings, prior, variance, coefficients, latent):
    """Move every draw three times."""
    for t in range(len(variance)):
        state.scales[0] = prior.variance[t]
        state.precisions[:] = prior.precisions[t]
        state.included[:] = prior.included[t]
        state.coefficients[:] = prior.coefficients[t]
        state.latent[:] = prior.latent[t]
        settings.labels[:] = prior.labels[t]
        for _ in range(3):
            apply(rng, kind, state, work, settings)
        variance[t] = state.scales[0]
        coefficients[t] = state.coefficients
        latent[t] = state.latent


def moving(step):
    """Return ``move_all`` compiled with one step only, whatever the kind."""

    @njit
    def only(rng, kind, state, work, settings):
        step(rng, state, work, settings)

    return recompiled(move_all, apply=only)


def scores(run, kind, priors, draws=20_000):
    """Return z-scores of the changes of all functionals that change."""
    sampler = make_sampler(priors)
    rng = np.random.default_rng(0)
    state = sampler.start(rng, 1)
    state.log_step[:] = np.log(0.7)
    settings = sampler.settings._replace(labels=sampler.settings.labels.copy())
    prior = draw_prior(sampler, draws, 1)
    variance, coefficients = np.empty(draws), np.empty_like(prior.coefficients)
    latent = np.empty_like(prior.latent)
    run(rng, kind, state, sampler.open(state), settings, prior, variance, coefficients, latent)
    after = prior._replace(variance=variance, coefficients=coefficients, latent=latent)
    assert np.all(coefficients[prior.included == 0] == 0)
    assert_allclose(latent, coefficients @ settings.design, atol=1e-8 * (1 + np.abs(latent).max()))
    names, first = functionals(prior.numbers(), prior.coefficients, prior.labels)
    others, second = functionals(after.numbers(), after.coefficients, after.labels)
    assert names == others
    change = second - first
    spread = change.std(axis=0)
    moved = spread > 1e-12
    assert moved.any()
    z = np.zeros(len(names))
    z[moved] = change.mean(axis=0)[moved] / spread[moved] * np.sqrt(draws)
    found = dict(zip(names, z, strict=True))
    print(f"max|z| {np.abs(z).max():.1f} ({names[int(np.abs(z).argmax())]})")
    return found


def largest(found):
    return max(abs(z) for z in found.values())


@pytest.mark.parametrize(
    ("name", "priors"),
    [
        ("slice", HALF_NORMAL),
        ("slice", HALF_CAUCHY),
        ("scale", HALF_NORMAL),
        ("scale", HALF_CAUCHY),
        ("path", HALF_NORMAL),
        ("path", REFERENCE),
        ("path", SELECTION),
        ("translation", HALF_CAUCHY),
        ("translation", SELECTION),
        ("Polya-Gamma", HALF_NORMAL),
    ],
)
def test_a_move_keeps_the_joint_law(name, priors):
    found = scores(move_all, MOVES.index(name), priors)
    assert largest(found) < 4, found


WRONG = {
    # the printed mistake: L(y | rho z), the intercept scaled with the rest
    "intercept in the scale move": lambda: recompiled(
        by_scale,
        move_scale=rewritten(
            move_scale, ("settings.block[a] == block", "settings.block[a] <= block")
        ),
    ),
    "scale move without the prior": lambda: recompiled(
        by_scale, move_scale=rewritten(move_scale, ("log_scale_prior(settings, here)", "0.0"))
    ),
    "slice without the Jacobian of log s": lambda: recompiled(
        by_slice,
        draw_scales=rewritten(
            draw_scales, ("count, total, current)", "count + 1, total, current)")
        ),
    ),
    "path that is never refused": lambda: recompiled(
        by_path,
        move_along_path=rewritten(
            move_along_path, ("change = before - energy(work, value)", "change = 0.0")
        ),
    ),
    "path that forgets the kinetic energy": lambda: recompiled(
        by_path,
        move_along_path=recompiled(
            move_along_path,
            energy=rewritten(hamiltonian.energy, ("work.momentum[k, a] ** 2", "0.0")),
        ),
    ),
    "translation by its variance alone": lambda: recompiled(
        by_translation, translate=rewritten(translate, (" - weighted / total", ""))
    ),
    "Polya-Gamma with the prior unscaled": lambda: recompiled(
        by_polya_gamma,
        _draw_coefficients=rewritten(
            _draw_coefficients,
            ("prior_precision(state, settings, k, a)", "state.precisions[k, a]"),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(WRONG))
def test_a_wrong_move_is_noticed(name):
    assert largest(scores(moving(WRONG[name]()), 0, HALF_NORMAL)) > 6


def test_translation_is_no_move_of_the_reference_model():
    """The last class has the latent value zero: softmax does see what the others share."""
    assert largest(scores(move_all, MOVES.index("translation"), REFERENCE)) > 6


def test_gradient_and_probabilities_of_a_path():
    sampler = make_sampler(HALF_CAUCHY)
    rng = np.random.default_rng(0)
    state, settings = sampler.start(rng, 2), sampler.settings
    work = sampler.open(state)
    state.coefficients[:] = rng.standard_normal(state.coefficients.shape)
    np.dot(state.coefficients, settings.design, out=state.latent)

    def minus_log_likelihood(flat):
        latent = flat.reshape(state.coefficients.shape) @ settings.design
        return -log_likelihood(latent, settings.labels, settings.reference)

    value = hamiltonian.class_probabilities(state.latent, settings.labels, False, work.rows)
    assert_allclose(value, log_likelihood(state.latent, settings.labels, False), rtol=1e-12)
    assert_allclose(work.rows.sum(0), 1, atol=1e-12)
    hamiltonian._find_gradient(work, settings)
    numeric = approx_fprime(state.coefficients.ravel(), minus_log_likelihood, 1e-7)
    assert_allclose(work.gradient.ravel(), numeric, atol=1e-5)


@jit
def many_slices(rng, settings, count, total, out):
    current = 0.0
    for t in range(len(out)):
        current = slice_log_scale(rng, settings, count, total, current)
        out[t] = current


@pytest.mark.parametrize("half_cauchy", [False, True])
@pytest.mark.parametrize(("count", "total"), [(0, 0.0), (1, 0.3), (40, 90.0)])
def test_scale_given_coefficients_against_quadrature(half_cauchy, count, total):
    sampler = make_sampler(Priors(scale=2.0, half_cauchy=half_cauchy))
    grid = np.linspace(-14, 14, 20_001)
    s = np.exp(grid)
    log = grid - (np.log1p(s**2 / 4) if half_cauchy else s**2 / 8)
    log = log - count * grid - 0.5 * total / s**2
    weight = np.exp(log - log.max())
    weight /= weight.sum()

    out = np.empty(60_000)
    many_slices(np.random.default_rng(1), sampler.settings, count, total, out)
    mean = weight @ grid
    sd = np.sqrt(weight @ (grid - mean) ** 2)
    assert abs(out.mean() - mean) < 0.03 * sd
    assert abs(out.std() / sd - 1) < 0.03


def test_a_long_path_far_out_is_refused_and_not_lost():
    """Energies that overflow count as refused: the state stays as it was, and finite."""
    sampler = make_sampler(HALF_NORMAL, columns=[1e3 * orthogonal_columns()])
    rng = np.random.default_rng(0)
    state = sampler.start(rng, 1)
    state.curvature[:] = 0.0
    state.log_step[:] = 5.0
    before = state.coefficients.copy()
    move_along_path(rng, state, sampler.open(state), sampler.settings, False)
    assert np.array_equal(state.coefficients, before)
    assert state.tallies[1].tolist() == [1, 0]
