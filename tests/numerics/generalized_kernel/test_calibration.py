"""Simulation-based calibration: the rank of the truth among posterior draws is uniform."""

import numpy as np
import pytest
from chain_setup import NO_CANDIDATES, open_chain, rbf_basis
from dense_model import draw_prior, gaussian_kernel
from scipy.special import log_ndtr
from scipy.stats import chisquare, kstest

from sparsekern.inference.generalized_kernel.sweep import run_sweeps
from sparsekern.inference.moves.length_scale import FIXED, SHARED
from sparsekern.priors import ScalePriors

N, LARGEST, JITTER = 15, 8, 1e-4
PRIOR = (2.0, 0.6, 2.0, 1.0)
KEPT, THIN, TUNE = 99, 25, 150


def _posterior(rng, basis, side, box, mode):
    """Run one chain from a start that does not know the truth."""
    size = rng.integers(0, LARGEST + 1)
    sweeps = TUNE + KEPT * THIN
    state, work, settings, draws = open_chain(
        basis, side, LARGEST, rng.permutation(N)[:size], 2.0 * rng.random() + 0.1, 1.0,
        np.mean(box), mode, box=box, moves=8, scans=2, sweeps=sweeps, kept=KEPT,
    )  # fmt: skip
    run_sweeps(
        rng, state, work, basis, ScalePriors(*PRIOR), settings, draws, NO_CANDIDATES,
        sweeps, TUNE, THIN, True,
    )  # fmt: skip
    return draws


def _functions(draws, features, points, scale):
    """Latent function at the points for every kept draw, from the stored coefficients."""
    values = np.repeat(draws.intercept, len(points), axis=1)
    for t in range(KEPT):
        rows = draws.rows[t, : draws.n_active[t]]
        width = draws.length_scale[t, 0] if draws.length_scale.shape[1] else scale
        kernel = gaussian_kernel(points, features[rows], width)
        values[t] += kernel @ draws.coefficients[t, 0, : draws.n_active[t]]
    return values


def _ranks(mode, replicates, seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((N, 2))
    points = np.array([[0.0, 0.0], [1.0, -0.5], [3.0, 3.0]])
    box = (0.5, 2.5) if mode != FIXED else (1.2, 1.2 + 1e-12)
    truth = draw_prior(rng, replicates, features, PRIOR, JITTER, LARGEST, box)
    basis = rbf_basis(features, JITTER)
    ranks = []
    for t in range(replicates):
        side, scale = truth["side"][t], truth["scale"][t]
        draws = _posterior(rng, basis, side, box, mode)
        kernel = gaussian_kernel(points, features, scale)
        true = [truth["g"][t], truth["eta"][t], truth["active"][t].sum(), truth["intercept"][t]]
        true += [log_ndtr(side * truth["fitted"][t]).sum()]
        true += list(truth["intercept"][t] + kernel @ truth["beta"][t])
        drawn = [*(1 / draws.variances.T)[::-1], draws.n_active, draws.intercept[:, 0]]
        drawn += [draws.log_likelihood, *_functions(draws, features, points, scale).T]
        if mode == SHARED:
            true.append(scale[0])
            drawn.append(draws.length_scale[:, 0, 0])
        below = [(values < value).sum() for values, value in zip(drawn, true, strict=True)]
        equal = [(values == value).sum() for values, value in zip(drawn, true, strict=True)]
        ranks.append([b + rng.integers(0, e + 1) for b, e in zip(below, equal, strict=True)])
    return np.array(ranks)


NAMES = ["g", "eta", "k", "u", "log likelihood", "f1", "f2", "f3", "scale"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [FIXED, SHARED])
def test_ranks_are_uniform(mode):
    ranks = _ranks(mode, 800, seed=10 + mode)
    failures = []
    for name, column in zip(NAMES, ranks.T, strict=False):
        counts = np.bincount(column // 5, minlength=20)
        even = chisquare(counts).pvalue
        jittered = (column + np.random.default_rng(0).random(len(column))) / (KEPT + 1)
        smooth = kstest(jittered, "uniform").pvalue
        print(f"{name}: chi-square p {even:.3f}, Kolmogorov-Smirnov p {smooth:.3f}")
        if min(even, smooth) < 1e-3:
            failures.append((name, counts))
    assert not failures
