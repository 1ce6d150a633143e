"""Geweke's joint test of both kernel projection models: parameters and labels keep their law."""

import numpy as np
import pytest
from chain_setup import recompiled
from numba import njit
from projection_setup import alternate_latent_noise, alternate_polya_gamma, make_sampler, scores

from sparsekern.inference.kernel_projection import latent_noise, polya_gamma
from sparsekern.inference.kernel_projection.sampler import Priors

TAU = (3.0, 2.0)
PAPER = {"latent_noise": True, "noise": (3.0, 3.0), "precision": (2.0, 2.0)}
HEAVY = {"scale": 1.5, "half_cauchy": True, "intercept_precision": TAU}
NOISE_FREE = {
    "shared scale": Priors(scale=1.5, intercept_precision=TAU),
    "half-Cauchy": Priors(**HEAVY),
    "reference": Priors(**HEAVY, reference=True),
    "own precisions": Priors(**HEAVY, precision=(3.0, 2.0)),
    "selection": Priors(scale=1.5, average=True, intercept_precision=TAU),
    "all": Priors(**HEAVY, average=True, precision=TAU),
}
LATENT_NOISE = {
    "reference": Priors(**PAPER, reference=True, intercept_precision=TAU),
    "symmetric": Priors(**PAPER, intercept_precision=TAU),
    "selection": Priors(**PAPER, average=True, intercept_precision=TAU),
}


def largest(found):
    return max(abs(z) for z in found.values())


@pytest.mark.parametrize("name", ["shared scale", "reference", "all"])
def test_noise_free_model_keeps_the_joint_law(name):
    found = scores(alternate_polya_gamma, make_sampler(NOISE_FREE[name]), 40_000)
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
    found = scores(alternate_polya_gamma, make_sampler(NOISE_FREE[name]), 400_000, seed=5)
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
    sweep = recompiled(polya_gamma.sweep_once, _draw_coefficients=draw)
    alternate = recompiled(alternate_polya_gamma, sweep_polya_gamma=sweep)
    found = scores(alternate, make_sampler(NOISE_FREE["shared scale"]), 40_000)
    assert largest(found) > 20


@pytest.mark.slow
def test_printed_shape_of_the_noise_is_noticed():
    """The paper's gamma_1 + n(K-1), without the half (erratum 1): z-scores, or a chain lost."""

    @njit
    def shape(settings, rows, classes):
        return settings.noise_prior[0] + rows * classes

    block = recompiled(latent_noise.draw_noise_and_coefficients, noise_shape=shape)
    sweep = recompiled(latent_noise.sweep_once, draw_noise_and_coefficients=block)
    alternate = recompiled(alternate_latent_noise, sweep_latent_noise=sweep)
    with np.errstate(all="ignore"):
        found = scores(alternate, make_sampler(LATENT_NOISE["reference"]), 2000)
    assert not np.isfinite(list(found.values())).all() or largest(found) > 20
