"""The page on extending the package, followed to the letter on a copy of the repository."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "developer" / "extending.md"
FENCE = r"```python\n(.*?)^```\n"
EDIT = re.compile(
    rf"^(?:New file|In) `([^`\n]+)`(?:, (after|before|replace)|:)\n\n{FENCE}"
    rf"(?:\n(?:add|by)\n\n{FENCE})?",
    re.MULTILINE | re.DOTALL,
)
STAMP = 1e9  # time of every file of a copy: numba's binaries are tied to it, and to their sources

# what the copy must offer, before anything is compiled
OFFERS = {
    "likelihood": """
from sparsekern import DoublySparseRegressor, GKMRegressor, HybridSearchGPRegressor
from sparsekern.likelihoods._contract import SAMPLED, ResponseLaw
from sparsekern.likelihoods.table import TABLE, find_law, offered
from sparsekern.likelihoods.terms import CODES

assert "logistic" in offered(("reals",), SAMPLED)
assert "logistic" in offered(("reals",), (frozenset({"terms"}),))
assert len(set(CODES.values())) == len(CODES)
assert isinstance(find_law("noise", "logistic", ("reals",), SAMPLED, "Engine")(), ResponseLaw)
for estimator in (DoublySparseRegressor, GKMRegressor, HybridSearchGPRegressor):
    assert '"logistic"' in estimator.__doc__
""",
    "kernel": """
import numpy as np
from sklearn.gaussian_process.kernels import Matern
from sparsekern import GKMRegressor
from sparsekern.kernels.evaluate import CODES, TABLE
from sparsekern.kernels.feature_sums import FEATURE_KERNELS
from sparsekern.kernels.resolve import resolve_kernel

assert len({TABLE, *CODES.values()}) == len(CODES) + 1
assert FEATURE_KERNELS["matern72"] == CODES["matern72"]
named = resolve_kernel("matern72", 2.0, np.zeros((3, 2)))
given = resolve_kernel(Matern(2.0, nu=3.5), "mean_distance", np.zeros((3, 2)))
assert named.kind == given.kind == CODES["matern72"] and named.stationary
assert "matern72" in GKMRegressor.__doc__
""",
    "engine": """
import sparsekern
from sparsekern import KernelRidgeRegressor
from sparsekern.settings import KernelRidgePriors

assert "KernelRidgeRegressor" in sparsekern.__all__
model = KernelRidgeRegressor().set_params(priors__noise=(2, 1))
assert model.priors == KernelRidgePriors(noise=(2, 1))
assert "<<" not in model.__doc__
""",
}
recipes = pytest.mark.parametrize("name", OFFERS)


class Edit(NamedTuple):
    path: str
    how: str  # "after", "before", "replace"; of a new file ""
    first: str  # lines of the file, or all of it
    second: str


def section(name):
    """Return the part of the page with one recipe."""
    found = re.search(rf"^## An? {name}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    assert found, f"{PAGE.name} has no recipe for a new {name}"
    return found.group(1)


def edits_of(name):
    return [Edit(*parts) for parts in EDIT.findall(section(name))]


def example_of(name):
    """Return the last block of a recipe."""
    return re.findall(rf"^{FENCE}", section(name), re.M | re.S)[-1]


def named_tests(name):
    """Return the arguments of pytest that a recipe names."""
    named = re.search(r"^Run the tests (.*?)\. Then", section(name), re.M | re.S)
    return [shlex.split(item) for item in re.findall(r"`([^`]+)`", named.group(1))]


def make_edit(folder, edit):
    path = folder / edit.path
    if not edit.how:
        assert not path.exists(), f"{edit.path} exists, but the page calls it new"
        path.parent.mkdir(exist_ok=True)
        path.write_text(edit.first)
        return
    text = path.read_text()
    places = [found.start() for found in re.finditer(f"^(?={re.escape(edit.first)})", text, re.M)]
    assert len(places) == 1, (
        f"{edit.path} has these lines {len(places)} times, not once:\n{edit.first}"
    )
    start, stop = places[0], places[0] + len(edit.first)
    if edit.how != "replace":
        start = stop = stop if edit.how == "after" else start
    path.write_text(text[:start] + edit.second + text[stop:])


def follow(name, folder):
    """Make a copy of the repository in ``folder`` with the edits of a recipe."""
    for part in ("src", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for edit in edits_of(name):
        make_edit(folder, edit)
    for path in folder.rglob("*.py"):
        os.utime(path, (STAMP, STAMP))


def run_python(folder, *arguments, cache):
    """Run Python in a copy, with its package and with binaries in ``cache``."""
    own = {"PYTHONPATH": str(folder / "src"), "SPARSEKERN_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=os.environ | own, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{shlex.join(arguments)[:300]}\n{done.stdout[-5000:]}"
    return done.stdout


@recipes
def test_every_block_of_the_page_is_an_edit_or_the_example(name):
    edits = edits_of(name)
    assert all(bool(edit.how) == bool(edit.second) for edit in edits)
    blocks = sum(1 + bool(edit.how) for edit in edits) + 1
    assert section(name).count("```python\n") == blocks
    assert len(re.findall(r"^(?:New file|In) `", section(name), re.M)) == len(edits)
    assert named_tests(name)


def test_a_likelihood_touches_five_files_of_the_package():
    paths = {edit.path for edit in edits_of("likelihood")}
    assert len({path for path in paths if path.startswith("src/")}) <= 5
    assert all(path.startswith(("src/", "tests/")) for path in paths)


@recipes
def test_a_recipe_can_be_followed_and_offers_the_new_piece(name, tmp_path):
    copy = tmp_path / "copy"
    follow(name, copy)
    script = OFFERS[name] + "\nimport sparsekern\nprint(sparsekern.__file__)"
    printed = run_python(copy, "-c", script, cache=tmp_path / "cache")
    assert Path(printed.split()[-1]).is_relative_to(copy)
    new = [edit.path for edit in edits_of(name) if not edit.how]
    if new:
        run_python(copy, "-m", "ruff", "check", "--no-cache", *new, cache=tmp_path)
        run_python(copy, "-m", "ruff", "format", "--no-cache", "--check", *new, cache=tmp_path)


def test_lines_that_do_not_stand_once_are_refused(tmp_path):
    (tmp_path / "twice.py").write_text("a = 1\na = 1\nb = 2\n")
    for first, times in (("a = 1\n", 2), (" 2\n", 0)):
        with pytest.raises(AssertionError, match=f"these lines {times} times, not once"):
            make_edit(tmp_path, Edit("twice.py", "after", first, "c = 3\n"))
    make_edit(tmp_path, Edit("twice.py", "before", "b = 2\n", "c = 3\n"))
    assert (tmp_path / "twice.py").read_text() == "a = 1\na = 1\nc = 3\nb = 2\n"


@pytest.mark.slow
@recipes
def test_the_new_piece_works(name, request):
    # always the same folder, so that what is compiled can be used again
    folder = request.config.cache.mkdir("extending") / name
    copy, cache = folder / "copy", folder / "compiled"
    shutil.rmtree(copy, ignore_errors=True)
    follow(name, copy)
    (copy / "example.py").write_text(example_of(name))
    run_python(copy, "example.py", cache=cache)
    for arguments in named_tests(name):
        run_python(
            copy, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *arguments,
            cache=cache,
        )  # fmt: skip
    shutil.rmtree(copy)
