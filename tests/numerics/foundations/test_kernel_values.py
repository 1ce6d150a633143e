"""Kernel values and width heuristics against scikit-learn and scipy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel

from sparsekern.bases.kernel_columns import KernelColumns, write_column
from sparsekern.kernels.evaluate import CODES, TABLE, kernel_against, kernel_block
from sparsekern.kernels.resolve import check_positive_definite, resolve_kernel
from sparsekern.kernels.widths import distance_scale

RNG = np.random.default_rng(0)
LEFT, RIGHT = RNG.standard_normal((7, 3)), RNG.standard_normal((11, 3))
COLUMNS = np.ascontiguousarray(RIGHT.T)  # compiled code takes the data by feature
UNEQUAL = np.array([0.4, 1.3, 2.7])


def _values(name, scale, amplitude=1.0):
    out = np.empty((len(LEFT), len(RIGHT)))
    kernel_block(COLUMNS, LEFT, 1.0 / np.broadcast_to(scale, 3).copy(), CODES[name], amplitude, out)
    return out


@pytest.mark.parametrize("scale", [0.8, UNEQUAL])
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("rbf", lambda scale: gp.RBF(scale)),
        ("matern12", lambda scale: gp.Matern(scale, nu=0.5)),
        ("matern32", lambda scale: gp.Matern(scale, nu=1.5)),
        ("matern52", lambda scale: gp.Matern(scale, nu=2.5)),
    ],
)
def test_stationary_families(name, reference, scale):
    assert_allclose(_values(name, scale), reference(scale)(LEFT, RIGHT), rtol=1e-12)
    assert_allclose(_values(name, scale, 2.5), 2.5 * reference(scale)(LEFT, RIGHT), rtol=1e-12)


def test_laplacian_and_linear():
    assert_allclose(_values("laplacian", 1.7), laplacian_kernel(LEFT, RIGHT, 1 / 1.7), rtol=1e-12)
    scaled = laplacian_kernel(LEFT / UNEQUAL, RIGHT / UNEQUAL, 1.0)
    assert_allclose(_values("laplacian", UNEQUAL), scaled, rtol=1e-12)
    assert_allclose(_values("linear", 1.0, 0.3), 0.3 * linear_kernel(LEFT, RIGHT), rtol=1e-12)
    assert_allclose(_values("rbf", 0.8), rbf_kernel(LEFT, RIGHT, 0.5 / 0.8**2), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(CODES))
def test_one_column_and_zero_distance(name):
    block = _values(name, UNEQUAL)
    out = np.empty(len(RIGHT))
    kernel_against(COLUMNS, LEFT[2], 1.0 / UNEQUAL, CODES[name], 1.0, out)
    assert_allclose(out, block[2], rtol=1e-14)
    if name != "linear":
        kernel_against(LEFT.T.copy(), LEFT[2], 1.0 / UNEQUAL, CODES[name], 1.5, out[:7])
        assert out[2] == 1.5


@pytest.mark.parametrize("name", sorted(set(CODES) - {"linear"}))
def test_a_distance_that_overflows_gives_zero(name):
    """The square of the distance is infinite; infinity times zero must not give NaN."""
    out = np.empty(1)
    kernel_against(np.full((3, 1), 1e200), LEFT[2], 1.0 / UNEQUAL, CODES[name], 1.0, out)
    assert out[0] == 0


OBJECTS = [
    gp.RBF(0.7),
    gp.RBF([0.4, 1.3, 2.7]),
    gp.Matern(1.1, nu=1.5),
    gp.Matern([0.4, 1.3, 2.7], nu=2.5),
    gp.Matern(0.9, nu=0.5),
    gp.Matern(0.9, nu=np.inf),
    gp.ConstantKernel(3.2) * gp.RBF(0.7),
    gp.Matern(0.6, nu=1.5) * gp.ConstantKernel(0.2),
    gp.RationalQuadratic(0.9, 1.3),
    gp.Matern(0.9, nu=2.1),
    gp.RBF(0.7) + gp.DotProduct(1.0),
    gp.ConstantKernel(2.0) * (gp.ConstantKernel(0.5) * gp.RBF(0.7)),
    gp.RBF(0.7) ** 2,
    gp.ConstantKernel(2.0),
]


@pytest.mark.parametrize("kernel", OBJECTS, ids=str)
def test_kernel_objects(kernel):
    resolved = resolve_kernel(kernel, "mean_distance", LEFT)
    assert_allclose(resolved.matrix(LEFT, RIGHT), kernel(LEFT, RIGHT), rtol=1e-12)
    assert_allclose(resolved.diagonal(LEFT), np.diag(kernel(LEFT, LEFT)), rtol=1e-12)
    assert resolved.matrix(LEFT, RIGHT).flags.c_contiguous
    simple = (gp.RBF, gp.Matern)
    if isinstance(kernel, simple) and kernel.get_params().get("nu") != 2.1:
        assert resolved.kind != TABLE and resolved.stationary


@pytest.mark.parametrize("name", ["cosine", "polynomial", "sigmoid"])
def test_pairwise_names(name):
    from sklearn.metrics.pairwise import pairwise_kernels

    resolved = resolve_kernel(name, "mean_distance", LEFT)
    assert_allclose(resolved.matrix(LEFT, RIGHT), pairwise_kernels(LEFT, RIGHT, metric=name))
    assert_allclose(resolved.diagonal(LEFT), np.diag(pairwise_kernels(LEFT, metric=name)))


def test_columns_of_the_basis():
    """Compiled columns and tabulated ones are the same numbers."""
    scale = UNEQUAL
    matrix = gp.RBF(scale)(RIGHT)
    n = len(RIGHT)
    slot = RNG.permutation(n)
    table = np.empty((n, n))
    table[slot] = matrix
    one, zero = np.ones(1), np.zeros(1)
    compiled = KernelColumns(
        COLUMNS, np.array([CODES["rbf"]]), one, np.ones((1, n)), np.zeros((1, 0, n)),
        np.zeros(0, np.int64), zero,
    )  # fmt: skip
    tabulated = KernelColumns(
        np.zeros((0, n)), np.array([TABLE]), one, np.ones((1, n)), table[None], slot, zero
    )
    out = np.empty(n)
    for row in range(n):
        for basis in (compiled, tabulated):
            write_column(basis, scale[None], 0, row, out)
            assert_allclose(out, matrix[row], rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_widths(metric):
    distances = pdist(RIGHT, metric)
    assert_allclose(distance_scale(RIGHT, "mean_distance", metric), distances.mean())
    assert_allclose(distance_scale(RIGHT, "median_distance", metric), np.median(distances))


def test_widths_of_degenerate_rows():
    assert distance_scale(np.ones((6, 2)), "mean_distance") == 1.0
    assert distance_scale(np.ones((6, 2)), "median_distance") == 1.0
    assert distance_scale(np.ones((1, 2)), "mean_distance") == 1.0
    mostly = np.vstack([np.zeros((9, 2)), [[3.0, 4.0]]])
    assert distance_scale(mostly, "median_distance") == 5.0


def test_width_of_many_rows_uses_a_subset():
    many = np.random.default_rng(1).standard_normal((5000, 2))
    exact = np.sqrt(np.pi)  # mean distance of two standard normal points in the plane
    assert abs(distance_scale(many, "mean_distance") / exact - 1) < 0.02


def test_heuristic_widths_of_a_kernel():
    """exp(-d^2 / D^2) at the typical distance D; the Laplacian uses the city-block distance."""
    for heuristic, statistic in (("mean_distance", np.mean), ("median_distance", np.median)):
        rbf = resolve_kernel("rbf", heuristic, RIGHT)
        assert_allclose(rbf.length_scale, statistic(pdist(RIGHT)) / np.sqrt(2))
        laplacian = resolve_kernel("laplacian", heuristic, RIGHT)
        assert_allclose(laplacian.length_scale, statistic(pdist(RIGHT, "cityblock")))


def test_positive_definiteness():
    square = RNG.standard_normal((20, 20))
    good = resolve_kernel("precomputed", "mean_distance", square)
    check_positive_definite(good, square @ square.T, 1e-8)
    check_positive_definite(good, np.ones((20, 20)), 1e-8)  # singular, but not indefinite
    check_positive_definite(resolve_kernel("rbf", 1.0, LEFT), LEFT, 1e-8)
    with pytest.raises(ValueError, match="not symmetric"):
        check_positive_definite(good, square, 1e-8)
    with pytest.raises(ValueError, match=r"not positive definite: its matrix on 20 .*rows"):
        check_positive_definite(good, square + square.T, 1e-8)
    negative = resolve_kernel(lambda a, b: -rbf_kernel(a, b), "mean_distance", LEFT)
    with pytest.raises(ValueError, match="Use another kernel"):
        check_positive_definite(negative, LEFT, 1e-8)
    lopsided = resolve_kernel(lambda a, b: a[:, :1] + 2 * b[:, 0], "mean_distance", LEFT)
    with pytest.raises(ValueError, match=r"k\(a, b\) = k\(b, a\)"):
        check_positive_definite(lopsided, LEFT, 1e-8)
