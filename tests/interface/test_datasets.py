"""Data sets: the generators against theory, the shipped set, and the loader with its errors."""

from __future__ import annotations

import sys
from importlib.resources import files
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.special import i0e
from scipy.stats import multivariate_normal, ncx2, norm
from sklearn.utils import Bunch

from sparsekern import datasets
from sparsekern.datasets import load, load_breast_cancer_means

SHIFT = 2 / np.sqrt(20)
N_BIG = 120_000
N_FEATURES = {
    datasets.make_ringnorm: 20,
    datasets.make_twonorm: 20,
    datasets.make_waveform: 21,
    datasets.make_ripley: 2,
    datasets.make_spirals: 2,
    datasets.make_overlapping_gaussians: 2,
    datasets.make_ring_and_blob: 2,
}
every_generator = pytest.mark.parametrize("make", N_FEATURES, ids=lambda make: make.__name__)


def assert_error_rate(wrong, expected):
    """Four standard errors: passes a right generator with probability 0.99994."""
    assert abs(np.mean(wrong) - expected) < 4 * np.sqrt(expected * (1 - expected) / len(wrong))


def assert_moments(X, mean, covariance):
    """Compare sample mean and covariance entrywise, at five standard errors."""
    variances = np.diag(covariance)
    mean_error = np.sqrt(variances / len(X))
    covariance_error = np.sqrt((np.outer(variances, variances) + covariance**2) / len(X))
    assert np.all(np.abs(X.mean(axis=0) - mean) < 5 * mean_error)
    assert np.all(np.abs(np.cov(X.T) - covariance) < 5 * covariance_error)


# ---------------------------------------------------------------- what all generators share


@every_generator
def test_shapes_types_and_defaults(make):
    X, y = make(31, random_state=0)
    assert X.shape == (31, N_FEATURES[make]) and X.dtype == np.float64 and np.isfinite(X).all()
    assert y.shape == (31,) and y.dtype.kind == "i"
    assert_array_equal(np.unique(y), [-1, 1])
    default_X, default_y = make()
    assert len(default_X) == len(default_y) >= 200


@every_generator
def test_class_sizes_are_fixed_and_their_order_is_random(make):
    _, y = make(301, random_state=0)
    third = make is datasets.make_waveform
    assert np.sum(y == 1) == (100 if third else 150)
    # Sorted, alternating or periodic labels would bias every unshuffled split.
    repeats = np.mean(y[1:] == y[:-1])
    assert abs(repeats - (5 / 9 if third else 1 / 2)) < 0.12


@every_generator
def test_seeds(make):
    X, y = make(40, random_state=5)
    for again in (5, np.random.RandomState(5)):
        same_X, same_y = make(40, random_state=again)
        assert_array_equal(same_X, X)
        assert_array_equal(same_y, y)
    stream = np.random.RandomState(5)
    make(40, random_state=stream)
    assert not np.array_equal(make(40, random_state=stream)[0], X)  # the stream moved on
    assert not np.array_equal(make(40)[0], make(40)[0])
    with pytest.raises(ValueError, match="seed"):
        make(40, random_state="five")


@every_generator
@pytest.mark.parametrize(
    ("n_samples", "error"),
    [(0, ValueError), (-3, ValueError), (2.5, TypeError), (True, TypeError), ("9", TypeError)],
)
def test_unusable_n_samples(make, n_samples, error):
    with pytest.raises(error, match=f"n_samples must be .*{n_samples}.*pass a"):
        make(n_samples)


@pytest.mark.parametrize(
    ("make", "argument", "value", "error"),
    [
        (datasets.make_spirals, "noise", -0.1, ValueError),
        (datasets.make_spirals, "noise", np.nan, ValueError),
        (datasets.make_spirals, "noise", "loud", TypeError),
        (datasets.make_spirals, "n_turns", 0.0, ValueError),
        (datasets.make_overlapping_gaussians, "separation", -1.0, ValueError),
        (datasets.make_overlapping_gaussians, "separation", np.inf, ValueError),
        (datasets.make_overlapping_gaussians, "n_features", 0, ValueError),
        (datasets.make_ring_and_blob, "radius", 0.0, ValueError),
        (datasets.make_ring_and_blob, "noise", -1.0, ValueError),
        (datasets.make_ring_and_blob, "blob_std", 0.0, ValueError),
        (datasets.make_waveform, "n_classes", 4, ValueError),
        (datasets.make_waveform, "n_classes", True, ValueError),
    ],
)
def test_unusable_arguments_are_named(make, argument, value, error):
    with pytest.raises(error, match=f"{argument} must be .*{value}.*; pass"):
        make(10, **{argument: value})


