"""The folder of compiled code must change with every source that compiled code depends on."""

import shutil
from pathlib import Path

import pytest

from sparsekern import _jit

PACKAGE = Path(_jit.__file__).parent
# the NamedTuples and constants of these files are compiled into the binaries of others
LEVELS = ("random", "linalg", "kernels", "likelihoods", "bases", "priors", "inference")
SOURCES = sorted(
    str(path.relative_to(PACKAGE))
    for level in LEVELS
    for path in (PACKAGE / level).rglob("*.py")
    if "NamedTuple)" in path.read_text() or "@jit" in path.read_text()
)


@pytest.mark.parametrize("source", SOURCES)
def test_hash_follows_the_sources(source, tmp_path, monkeypatch):
    copy = tmp_path / "sparsekern"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))
    monkeypatch.setattr(_jit, "__file__", str(copy / "_jit.py"))
    before = _jit._source_hash()
    assert before == _jit._source_hash()
    with (copy / source).open("a") as file:
        file.write("\n# edited\n")
    assert _jit._source_hash() != before, f"an edit of {source} leaves stale binaries in use"


def test_hash_follows_the_version_of_numba(monkeypatch):
    before = _jit._source_hash()
    monkeypatch.setattr(_jit.numba, "__version__", "0.0")
    assert _jit._source_hash() != before
