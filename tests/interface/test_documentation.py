"""Every parameter of every estimator is documented, in the words that estimators share."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import sparsekern

ROOT = Path(__file__).resolve().parents[2]
ESTIMATORS = [getattr(sparsekern, name) for name in sparsekern.__all__ if name[0].isupper()]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented(estimator):
    text = inspect.getdoc(estimator)
    assert "<<" not in text
    documented = {
        name.strip()
        for match in re.finditer(r"^(\w[\w, ]*) : ", text, re.MULTILINE)
        for name in match.group(1).split(",")
    }
    assert set(inspect.signature(estimator).parameters) <= documented


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_documented_defaults_are_the_real_ones(estimator):
    text = inspect.getdoc(estimator)
    for name, parameter in inspect.signature(estimator).parameters.items():
        found = re.search(rf"^{name} : .*default=(.*)$", text, re.MULTILINE)
        if found is not None:
            shown = found.group(1)
            assert ast.literal_eval(shown) == parameter.default, name


PAGES = sorted((ROOT / "docs").rglob("*.md"))
_FILE = re.compile(r"`([a-z_]+(?:/[a-z_]+)+\.py|[a-z_]+(?:/[a-z_]+)+/|_?[a-z]+\.py)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page):
    """A path in backticks is one of the package, of the tests or of the repository."""
    roots = [ROOT, ROOT / "src" / "sparsekern", ROOT / "src" / "sparsekern" / "inference"]
    roots += [ROOT / "tests", ROOT / "src" / "sparsekern" / "estimators", ROOT / "benchmarks"]
    missing = []
    known = re.sub(r"^New file `.*", "", page.read_text(), flags=re.MULTILINE)  # to be written
    for name in _FILE.findall(known):
        named = name.rstrip("/")
        if any((root / named).exists() for root in roots):
            continue
        if "/" not in named and any((ROOT / "src").rglob(named)):
            continue  # a file name alone, of the folder that the sentence is about
        missing.append(name)
    assert not missing