# ---------------------------------------------------------------- each generator against theory


def test_ringnorm_moments_and_bayes_error():
    X, y = datasets.make_ringnorm(N_BIG, random_state=1)
    mean = np.full(20, SHIFT)
    assert_moments(X[y == 1], np.zeros(20), 4 * np.eye(20))
    assert_moments(X[y == -1], mean, np.eye(20))

    wide = multivariate_normal(np.zeros(20), 4 * np.eye(20)).logpdf(X)
    narrow = multivariate_normal(mean, np.eye(20)).logpdf(X)
    bayes = np.where(wide > narrow, 1, -1)
    threshold = 8 / 3 * (20 * np.log(2) + 2 / 3)
    exact = (ncx2.sf(threshold, 20, 4 / 9) + ncx2.cdf(threshold / 4, 20, 16 / 9)) / 2
    assert round(100 * exact, 2) == 1.24  # the value in the docstring
    assert_error_rate(bayes != y, exact)
    # The sphere of the docstring is the same rule.
    sphere = np.sum((X - 4 / 3 * mean) ** 2, axis=1) > threshold
    assert_array_equal(sphere, bayes == 1)


def test_twonorm_moments_and_bayes_error():
    X, y = datasets.make_twonorm(N_BIG, random_state=2)
    for label in (-1, 1):
        assert_moments(X[y == label], np.full(20, label * SHIFT), np.eye(20))
    exact = norm.cdf(-2)
    assert round(100 * exact, 2) == 2.28
    assert_error_rate(np.sign(X.sum(axis=1)) != y, exact)


def waveform_log_density(X, peak, other_peak):
    positions = np.arange(1, 22)
    first = np.maximum(6 - np.abs(positions - peak), 0)
    second = np.maximum(6 - np.abs(positions - other_peak), 0)
    length = np.linalg.norm(first - second)
    rest = X - second
    along = rest @ (first - second) / length
    mixing = np.log(norm.cdf(length - along) - norm.cdf(-along) + 1e-300)
    return mixing - np.log(length) + (along**2 - np.sum(rest**2, axis=1)) / 2


