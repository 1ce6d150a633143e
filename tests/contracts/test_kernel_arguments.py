"""What resolve_kernel accepts, and the sentences by which it refuses."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from sparsekern.kernels.evaluate import TABLE
from sparsekern.kernels.resolve import resolve_kernel

FEATURES = np.random.default_rng(0).standard_normal((9, 3))


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern12", "matern32", "matern52"])
def test_stationary_names_take_any_length_scale(name):
    for value in (2, 0.5, np.float64(0.5), np.float32(0.5), [1.0, 2.0, 3.0], np.arange(1, 4)):
        kernel = resolve_kernel(name, value, FEATURES)
        assert kernel.kind != TABLE and kernel.stationary
        assert kernel.length_scale.shape == (3,)
        assert kernel.length_scale.dtype == np.float64
        np.testing.assert_array_equal(kernel.length_scale, np.broadcast_to(value, 3))
    given = np.array([1.0, 2.0, 3.0])
    resolve_kernel(name, given, FEATURES).length_scale[0] = 9.0
    assert given[0] == 1.0  # the user's array is not kept


@pytest.mark.parametrize(
    ("value", "error", "sentence"),
    [
        ("mode", ValueError, "length_scale='mode' is not known"),
        (0.0, ValueError, "length_scale must be positive and finite"),
        (-1, ValueError, "length_scale must be positive and finite"),
        (np.nan, ValueError, "length_scale must be positive and finite"),
        (np.inf, ValueError, "length_scale must be positive and finite"),
        (None, TypeError, "length_scale must be a positive number, got None"),
        (True, TypeError, "length_scale must be a positive number, got True"),
        ([1.0, 2.0], ValueError, r"or 3 of them, one per feature; got \[1.0, 2.0\]"),
        ([[1.0, 2.0, 3.0]], ValueError, r"got \[\[1.0, 2.0, 3.0\]\]"),
        ([1.0, -2.0, 3.0], ValueError, "one positive number or 3 of them"),
        ([1.0, np.nan, 3.0], ValueError, "one positive number or 3 of them"),
    ],
)
def test_refused_length_scales(value, error, sentence):
    with pytest.raises(error, match=sentence):
        resolve_kernel("rbf", value, FEATURES)


@pytest.mark.parametrize(
    "kernel", ["linear", "cosine", "precomputed", gp.RBF(1.0), lambda a, b: a @ b.T]
)
@pytest.mark.parametrize("value", [1.0, "median_distance", np.ones(3), None])
def test_a_kernel_with_its_own_scale_refuses_another(kernel, value):
    with pytest.raises(ValueError, match="cannot be combined with kernel="):
        resolve_kernel(kernel, value, FEATURES)
    assert not resolve_kernel("linear", "mean_distance", FEATURES).stationary


def test_unknown_kernels():
    with pytest.raises(ValueError, match=r"kernel='gauss' is not known; use one of .*rbf"):
        resolve_kernel("gauss", "mean_distance", FEATURES)
    for value in (3, None, ["rbf"]):
        with pytest.raises(TypeError, match="kernel must be a string, a kernel object"):
            resolve_kernel(value, "mean_distance", FEATURES)


@pytest.mark.parametrize(
    "kernel",
    [
        gp.WhiteKernel(),
        gp.RBF(1.0) + gp.WhiteKernel(0.1),
        gp.ConstantKernel(2.0) * (gp.WhiteKernel() + gp.Matern(1.0)),
        (gp.RBF(1.0) + gp.WhiteKernel()) ** 2,
    ],
    ids=str,
)
def test_white_noise_is_refused(kernel):
    with pytest.raises(ValueError, match="contains a WhiteKernel"):
        resolve_kernel(kernel, "mean_distance", FEATURES)


def test_wrong_number_of_length_scales_in_an_object():
    with pytest.raises(ValueError, match="has 2 length scales, but X has 3 features"):
        resolve_kernel(gp.RBF([1.0, 2.0]), "mean_distance", FEATURES)


def test_object_is_neither_kept_nor_changed():
    given = gp.ConstantKernel(2.0) * gp.RationalQuadratic(1.0, 1.5)
    kernel = resolve_kernel(given, "mean_distance", FEATURES)
    before = kernel.matrix(FEATURES, FEATURES)
    given.k2.length_scale = 50.0
    np.testing.assert_array_equal(kernel.matrix(FEATURES, FEATURES), before)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda a, b: np.ones(len(a)), r"must return the matrix of shape \(9, 4\)"),
        (lambda a, b: b @ a.T, r"returned an array of shape \(4, 9\)"),
        (lambda a, b: 1.0, r"returned an array of shape \(\)"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "returned NaN or infinity"),
        (lambda a, b: np.full((len(a), len(b)), np.inf), "returned NaN or infinity"),
    ],
)
def test_callables_that_return_something_else(function, sentence):
    kernel = resolve_kernel(function, "mean_distance", FEATURES)
    with pytest.raises(ValueError, match=sentence):
        kernel.matrix(FEATURES, FEATURES[:4])


def test_callable_of_other_number_types():
    kernel = resolve_kernel(lambda a, b: (a @ b.T).round().astype(int), "mean_distance", FEATURES)
    values = kernel.matrix(FEATURES, FEATURES[:4])
    assert values.dtype == np.float64 and values.flags.c_contiguous


def test_precomputed():
    matrix = FEATURES @ FEATURES.T
    kernel = resolve_kernel("precomputed", "mean_distance", matrix)
    assert kernel.precomputed
    np.testing.assert_array_equal(kernel.diagonal(matrix), np.diag(matrix))


def test_other_length_scale():
    kernel = resolve_kernel("rbf", 1.0, FEATURES)
    other = kernel.with_length_scale([2, 2, 2])
    assert other.length_scale.dtype == np.float64
    assert (kernel.length_scale == 1).all() and (other.length_scale == 2).all()
    expected = gp.RBF(2.0)(FEATURES)
    np.testing.assert_allclose(other.matrix(FEATURES, FEATURES), expected, rtol=1e-12)


def test_a_precomputed_kernel_is_not_evaluated():
    matrix = np.eye(4)
    with pytest.raises(ValueError, match="no values but those of the matrix"):
        resolve_kernel("precomputed", "mean_distance", matrix).matrix(matrix[:2], matrix)
