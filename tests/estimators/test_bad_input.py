"""Bad input gets a sentence that names the argument, the value and the remedy."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_info

from sparsekern import GKMClassifier

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.repeat([0, 1], 10)


def fit(X=X, y=Y, **parameters):
    short = {"draws": 5, "tune": 5, "chains": 1, "random_state": 0}
    return GKMClassifier().set_params(**short | parameters).fit(X, y)


def changed(value):
    out = X.copy()
    out[3, 1] = value
    return out


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"X": changed(np.nan)}, "contains NaN"),
        ({"X": changed(np.inf)}, "infinity"),
        ({"X": np.array([["a", "b"]] * 20)}, "could not convert string"),
        ({"X": X[:, :0]}, "0 feature"),
        ({"X": X[:0], "y": Y[:0]}, "0 sample"),
        ({"X": X[0]}, "Reshape your data"),
        ({"y": np.zeros(20)}, "one class only"),
        ({"y": np.linspace(0, 1, 20)}, "Unknown label type"),
        ({"y": Y[:-1]}, "inconsistent numbers of samples"),
        ({"y": np.where(Y == 0, np.nan, 1.0)}, "NaN"),
        ({"X": X, "kernel": "precomputed"}, "square kernel matrix"),
    ],
)
def test_data(data, words):
    with pytest.raises(ValueError, match=words):
        fit(**data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"draws": 0}, "draws must be at least 1, got 0"),
        ({"draws": -5}, "draws must be at least 1, got -5"),
        ({"tune": -1}, "tune must be at least 0"),
        ({"chains": 0}, "chains must be at least 1"),
        ({"thin": 0}, "thin must be at least 1"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"priors__max_active": 0}, "GKMPriors.max_active must be at least 1"),
        ({"moves__active_set": 0}, "GKMMoves.active_set must be at least 1, got 0"),
        ({"moves__latent_scans": 0}, "latent_scans"),
        ({"moves__joint": -1}, "GKMMoves.joint must be at least 0"),
        ({"priors__scale": (2, -1)}, r"GKMPriors.scale\[1\] must be positive"),
        ({"priors__scale": 3}, "GKMPriors.scale must be a pair"),
        ({"priors__scale": (1, np.nan)}, r"GKMPriors.scale\[1\]"),
        ({"priors__intercept": (0, 1)}, r"GKMPriors.intercept\[0\]"),
        ({"priors__size": (1, 1, 1)}, "GKMPriors.size must be a pair"),
        ({"priors__jitter": 0.0}, "jitter must be positive"),
        ({"length_scale": -1.0}, "length_scale must be positive"),
        ({"length_scale": [1.0, 2.0]}, "one positive number or 3"),
        ({"length_scale": [1.0, -2.0, 3.0]}, r"got \[1.0, -2.0, 3.0\]"),
        ({"length_scale": ["a", 1.0, 2.0]}, "one positive number or 3"),
        ({"kernel": RBF(-1.0)}, "length_scale of kernel=.* must be positive"),
        ({"kernel": ConstantKernel(0.0) * RBF()}, "the constant of kernel=.* must be positive"),
        ({"checkpoint": ""}, "checkpoint must be None or a folder"),
        ({"length_scale": "mode"}, "length_scale='mode' is not known"),
        ({"priors__length_scale_bounds": (3, 2)}, "low < high"),
        ({"priors__scales": (3, 2)}, "Invalid parameter 'scales' of priors, a GKMPriors"),
        ({"learn_length_scale": True}, "learn_length_scale must be one of"),
        ({"learn_length_scale": "each"}, "learn_length_scale must be one of"),
        ({"progress": "loud"}, "progress must be one of"),
        ({"kernel": "rfb"}, "kernel='rfb' is not known; use one of"),
        ({"kernel": RBF([1.0, 2.0])}, "has 2 length scales, but X has 3 features"),
        ({"kernel": RBF() + WhiteKernel()}, "remove the WhiteKernel"),
        ({"kernel": RBF(), "length_scale": 2.0}, "cannot be combined"),
        ({"kernel": "linear", "length_scale": 2.0}, "cannot be combined"),
        ({"kernel": "linear", "learn_length_scale": "shared"}, "needs a compiled kernel"),
        ({"kernel": lambda A, B: A[:, 0]}, "must return the matrix of shape"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "returned NaN"),
        ({"kernel": lambda A, B: -(A @ B.T)}, "not positive definite"),
        ({"kernel": lambda A, B: A[:, :1] + 0 * B[:, 0]}, "not symmetric"),
        ({"checkpoint": __file__}, "is a file; give the name of a folder"),
    ],
)
def test_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        fit(**parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"draws": 10.5}, "draws must be a whole number"),
        ({"chains": "four"}, "chains must be a whole number"),
        ({"kernel": 3}, "kernel must be a string"),
        ({"priors__sparse": "no"}, "sparse must be True or False"),
        ({"priors": {"scale": (2, 1)}}, r"priors must be a sparsekern.settings.GKMPriors or None"),
        ({"moves": 5}, r"Write moves=GKMMoves\(...\), or change single values by set_params"),
        ({"standardize": 1.5}, "standardize must be True or False"),
        ({"length_scale": None}, "length_scale must be a positive number"),
        ({"checkpoint": 5}, "checkpoint must be None or a folder's name, got 5 of type int"),
        ({"checkpoint": b"here"}, "checkpoint must be None or a folder"),
    ],
)
def test_types(parameters, words):
    with pytest.raises(TypeError, match=words):
        fit(**parameters)


@pytest.mark.parametrize("spoil", ["indefinite", "asymmetric"])
def test_precomputed_matrix_that_is_no_kernel(spoil):
    matrix = X @ X.T
    if spoil == "indefinite":
        matrix -= 5 * np.eye(20)
    else:
        matrix[2, 5] += 1.0
    words = "not positive definite" if spoil == "indefinite" else "not symmetric"
    with pytest.raises(ValueError, match=words):
        fit(X=matrix, kernel="precomputed")


def test_other_features_at_prediction():
    model = fit()
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(changed(np.nan))
    given = fit(X=X @ X.T + np.eye(20), kernel="precomputed")
    with pytest.raises(ValueError, match="20 features"):
        given.predict(np.ones((2, 3)))


def test_a_kernel_that_raises_is_heard():
    def broken(A, B):
        raise RuntimeError("no such kernel today")

    with pytest.raises(RuntimeError, match="no such kernel today"):
        fit(kernel=broken)


def test_a_failed_refit_leaves_the_model_as_it_was():
    model = fit(warm_start=True)
    before = model.predict_proba(X)
    for data, parameters in (
        ((X * 7 + 100, np.where(Y > 0, "b", "a")), {"draws": 9}),
        ((X[:, :2], Y), {"kernel": "rfb"}),
        ((X, np.zeros(20)), {}),
    ):
        with pytest.raises(ValueError, match=r"changed|rfb|one class"):
            model.set_params(**parameters).fit(*data)
        model.set_params(draws=5, kernel="rbf")
        np.testing.assert_array_equal(model.predict_proba(X), before)
        np.testing.assert_array_equal(model.classes_, [0, 1])


def test_bounds_that_exclude_the_starting_width():
    model = fit(
        learn_length_scale="shared",
        length_scale=1.0,
        priors__length_scale_bounds=(2, 5),
        draws=200,
        tune=200,
    )
    assert model.acceptance_rates_["length_scale"] > 0
    assert 2 <= model.length_scale_[0] <= 5


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_extreme_scales_without_standardisation(scale):
    plain = fit(standardize=False, draws=50)
    moved = fit(X=X * scale, standardize=False, draws=50)
    np.testing.assert_allclose(
        moved.predict_proba(X * scale), plain.predict_proba(X), rtol=0, atol=1e-6
    )


def test_float32_kernel_matrices():
    features = X.astype(np.float32)
    smooth = np.exp(-((features[:, None] - features[None]) ** 2).sum(-1) / 5000)
    with pytest.raises(ValueError, match="set jitter to at least"):
        fit(X=smooth, kernel="precomputed", priors__jitter=1e-12)
    slightly_off = (smooth + np.float32(1e-7) * np.triu(smooth)).astype(np.float64)
    model = fit(X=slightly_off, kernel="precomputed", priors__jitter=1e-4)
    assert np.isfinite(model.predict_proba(slightly_off)).all()


def test_kernels_evaluated_in_python_can_be_pickled():
    model = fit(kernel="poly")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_no_active_vector_at_all():
    model = fit(priors__size=(1, 1e9), draws=20, tune=200)
    assert model.posterior_["sample_stats"]["n_active"].max() == 0
    assert (model.posterior_["sparse_coefficients"]["training_row"] == -1).all()
    assert len(model.active_vectors_) == 0


def test_numpy_strings_and_truth_values_are_choices():
    fit(learn_length_scale=np.str_("shared"), priors__sparse=np.True_)


def test_unbounded_kernels_far_away():
    with pytest.raises(ValueError, match="overflows at some rows of X"):
        fit(kernel="linear", standardize=False).predict([[1e308, 1e308, 1e308]])


def test_overlapping_fits_give_the_blas_threads_back():
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: fit(), range(12)))
    assert [pool["num_threads"] for pool in threadpool_info()] == before
