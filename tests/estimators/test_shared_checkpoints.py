"""Checkpoint folders that several fits share, or that go away: told once, and no fit is lost."""

import json
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tiny_estimators import LABELS, ROWS, make, predict

from sparsekern.inference.chains import checkpoint, runner

LONG = {"draws": 60, "tune": 60}


@pytest.fixture(autouse=True)
def saved_after_every_leg(monkeypatch):
    monkeypatch.setattr(checkpoint, "_SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE_OF_TIME", 1e9)
    monkeypatch.setattr(runner, "_LEG_SECONDS", 0.0)


def fit(folder, **parameters):
    return make("GKMClassifier", checkpoint=folder, **LONG | parameters).fit(ROWS, LABELS)


def test_fits_of_the_same_run_in_several_threads(tmp_path):
    expected = predict(fit(None))
    with ThreadPoolExecutor(4) as pool:  # warnings are errors here
        models = list(pool.map(lambda _: fit(tmp_path), range(4)))
    for model in models:
        assert_array_equal(predict(model), expected)
    assert not list(tmp_path.glob("*/*partial*"))
    assert_array_equal(predict(fit(tmp_path)), expected)


def test_fits_without_a_seed_in_several_threads_draw_apart(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: fit(tmp_path, random_state=None), range(4)))
    assert len({predict(model).tobytes() for model in models}) == 4


class Remover:
    """A callback that removes a folder in the midst of sampling."""

    def __init__(self, folder):
        self.folder, self.seen = folder, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.seen += 1
        if self.seen == 20:
            shutil.rmtree(self.folder)

    def teardown(self, estimator, context):
        pass


def test_a_folder_that_goes_away_is_mentioned_once(tmp_path):
    expected = predict(fit(None))
    folder = tmp_path / "saved"
    model = make("GKMClassifier", checkpoint=folder, **LONG).set_callbacks(Remover(folder))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(ROWS, LABELS)
    told = [str(warning.message) for warning in heard if "checkpoint" in str(warning.message)]
    assert len(told) == 1
    assert "cannot be written" in told[0]
    assert_array_equal(predict(model), expected)


def test_many_unfinished_runs_are_mentioned_in_one_sentence(tmp_path):
    for number in range(5):
        folder = tmp_path / f"run-{number:016x}"
        folder.mkdir()
        about = {"fingerprint": str(number), "finished": False, "parameters": {"draws": "7"}}
        (folder / "run.json").write_text(json.dumps(about))
    with pytest.warns(UserWarning, match=r"unfinished run .*, and 4 more lie beside it;") as heard:
        fit(tmp_path)
    assert len([w for w in heard if "unfinished" in str(w.message)]) == 1


def test_an_error_ends_the_run_for_other_fits_too(tmp_path, monkeypatch):
    """A run that failed is resumed like one that was killed, with or without a seed."""
    save = checkpoint.Checkpoint.save

    def fail(self, number, chain, plan, every):
        save(self, number, chain, plan, every)
        if chain.sweep >= 100:
            raise RuntimeError("the lights went out")

    monkeypatch.setattr(checkpoint.Checkpoint, "save", fail)
    with pytest.raises(RuntimeError, match="the lights"):
        fit(tmp_path, random_state=None)
    monkeypatch.undo()
    (path,) = tmp_path.glob("run-*/chain-0.npz")
    scales = np.load(path)["draws.log_likelihood"]
    resumed = fit(tmp_path, random_state=None)
    assert_array_equal(resumed._posterior.scalars["log_likelihood"][0, : len(scales)], scales)


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError("Permission denied")

    monkeypatch.setattr(checkpoint.os, "replace", refuse)
    with pytest.raises(ValueError, match=r"cannot be made or written to \(Permission denied"):
        fit(tmp_path)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("GKMRegressor", {}),
        ("DoublySparseClassifier", {}),
        ("KernelProjectionClassifier", {}),
        ("PCVMClassifier", {"inference": "mcmc"}),
    ],
)
@pytest.mark.parametrize("wrong", [5, True, b"folder"])
def test_a_wrong_type_is_a_type_error_before_anything_is_done(name, parameters, wrong):
    with pytest.raises(TypeError, match="checkpoint must be None or a folder's name, got"):
        make(name, checkpoint=wrong, **parameters).fit(ROWS, LABELS)
