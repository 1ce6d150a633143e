"""The benchmarks' script: what can fail without a measurement fails before it."""

import importlib
import importlib.metadata
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import sparsekern

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """The script, and a part that measures nothing but how often it is asked."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    run = importlib.import_module("run")
    calls = []

    def measure(**options):
        calls.append(options)
        return [{"data": "a", "error": 0.5}]

    part = SimpleNamespace(measure=measure, __doc__="A part.", GENERATORS=("waveform", "ringnorm"))
    monkeypatch.setitem(sys.modules, "tuning", part)
    yield SimpleNamespace(main=run.main, calls=calls, tables=importlib.import_module("tables"))
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]


def test_results_are_written_where_no_distribution_is_installed(script, tmp_path, monkeypatch):
    """A checkout on the path is enough; versions are asked for before anything is measured."""

    def not_found(name):
        assert not script.calls
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", not_found)
    assert script.main(["tuning"], tmp_path) == 0
    text = (tmp_path / "tuning.md").read_text()
    assert f"sparsekern {sparsekern.__version__}" in text and "numpy unknown" in text
    assert (tmp_path / "tuning.csv").read_text() == "data,error\na,0.5\n"
    assert "tuning.md" in (tmp_path / "README.md").read_text()


def test_a_folder_that_takes_no_files_is_refused_before_measuring(script, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        script.main(["tuning"], tmp_path / "file")
    assert script.calls == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tunning"], "unknown part tunning; parts: sweep_cost"),
        (["memory", "--sets", "waveform"], "--sets is for effective_samples"),
        (["tuning", "--paper-max-active"], "--paper-max-active is for accuracy"),
        (["tuning", "--sets", "wave"], "unknown wave; these parts know ringnorm, waveform"),
    ],
)
def test_unknown_names_are_refused_before_measuring(script, tmp_path, capsys, arguments, words):
    with pytest.raises(SystemExit) as caught:
        script.main(arguments, tmp_path)
    assert words in f"{capsys.readouterr().err} {caught.value}"
    assert script.calls == []


def test_sets_reach_the_part(script, tmp_path):
    script.main(["tuning", "--quick", "--sets", "ringnorm"], tmp_path)
    assert script.calls == [{"quick": True, "sets": ("ringnorm",)}]
    assert (tmp_path / "quick" / "tuning.csv").is_file()


def test_nothing_is_written_over_results_where_nothing_was_measured(script, tmp_path, monkeypatch):
    (tmp_path / "tuning.csv").write_text("old")
    monkeypatch.setattr(sys.modules["tuning"], "measure", lambda **options: [])
    script.main(["tuning"], tmp_path)
    assert (tmp_path / "tuning.csv").read_text() == "old"


def test_every_part_can_be_imported_and_takes_what_it_is_given(script):
    import inspect

    run = importlib.import_module("run")
    chosen = run.parse([])
    for name in run.PARTS:
        if name == "tuning":
            continue
        part = importlib.import_module(name)
        inspect.signature(part.measure).bind(**run.options_of(name, part, chosen))
        assert part.__doc__
        if name in run._SETS:
            assert all(isinstance(item, str) for item in run._SETS[name](part))
