"""Geweke's joint test of the kernel projection models of labels: the joint law is kept."""

import numpy as np
import pytest
from chain_setup import recompiled
from numba import njit
from projection_setup import (
    alternate_latent_noise,
    alternate_polya_gamma,
    make_sampler,
    orthogonal_columns,
    printed_order,
    rewritten,
    scores,
)
from speed import slow_except

from sparsekern.inference.kernel_projection import (
    hamiltonian,
    latent_noise,
    polya_gamma,
    scales,
)
from sparsekern.inference.kernel_projection.sampler import Priors

TAU = (3.0, 2.0)
PAPER = {"model": "latent_noise", "noise": (3.0, 3.0), "precision": (2.0, 2.0)}
HEAVY = {"scale": 1.5, "half_cauchy": True, "intercept_precision": TAU}
NOISE_FREE = {
    "shared scale": Priors(scale=1.5, intercept_precision=TAU),
    "half-Cauchy": Priors(**HEAVY),
    "reference": Priors(**HEAVY, reference=True),
    "own precisions": Priors(**HEAVY, precision=(3.0, 2.0)),
    "selection": Priors(scale=1.5, average=True, intercept_precision=TAU),
    "all": Priors(**HEAVY, average=True, precision=TAU),
    "kernels left out": Priors(scale=1.5, select_kernels=True, intercept_precision=TAU),
}
TWO_KERNELS = [orthogonal_columns(3, m=2), orthogonal_columns(4, m=2)]
LATENT_NOISE = {
    "reference": Priors(**PAPER, reference=True, intercept_precision=TAU),
    "symmetric": Priors(**PAPER, intercept_precision=TAU),
    "selection": Priors(**PAPER, average=True, intercept_precision=TAU),
}


def largest(found):
    return max(abs(z) for z in found.values())


def noise_free(name):
    columns = TWO_KERNELS if name == "kernels left out" else None
    return make_sampler(NOISE_FREE[name], columns=columns)


@pytest.mark.parametrize(
    "name",
    slow_except(
        ["shared scale", "reference", "all", "kernels left out"], ["all", "kernels left out"]
    ),
)
def test_noise_free_model_keeps_the_joint_law(name):
    found = scores(alternate_polya_gamma, noise_free(name), 40_000)
    assert len(found) > 15
    assert largest(found) < 4, found


@pytest.mark.parametrize("name", ["reference", "selection"])
def test_latent_noise_model_keeps_the_joint_law(name):
    found = scores(alternate_latent_noise, make_sampler(LATENT_NOISE[name]), 40_000)
    assert len(found) > 15
    assert largest(found) < 4, found


def test_kernel_matrix_as_design_keeps_the_joint_law():
    columns = np.random.default_rng(1).standard_normal((12, 3)) + 0.3
    sampler = make_sampler(LATENT_NOISE["reference"], columns=[columns])
    assert len(sampler.settings.gram) == 4
    found = scores(alternate_latent_noise, sampler, 40_000)
    assert largest(found) < 4, found


@pytest.mark.slow
@pytest.mark.parametrize("name", list(NOISE_FREE))
def test_noise_free_model_long(name):
    found = scores(alternate_polya_gamma, noise_free(name), 400_000, seed=5)
    assert largest(found) < 4, found


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LATENT_NOISE))
def test_latent_noise_model_long(name):
    found = scores(alternate_latent_noise, make_sampler(LATENT_NOISE[name]), 400_000, seed=5)
    assert largest(found) < 4, found


@pytest.mark.slow
def test_prior_precision_without_the_scale_is_noticed():
    @njit
    def precision(state, settings, k, component):
        return state.precisions[k, component]

    draw = recompiled(polya_gamma._draw_coefficients, prior_precision=precision)
    start = recompiled(hamiltonian._start, prior_precision=precision)
    sweep = recompiled(
        polya_gamma.sweep_once,
        _draw_coefficients=draw,
        move_along_path=recompiled(hamiltonian.move_along_path, _start=start),
        translate=recompiled(hamiltonian.translate, prior_precision=precision),
    )
    alternate = recompiled(alternate_polya_gamma, sweep_polya_gamma=sweep)
    found = scores(alternate, make_sampler(NOISE_FREE["shared scale"]), 40_000)
    assert largest(found) > 20


@pytest.mark.slow
def test_kernels_chosen_without_the_determinant_of_the_prior_are_noticed():
    condition = rewritten(polya_gamma._condition, ("value += 0.5 * math.log(prior)", "value += 0"))
    choose = recompiled(polya_gamma._select_kernels, _condition=condition)
    sweep = recompiled(polya_gamma.sweep_once, _select_kernels=choose)
    alternate = recompiled(alternate_polya_gamma, sweep_polya_gamma=sweep)
    assert largest(scores(alternate, noise_free("kernels left out"), 40_000)) > 10


def with_block(block):
    """Return the alternation of the latent-noise model with another step for noise and beta."""
    sweep = recompiled(latent_noise.sweep_once, draw_noise_and_coefficients=block)
    return recompiled(alternate_latent_noise, sweep_latent_noise=sweep)


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["n(K-1)", "n'(K-1)"])
def test_printed_shapes_of_the_noise_are_noticed(printed):
    """Erratum 1, without the half: z-scores, or a chain lost."""

    @njit
    def shape(settings, rows, classes):
        if printed == "n(K-1)":
            return settings.noise_prior[0] + rows * classes
        return settings.noise_prior[0] + (settings.design.shape[0] - 1) * classes

    block = recompiled(latent_noise.draw_noise_and_coefficients, noise_shape=shape)
    with np.errstate(all="ignore"):
        found = scores(with_block(block), make_sampler(LATENT_NOISE["reference"]), 2000)
    assert not np.isfinite(list(found.values())).all() or largest(found) > 20


@pytest.mark.slow
def test_printed_order_is_noticed():
    """Erratum 2: coefficients given the noise of before, then the noise without them.

    A small bias, larger for fewer rows: with five, the right order is within 4 at the same length.
    """
    columns = [orthogonal_columns(n=5, m=2)]
    sampler, sweeps = make_sampler(LATENT_NOISE["reference"], columns=columns), 900_000
    found = scores(with_block(printed_order()), sampler, sweeps, seed=5)
    assert largest(found) > 6
    assert largest(scores(alternate_latent_noise, sampler, sweeps, seed=5)) < 4


@pytest.mark.slow
def test_intercept_in_the_scale_move_is_noticed():
    """All of z scaled, L(y | rho z): the intercept has no part in the scale."""
    move = rewritten(
        scales.move_scale, ("settings.block[a] == block", "settings.block[a] <= block")
    )
    sweep = recompiled(polya_gamma.sweep_once, move_scale=move)
    alternate = recompiled(alternate_polya_gamma, sweep_polya_gamma=sweep)
    assert largest(scores(alternate, make_sampler(NOISE_FREE["shared scale"]), 40_000)) > 10
