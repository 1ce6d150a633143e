"""An estimator owns what it keeps, and so does the caller.

Neither the data nor the parameters of a fit, changed in place afterwards, may change the model; and
a kernel of the user's own may do with its arguments and with what it returns whatever it likes.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.gaussian_process.kernels import RBF, DotProduct, Kernel
from tiny_estimators import LABELS, NAMES, NEW, RESPONSE, ROWS, WITH_KERNELS, make, predict, target

FORMS = {
    "by row": lambda rows: np.array(rows, order="C"),
    "by column": lambda rows: np.array(rows, order="F"),
    "single": lambda rows: rows.astype(np.float32),
    "one column": lambda rows: rows[:, :1].copy(),  # both by row and by column
    "frame": lambda rows: pd.DataFrame(rows, columns=["a", "b", "c"]),
}


def overwrite(data):
    values = data.iloc if isinstance(data, pd.DataFrame) else data
    values[:] = data[::-1].copy() if isinstance(data, np.ndarray) else data.to_numpy()[::-1].copy()


def assert_unmoved(model, change, new):
    """Compare everything that the model keeps, and what it predicts, with what it was before."""
    whole, before = pickle.dumps(model), predict(model, new)
    change()
    assert pickle.dumps(model) == whole
    assert_array_equal(predict(model, new), before)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_the_data_of_a_fit_may_be_changed_afterwards(name, scaled, form):
    rows, y = FORMS[form](ROWS), target(name)
    model = make(name, standardize=scaled).fit(rows, y)
    assert_array_equal(rows, FORMS[form](ROWS))

    def change():
        overwrite(rows)
        overwrite(y)

    assert_unmoved(model, change, FORMS[form](NEW))


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_a_precomputed_kernel_may_be_changed_afterwards(name):
    gram, y = RBF()(ROWS), target(name)
    model = make(name, kernel="precomputed", **widths(name)).fit(gram, y)
    assert_array_equal(gram, RBF()(ROWS))

    def change():
        gram[:] = 1.0
        overwrite(y)

    assert_unmoved(model, change, RBF()(NEW, ROWS))


@pytest.mark.parametrize("name", ["BayesianMKLClassifier", "BayesianMKLRegressor"])
@pytest.mark.parametrize("vectors", ["shared", "per_kernel"])
def test_a_stack_of_precomputed_kernels_may_be_changed_afterwards(name, vectors):
    grams, y = np.stack([RBF(s)(ROWS) for s in (1.0, 3.0)], axis=-1), target(name)
    model = make(name, kernel="precomputed", vectors=vectors).fit(grams, y)
    new = np.stack([RBF(s)(NEW, ROWS) for s in (1.0, 3.0)], axis=-1)
    assert_unmoved(model, lambda: grams.fill(1.0), new)


@pytest.mark.parametrize("name", ["BayesianMKLRegressor", "RVMRegressor"])
def test_several_outputs_may_be_changed_afterwards(name):
    rows, y = ROWS.copy(), np.stack([RESPONSE, LABELS], axis=1)
    model = make(name).fit(rows, y)
    assert_unmoved(model, lambda: y.fill(0.0), NEW)


def widths(name):
    """Return a width that goes with every kernel."""
    return {"length_scale": "mean_distance"} if "Projection" in name else {}


def array_parameters(name):
    """Yield parameters that hold arrays, and those arrays."""
    if "Projection" not in name and "Hybrid" not in name:
        candidates = np.arange(0, 30, 2)
        yield {"candidates": candidates}, candidates
    if name in WITH_KERNELS:
        scales = np.array([1.0, 2.0, 3.0])
        kernel = {"kernel": "rbf"} if "MKL" in name else {}
        yield {**kernel, "length_scale": scales}, scales
        scales = np.array([1.0, 2.0, 3.0])
        yield {"kernel": RBF(scales), **widths(name)}, scales
    if name in WITH_KERNELS and "VM" not in name:
        columns = np.array([0, 2])
        yield {"kernel": [("poly", columns), "rbf"], **widths(name)}, columns
    if name in ("GKMRegressor", "DoublySparseRegressor"):
        freedom = np.array([2.0, 4.0, 8.0])
        yield {"noise": "student_t", "priors__degrees_of_freedom": freedom}, freedom
    if name == "DoublySparseRegressor":
        temperatures = np.array([1.0, 2.0, 4.0])
        yield {"moves__temperatures": temperatures}, temperatures


@pytest.mark.parametrize("name", [n for n in NAMES if "Hybrid" not in n])
def test_arrays_given_as_parameters_may_be_changed_afterwards(name):
    for parameters, array in array_parameters(name):
        given = array.copy()
        model = make(name, **parameters).fit(ROWS, target(name))
        assert_array_equal(array, given)
        before = predict(model)
        array[:] = 1
        assert_array_equal(predict(model), before, err_msg=str(list(parameters)))


# kernels of the user's own


def plain(A, B):
    return 2.0 * np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


def writing(A, B):
    A *= 2.0
    B *= 2.0
    return 2.0 * np.exp(-0.125 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


class Writing(Kernel):
    """A kernel object whose call writes."""

    def __init__(self, size=2.0):
        self.size = size

    def __call__(self, X, Y=None, eval_gradient=False):
        return writing(X, X if Y is None else Y)

    def diag(self, X):
        return np.full(len(X), self.size)

    def is_stationary(self):
        return False


class Forgetful:
    """A kernel that keeps its arguments and what it returned, and spoils them at the next call."""

    def __init__(self):
        self.kept = []

    def __call__(self, A, B):
        for array in self.kept:
            array.fill(7.0)
        self.kept = [A, B, plain(A, B)]
        return self.kept[-1]


class Memory:
    """A kernel that returns the very same matrix when it is asked for it again."""

    def __init__(self):
        self.known = {}

    def __call__(self, A, B):
        key = A.tobytes("C"), B.tobytes("C")
        if key not in self.known:
            self.known[key] = plain(A, B)
        return self.known[key]


@pytest.mark.parametrize("name", WITH_KERNELS)
@pytest.mark.parametrize("rude", [lambda: writing, Writing, Forgetful, Memory])
def test_kernels_that_write_keep_or_remember(name, rude):
    rows, new, y = ROWS.copy(), NEW.copy(), target(name)
    options = {"standardize": False, **widths(name)}
    expected = predict(make(name, kernel=plain, **options).fit(ROWS, y))
    model = make(name, kernel=rude(), **options).fit(rows, y)
    assert_array_equal(rows, ROWS)
    for _ in range(2):
        assert_array_equal(predict(model, new), expected)
    assert_array_equal(new, NEW)


@pytest.mark.parametrize("name", [n for n in WITH_KERNELS if "VM" not in n])
def test_a_kernel_that_writes_among_others(name):
    y = target(name)
    options = {"standardize": False, **widths(name)}
    expected, found = (
        predict(make(name, kernel=[own, (own, [0, 2]), DotProduct()], **options).fit(ROWS, y))
        for own in (plain, writing)
    )
    assert_array_equal(found, expected)
