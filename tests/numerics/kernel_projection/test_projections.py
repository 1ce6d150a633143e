"""Kernel principal components: identities, new rows, ties, the smaller side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsekern.inference.kernel_projection.projections import kernel_rows, project_training
from sparsekern.kernels import resolve_kernels


def off_centre(n=25, p=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p)) * [3, 1, 1, 0.5, 2, 1][:p] + 7.0


def one_kernel(kernel, X, width="mean_distance"):
    return resolve_kernels(kernel, width, X)[0]


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "linear", "polynomial"])
def test_components_are_orthogonal_and_centred(kernel):
    X = off_centre()
    found = project_training(one_kernel(kernel, X), X, 8)
    P, values = found.training, found.eigenvalues
    largest = values[0]
    assert P.shape[1] == (6 if kernel == "linear" else 8)
    assert_allclose(P.T @ P, np.diag(values), atol=1e-12 * largest)
    assert_allclose(P.sum(0), 0, atol=min(1e-12 * largest, 1e-11 * np.sqrt(largest)))
    assert np.all(np.diff(values) <= 0)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
def test_training_rows_as_new_rows(kernel):
    X = off_centre()
    found = project_training(one_kernel(kernel, X), X, 8)
    again, squared = found.project(X)
    largest = found.eigenvalues[0]
    error = min(1e-12 * largest, 1e-11 * np.sqrt(largest))
    assert_allclose(again, found.training, atol=error)
    assert_allclose(squared.sum(), found.total, rtol=1e-9)
    assert np.all((again**2).sum(1) <= squared * (1 + 1e-9))


def test_all_components_see_everything():
    X = off_centre()
    found = project_training(one_kernel("rbf", X), X, 100)
    assert found.n_components == len(X) - 1
    again, squared = found.project(X)
    assert_allclose((again**2).sum(1), squared, rtol=1e-8)
    assert_allclose(found.eigenvalues.sum(), found.total, rtol=1e-10)


@pytest.mark.parametrize("shape", [(30, 4), (8, 40)])
def test_linear_kernel_gives_principal_components(shape):
    X = np.random.default_rng(1).standard_normal(shape) + 5
    found = project_training(one_kernel("linear", X), X, 4)
    centred = X - X.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    scores = (left * values)[:, :4]
    assert_allclose(np.abs(found.training), np.abs(scores), atol=1e-10 * values[0])
    new = np.random.default_rng(2).standard_normal((5, shape[1])) + 5
    dense = project_training(one_kernel("polynomial", X), X, 4)  # another kernel, same face
    assert dense.project(new)[0].shape == (5, 4)
    right = np.linalg.svd(centred, full_matrices=False)[2][:4]
    assert_allclose(
        np.abs(found.project(new)[0]), np.abs((new - X.mean(0)) @ right.T), atol=1e-9 * values[0]
    )


def test_new_rows_against_the_centring_matrix():
    X, new = off_centre(), off_centre(4, seed=5)
    kernel = one_kernel("rbf", X)
    found = project_training(kernel, X, 5)
    everything = np.vstack([X, new])
    gram = kernel.matrix(everything, everything)
    n = len(X)
    # both sides centred with the mean of the training rows' images
    centre = np.eye(n + 4)
    centre[:, :n] -= 1 / n
    inner = centre @ gram @ centre.T
    directions = found.training / found.eigenvalues
    assert_allclose(found.project(new)[0], inner[n:, :n] @ directions, atol=1e-10)
    assert_allclose(found.project(new)[1], np.diag(inner)[n:], rtol=1e-10)


def test_signs_are_fixed_and_rows_may_be_permuted():
    X = off_centre()
    order = np.random.default_rng(4).permutation(len(X))
    kernel = one_kernel("rbf", X)
    one, other = project_training(kernel, X, 6), project_training(kernel, X[order], 6)
    assert_allclose(other.training, one.training[order], atol=1e-9)
    best = np.abs(one.training).argmax(0)
    assert np.all(one.training[best, np.arange(6)] > 0)


def test_a_tie_is_not_cut():
    gram = np.eye(5)  # all eigenvalues of the centred matrix are equal, but one zero
    kernel = one_kernel("precomputed", gram)
    assert project_training(kernel, gram, 4).n_components == 4
    two_and_three = np.diag([5.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    centred = np.linalg.qr(np.column_stack([np.ones(7), np.random.default_rng(0).random((7, 6))]))
    gram = centred[0][:, 1:] @ two_and_three @ centred[0][:, 1:].T
    assert project_training(one_kernel("precomputed", gram), gram, 4).n_components == 2
    assert project_training(one_kernel("precomputed", gram), gram, 6).n_components == 6


def test_rows_that_look_the_same_have_no_components():
    X = np.full((6, 3), 1e3)
    for kernel in ("rbf", "linear", "polynomial"):
        assert project_training(one_kernel(kernel, X), X, 4).n_components == 0


def test_duplicated_rows_lower_the_rank():
    X = np.repeat(off_centre(5), 3, axis=0)
    assert project_training(one_kernel("rbf", X), X, 10).n_components == 4


def test_far_points_tend_to_one_place():
    X = off_centre()
    found = project_training(one_kernel("rbf", X), X, 5)
    far, squared = found.project(X[:2] + np.array([[1e6], [-1e6]]))
    assert_allclose(far[0], far[1], atol=1e-12)
    assert np.all((far**2).sum(1) < 0.5 * squared)


def test_overflow_is_told():
    X = off_centre() * 1e200
    with pytest.raises(ValueError, match="overflows on the training rows"):
        project_training(one_kernel("linear", X), X, 3)
    near = off_centre(5)  # fewer rows than features: new rows are projected by kernel values
    kernel = one_kernel("linear", near)
    for made in (project_training(kernel, near, 3), kernel_rows(kernel, near)):
        with pytest.raises(ValueError, match="overflows at some rows"):
            made.project(np.full((1, 6), 1e308))