def test_waveform_bayes_errors():
    X, y = datasets.make_waveform(N_BIG, n_classes=3, random_state=3)
    assert_array_equal(np.bincount(y), 3 * [N_BIG // 3])
    peaks = [(7, 15), (7, 11), (15, 11)]
    logs = np.column_stack([waveform_log_density(X, *pair) for pair in peaks])
    assert_error_rate(logs.argmax(axis=1) != y, 0.1329)

    posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    two_X, two_y = datasets.make_waveform(N_BIG, n_classes=2, random_state=3)
    assert_array_equal(two_X, X)
    assert_array_equal(two_y, np.where(y == 1, 1, -1))
    assert_error_rate((posterior[:, 1] > 0.5) != (two_y == 1), 0.0826)


def test_waveform_moments():
    X, y = datasets.make_waveform(N_BIG, n_classes=3, random_state=4)
    positions = np.arange(1, 22)
    for label, peaks in enumerate([(7, 15), (7, 11), (15, 11)]):
        first, second = (np.maximum(6 - np.abs(positions - peak), 0) for peak in peaks)
        # A uniform weight has mean 1/2 and variance 1/12.
        covariance = np.eye(21) + np.outer(first - second, first - second) / 12
        assert_moments(X[y == label], (first + second) / 2, covariance)


RIPLEY_CENTRES = {-1: [(-0.7, 0.3), (0.3, 0.3)], 1: [(-0.3, 0.7), (0.4, 0.7)]}


def ripley_density(X, label):
    return sum(multivariate_normal(c, 0.03 * np.eye(2)).pdf(X) for c in RIPLEY_CENTRES[label]) / 2


def test_ripley_moments_and_bayes_error():
    X, y = datasets.make_ripley(N_BIG, random_state=5)
    for label, (left, right) in RIPLEY_CENTRES.items():
        half_gap = np.subtract(right, left) / 2
        covariance = 0.03 * np.eye(2) + np.outer(half_gap, half_gap)
        assert_moments(X[y == label], np.add(left, right) / 2, covariance)

    step = 0.01
    plane = np.stack(np.meshgrid(np.arange(-2, 2, step), np.arange(-1, 2, step)), axis=-1)
    smaller = np.minimum(ripley_density(plane, -1), ripley_density(plane, 1))
    exact = smaller.sum() * step**2 / 2
    assert round(100 * exact, 2) == 8.93
    assert_error_rate((ripley_density(X, 1) > ripley_density(X, -1)) != (y == 1), exact)


def test_spirals_without_noise_lie_on_the_arms():
    X, y = datasets.make_spirals(4000, noise=0.0, n_turns=1.5, random_state=6)
    radius = np.linalg.norm(X, axis=1)
    angle = np.pi * radius
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    assert_allclose(X, (y * radius)[:, np.newaxis] * direction, atol=1e-12)
    assert 0.5 <= radius.min() < 0.55 and 3.45 < radius.max() <= 3.5
    # Uniform squares: the median of the square is the middle of its range.
    assert abs(np.median(radius**2) - (0.5**2 + 3.5**2) / 2) < 0.3
    gaps = np.linalg.norm(X[y == 1][:, np.newaxis] - X[y == -1][np.newaxis, :], axis=2)
    assert gaps.min() > 0.9


def test_spirals_noise_and_turns():
    clean, _ = datasets.make_spirals(20_000, noise=0.0, random_state=7)
    noisy, _ = datasets.make_spirals(20_000, noise=0.2, random_state=7)
    assert_moments(noisy - clean, np.zeros(2), 0.04 * np.eye(2))
    long, _ = datasets.make_spirals(2000, noise=0.0, n_turns=3, random_state=7)
    assert 6.4 < np.linalg.norm(long, axis=1).max() <= 6.5


@pytest.mark.parametrize(("separation", "n_features"), [(2.0, 2), (1.0, 5), (0, 1)])
def test_overlapping_gaussians(separation, n_features):
    X, y = datasets.make_overlapping_gaussians(
        N_BIG, separation=separation, n_features=n_features, random_state=8
    )
    assert X.shape == (N_BIG, n_features)
    for label in (-1, 1):
        mean = np.zeros(n_features)
        mean[0] = label * separation / 2
        if n_features > 1:
            assert_moments(X[y == label], mean, np.eye(n_features))
    assert_error_rate(np.sign(X[:, 0]) != y, norm.cdf(-separation / 2))


@pytest.mark.parametrize(
    ("arguments", "rounded"), [({}, 1.88), ({"radius": 3, "noise": 0.8, "blob_std": 1}, None)]
)
def test_ring_and_blob(arguments, rounded):
    R, ring_std, blob_std = ({"radius": 2, "noise": 0.3, "blob_std": 0.5} | arguments).values()
    X, y = datasets.make_ring_and_blob(N_BIG, random_state=9, **arguments)
    assert_moments(X[y == -1], np.zeros(2), blob_std**2 * np.eye(2))
    ring = X[y == 1]
    # Every direction equally often, with mean squared radius R^2 + 2 ring_std^2.
    assert_allclose(ring.mean(axis=0), 0, atol=5 * R / np.sqrt(len(ring)))
    assert_allclose(np.mean(np.sum(ring**2, axis=1)), R**2 + 2 * ring_std**2, rtol=0.01)
    turns = np.histogram(np.arctan2(*ring.T), bins=8, range=(-np.pi, np.pi))[0]
    assert_allclose(turns, len(ring) / 8, rtol=0.06)

    def rice_and_rayleigh(r):
        rice = r / ring_std**2 * np.exp(-((r - R) ** 2) / (2 * ring_std**2))
        rice = rice * i0e(r * R / ring_std**2)
        return rice, r / blob_std**2 * np.exp(-(r**2) / (2 * blob_std**2))

    grid = np.linspace(0, 12, 24_001)
    exact = np.minimum(*rice_and_rayleigh(grid)).sum() * grid[1] / 2
    assert rounded is None or round(100 * exact, 2) == rounded
    rice, rayleigh = rice_and_rayleigh(np.linalg.norm(X, axis=1))
    assert_error_rate((rice > rayleigh) != (y == 1), exact)


# ---------------------------------------------------------------- the set in the package


def separable(X, y):
    """Say whether a hyperplane separates the classes, by linear programming."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = -y[:, np.newaxis] * np.column_stack([scaled, np.ones(len(y))])
    result = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(y)), bounds=(None, None))
    assert result.status in (0, 2)  # solved, or proved infeasible
    return result.status == 0


def test_breast_cancer_means_are_the_published_numbers():
    ours, full = load_breast_cancer_means(), sklearn.datasets.load_breast_cancer()
    assert_array_equal(ours.data, full.data[:, :10])
    assert_array_equal(ours.feature_names, full.feature_names[:10])
    assert_array_equal(ours.target_names, ["benign", "malignant"])
    names = ours.target_names[(ours.target + 1) // 2]
    assert_array_equal(names, full.target_names[full.target])
    assert ours.frame is None
    # The reason for keeping ten of the thirty features.
    assert not separable(ours.data, ours.target)
    assert separable(full.data, ours.target)


def test_breast_cancer_means_forms():
    bunch = load_breast_cancer_means()
    X, y = load_breast_cancer_means(return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)
    pytest.importorskip("pandas")
    frame = load_breast_cancer_means(as_frame=True)
    assert list(frame.data.columns) == list(bunch.feature_names)
    assert list(frame.frame.columns) == [*bunch.feature_names, "target"]
    assert_array_equal(frame.data.to_numpy(), X)
    assert_array_equal(frame.target.to_numpy(), y)
    frame_X, frame_y = load_breast_cancer_means(return_X_y=True, as_frame=True)
    assert frame_X.equals(frame.data) and frame_y.equals(frame.target)
    # Each call stands alone.
    bunch.data[:] = 0
    bunch.target_names[:] = "x"
    assert load_breast_cancer_means().data.any()
    assert load_breast_cancer_means().target_names[0] == "benign"


def test_breast_cancer_means_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load_breast_cancer_means().data.shape == (569, 10)
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        load_breast_cancer_means(as_frame=True)


def test_shipped_data_carry_their_licence():
    folder = files("sparsekern.datasets").joinpath("data")
    licences = folder.joinpath("LICENSES.md").read_text(encoding="utf-8")
    for item in folder.iterdir():
        assert item.name == "LICENSES.md" or f"## {item.name}" in licences
        assert len(item.read_bytes()) < 60_000
    for text in (licences, load_breast_cancer_means().DESCR):
        for attribution in ("CC BY 4.0", "10.24432/C5DW2B", "Mangasarian", "Changes"):
            assert attribution in text


# ---------------------------------------------------------------- the loader: files


@pytest.fixture(autouse=True)
def no_network_and_no_variable(monkeypatch):
    def refuse(**arguments):
        raise AssertionError(f"fetch_openml was called with {arguments}")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    monkeypatch.delenv("SPARSEKERN_DATA", raising=False)


def small_set(**changes):
    arrays = {
        "X": np.array([[200, 1], [100, 2], [7, 3], [9, 4]], dtype=np.uint8),
        "y": np.array([-1, 1, -1, 1], dtype=np.int8),
        "train": np.array([[0, 1], [2, 3]], dtype=np.uint16),
        "test": np.array([[2, 3], [0, 1]], dtype=np.uint16),
        "feature_names": np.array(["a", "b"]),
        "class_names": np.array(["no", "yes"]),
        "unique_rows": np.array([0, 2]),
        "note": np.array("drawn by hand"),
    } | changes
    return {key: array for key, array in arrays.items() if array is not None}


def test_load_returns_everything_in_the_file(tmp_path):
    np.savez_compressed(tmp_path / "tiny.npz", **small_set())
    tiny = load("tiny", tmp_path)
    assert isinstance(tiny, Bunch)
    assert set(tiny) == {
        "data", "target", "train", "test", "feature_names", "class_names", "extras", "source",
    }  # fmt: skip
    assert_array_equal(tiny.data, [[200, 1], [100, 2], [7, 3], [9, 4]])
    assert tiny.data.dtype == np.float64 and tiny.target.dtype == np.int64
    assert_array_equal(tiny.target, [-1, 1, -1, 1])
    assert_array_equal(tiny.train, [[0, 1], [2, 3]])
    assert_array_equal(tiny.data[tiny.test[0]], [[7, 3], [9, 4]])
    assert list(tiny.feature_names) == ["a", "b"] and list(tiny.class_names) == ["no", "yes"]
    assert set(tiny.extras) == {"unique_rows", "note"}
    assert_array_equal(tiny.extras["unique_rows"], [0, 2])
    assert tiny.extras["note"] == "drawn by hand"
    assert tiny.source == str(tmp_path / "tiny.npz")


def test_load_without_optional_arrays_keeps_real_targets(tmp_path):
    np.savez(tmp_path / "plain.npz", X=np.eye(3), y=np.array([0.5, 1.5, 2.5], dtype=np.float32))
    plain = load("plain", str(tmp_path))
    assert plain.target.dtype == np.float64
    assert_array_equal(plain.target, [0.5, 1.5, 2.5])
    assert plain.train is plain.test is plain.feature_names is plain.class_names is None
    assert plain.extras == {}


def test_argument_comes_before_the_variable(tmp_path, monkeypatch):
    for folder, value in (("argument", 1.0), ("variable", 2.0)):
        (tmp_path / folder).mkdir()
        np.savez(tmp_path / folder / "s.npz", X=np.full((2, 1), value), y=np.zeros(2))
    monkeypatch.setenv("SPARSEKERN_DATA", str(tmp_path / "variable"))
    assert load("s").data[0, 0] == 2.0
    assert load("s", tmp_path / "argument").data[0, 0] == 1.0
    for home in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(home, str(tmp_path))
    assert load("s", "~/argument").data[0, 0] == 1.0


def test_missing_file_says_where_and_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"'mine'.*neither data_home nor .*SPARSEKERN_DATA"):
        load("mine")
    monkeypatch.setenv("SPARSEKERN_DATA", "")  # an empty variable is not the current folder
    with pytest.raises(FileNotFoundError, match="neither"):
        load("mine")
    with pytest.raises(FileNotFoundError, match=r"folder '.*absent' does not exist"):
        load("mine", tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match=r"it holds no \.npz file"):
        load("mine", tmp_path)
    for name in ("wine", "glass"):
        np.savez(tmp_path / f"{name}.npz", **small_set())
    with pytest.raises(FileNotFoundError) as caught:
        load("mine", tmp_path)
    message = str(caught.value)
    for part in ("'mine'", str(tmp_path), "'mine.npz'", "glass, wine", "no OpenML copy"):
        assert part in message
    assert "download=True" not in message
    with pytest.raises(FileNotFoundError, match=r"download=True to fetch OpenML data set 1460"):
        load("raetsch_banana", tmp_path)


@pytest.mark.parametrize("name", ["", "../s", "folder/s", "folder\\s"])
def test_name_cannot_leave_the_folder(name, tmp_path):
    (tmp_path / "inner").mkdir()
    np.savez(tmp_path / "s.npz", **small_set())
    with pytest.raises(ValueError, match="name must be a plain file name"):
        load(name, tmp_path / "inner")


def test_name_must_be_text(tmp_path):
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        load(3, tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"X": None}, "no array X; the keys there are"),
        ({"X": None, "y": None}, "no array X and no array y"),
        ({"y": np.array([1, -1, 1])}, "X has 4 rows and y has 3 entries"),
        ({"X": np.empty((0, 2)), "y": np.empty(0)}, "at least one"),
        ({"X": np.arange(4)}, "X must be a real array with 2 axes"),
        ({"X": np.full((4, 2), "a")}, "X must be a real array"),
        ({"y": np.ones((4, 1))}, "y must be a real array with 1 axes"),
        ({"train": np.array([0, 1])}, "train must be an integer array"),
        ({"test": np.array([[0.0, 1.0]])}, "test must be an integer array"),
        ({"train": np.array([[0, 4], [1, 2]])}, "train holds row numbers from 0 to 4"),
        ({"test": np.array([[-1, 2], [1, 2]])}, "test holds row numbers from -1"),
        ({"train": np.array([[0, 1]])}, "train has 1 splits but test has 2"),
        ({"feature_names": np.array(["a"])}, "feature_names has 1 entries but X has 2 columns"),
        ({"class_names": np.array([1, 2])}, "class_names must be a 1-d array of strings"),
    ],
)
def test_unusable_content_names_the_file(changes, reason, tmp_path):
    np.savez(tmp_path / "bad.npz", **small_set(**changes))
    with pytest.raises(ValueError, match=rf"bad\.npz' is not a usable data set: .*{reason}"):
        load("bad", tmp_path)


class RunsOnLoading:
    """An object whose pickle would call ``pytest.fail`` when it is read."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez_compressed(path, **small_set(X=np.random.RandomState(0).rand(4, 2)))
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[good.index(b"X.npy") + 60] ^= 0xFF  # inside the compressed features
    for damaged in (b"", b"not an archive", good[: len(good) // 2], bytes(flipped)):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"bad\.npz' cannot be read as an \.npz archive"):
            load("bad", tmp_path)
    np.savez(path, **small_set(), extra=np.array([RunsOnLoading()], dtype=object))
    with pytest.raises(ValueError, match=r"bad\.npz' cannot be read .*allow_pickle=False"):
        load("bad", tmp_path)
    with path.open("wb") as stream:
        np.save(stream, np.eye(2))
    with pytest.raises(ValueError, match="single array"):
        load("bad", tmp_path)


# ---------------------------------------------------------------- the loader: OpenML


def heart_on_openml(n_rows=270, n_present=120):
    X = np.arange(n_rows * 13, dtype=float).reshape(n_rows, 13)
    target = np.array(["present"] * n_present + ["absent"] * (n_rows - n_present), dtype=object)
    return Bunch(data=X, target=target, feature_names=[f"f{i}" for i in range(13)])


@pytest.mark.parametrize("name", ["heart", "raetsch_heart"])
def test_download_takes_the_form_of_a_file(name, tmp_path, monkeypatch):
    calls = []

    def fetch(**arguments):
        calls.append(arguments)
        return heart_on_openml()

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    heart = load(name, tmp_path, download=True)
    assert len(calls) == 1 and calls[0]["data_id"] == 53 and calls[0]["as_frame"] is False
    assert_array_equal(heart.data, heart_on_openml().data)
    assert_array_equal(heart.target, [1] * 120 + [-1] * 150)
    assert heart.target.dtype == np.int64
    assert list(heart.class_names) == ["absent", "present"]  # in the order -1, +1
    assert list(heart.feature_names) == heart_on_openml().feature_names
    assert heart.train is heart.test is None and heart.extras == {}
    assert heart.source == "OpenML data set 53 (heart-statlog)"
    np.savez(tmp_path / "tiny.npz", **small_set())
    assert set(heart) == set(load("tiny", tmp_path))


def test_download_is_neither_silent_nor_preferred_to_a_file(tmp_path):
    # The fixture makes every call of fetch_openml fail.
    with pytest.raises(FileNotFoundError):
        load("banana")
    with pytest.raises(FileNotFoundError, match="no OpenML copy of this set is known"):
        load("mine", tmp_path, download=True)
    np.savez(tmp_path / "banana.npz", **small_set())
    assert load("banana", tmp_path, download=True).data.shape == (4, 2)


def test_download_refuses_another_data_set(monkeypatch):
    for wrong in (heart_on_openml(n_rows=260), heart_on_openml(n_present=0)):
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda wrong=wrong, **_: wrong)
        with pytest.raises(ValueError, match=r"OpenML data set 53 .*expected \(270, 13\) and 2"):
            load("heart", download=True)


def test_download_without_a_network(monkeypatch):
    def fail(**_):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(ConnectionError, match=r"OpenML data set 1496 .*no route.*data_home"):
        load("ringnorm", download=True)


def test_everything_public_is_exported():
    assert sorted(datasets.__all__) == datasets.__all__
    assert {make.__name__ for make in N_FEATURES} | {
        "load",
        "load_breast_cancer_means",
        "make_additive",
        "make_bump",
    } == set(datasets.__all__)
