"""Predictions of rows left out against models that never saw them, and the temperature."""

import numpy as np
import pytest
from multiple_kernel.test_additive_kernels import BIAS, KINDS, make_data, make_model
from numpy.testing import assert_allclose
from scipy.special import log_ndtr

from sparsekern.inference.multiple_kernel.additive.bound import Scales
from sparsekern.inference.multiple_kernel.additive.left_out import (
    choose_temperature,
    left_out_moments,
)
from sparsekern.inference.multiple_kernel.additive.posterior import make_posterior


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [[0.1, 0.3], [0.2, 0.2]])
def test_left_out_moments(kind, noise, monkeypatch):
    monkeypatch.setattr("sparsekern.inference.multiple_kernel.additive.left_out._ROWS", 7)
    kernels, targets = make_data()
    model, scales, columns = make_model(kind, kernels)
    scales = Scales(scales.kernel, scales.sample, np.array(noise))
    posterior = make_posterior(model, scales, targets, np.arange(3), None, None)
    fitted = model.evaluate(scales, targets)[2].fitted
    mean, variance = left_out_moments(posterior, targets, fitted)
    size = model.component_scales(scales)
    if kind == "kernels":
        covariance = np.tensordot(size, kernels, 1) + BIAS
    else:
        covariance = (columns * size) @ columns.T + BIAS
    for i in (0, 8, 39):
        rest = np.arange(40) != i
        for o in range(2):
            inner = covariance[np.ix_(rest, rest)] + noise[o] * np.eye(39)
            pull = np.linalg.solve(inner, covariance[rest, i])
            assert_allclose(mean[i, o], pull @ targets[rest, o], rtol=1e-6)
            expected = covariance[i, i] - pull @ covariance[rest, i]
            expected = expected + posterior.noise_variance[o]
            assert_allclose(variance[i, o], expected, rtol=1e-6)


def test_temperature_of_two_classes():
    """The best factor under the prior, by a fine grid; wide deviations are narrowed."""
    rng = np.random.default_rng(3)
    signs = rng.choice([-1.0, 1.0], (200, 1))
    mean = signs + 0.4 * rng.standard_normal((200, 1))
    variance = np.full((200, 1), 1.0)
    found = choose_temperature(mean, variance, signs, None)
    logs = np.linspace(-2, 1, 3001)
    values = [log_ndtr(signs * mean / np.exp(u)).sum() - 2.0 * u**2 for u in logs]
    assert_allclose(np.log(found), logs[np.argmax(values)], atol=2e-3)
    assert found < 0.7


def test_temperature_of_several_classes():
    """Draws with the deviations that are said: the factor is one; with half of them, one half."""
    rng = np.random.default_rng(4)
    mean = rng.normal(0.3, 1.0, (4000, 3))
    deviation = rng.uniform(0.5, 1.5, (4000, 3))
    draws = mean + deviation * rng.standard_normal((4000, 3))
    classes = np.argmax(draws, axis=1)
    signs = np.where(np.arange(3) == classes[:, None], 1.0, -1.0)
    assert_allclose(choose_temperature(mean, deviation**2, signs, classes), 1.0, atol=0.1)
    assert_allclose(choose_temperature(mean, 4 * deviation**2, signs, classes), 0.5, atol=0.05)


def test_without_rows_that_speak_the_factor_stays_near_one():
    signs = np.ones((2, 1))
    found = choose_temperature(np.full((2, 1), 0.1), np.ones((2, 1)), signs, None)
    assert 0.8 < found < 1.0
