"""Progress may never break a fit, whatever has become of the error stream."""

import io
import sys

import pytest
from numpy.testing import assert_array_equal
from tiny_estimators import NAMES, ROWS, make, predict, target

from sparsekern import _progress
from sparsekern._progress import TextProgress
from sparsekern.estimators.shared import progress
from sparsekern.estimators.shared.progress import announce_compilation, wants_text


class Stub:
    """A stand-in that can be written to, and nothing else."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


class Broken(io.StringIO):
    """A stream that fails at one of its methods."""

    def __init__(self, method, error):
        super().__init__()
        self.calls = 0

        def fail(*args):
            self.calls += 1
            raise error

        setattr(self, method, fail)


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


STREAMS = {
    "absent": lambda: None,
    "closed": closed,
    "no isatty, no flush": Stub,
    "isatty fails": lambda: Broken("isatty", OSError("gone")),
    "write fails": lambda: Broken("write", BrokenPipeError()),
    "flush fails": lambda: Broken("flush", OSError(28, "No space left on device")),
    "foreign": lambda: Broken("write", RuntimeError("the window has been deleted")),
}


@pytest.fixture
def at_once(monkeypatch):
    """Show progress from the beginning, and the sentence about compilation too."""
    monkeypatch.setattr(_progress, "_SHOW_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(progress, "is_compiled", lambda engine: False)


@pytest.mark.parametrize("name", NAMES)
def test_fits_do_not_depend_on_the_error_stream(name, at_once, monkeypatch):
    expected = predict(make(name).fit(ROWS, target(name)))
    for stream in STREAMS.values():
        for asked in (True, "auto"):
            monkeypatch.setattr(sys, "stderr", stream())
            model = make(name, progress=asked).fit(ROWS, target(name))
            assert_array_equal(predict(model), expected)


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_of_all_kinds(kind, at_once, monkeypatch):
    stream = STREAMS[kind]()
    monkeypatch.setattr(sys, "stderr", stream)
    assert wants_text(make("RVMRegressor", progress="auto")) is False
    assert wants_text(make("RVMRegressor", progress=True)) is True
    announce_compilation("Model", ["engine"])
    line = TextProgress("Model", 1)
    monkeypatch.setattr(line, "_last", -10.0)
    line.update(0, 0.5)
    line.close()
    if isinstance(stream, Stub):
        assert stream.text.count("Model") == 3  # the compilation, the line and its end
    if isinstance(stream, Broken) and "isatty" not in kind:
        assert stream.calls == 2  # one for the sentence, one for the line: then it is given up


def test_a_stream_that_is_closed_while_it_is_used(at_once):
    stream = io.StringIO()
    line = TextProgress("Model", 1, stream)
    line.update(0, 0.1)
    assert "10%" in stream.getvalue()
    stream.close()
    line._last = -10.0
    line.update(0, 0.5)
    line.close()


def test_a_folder_for_compiled_code_that_is_gone_costs_no_fit(tmp_path, monkeypatch):
    monkeypatch.setattr("sparsekern._jit._folder", lambda module: tmp_path / "gone")
    model = make("RVMRegressor").fit(ROWS, target("RVMRegressor"))
    assert len(predict(model))
