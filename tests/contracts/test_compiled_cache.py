"""The folder of compiled code must change with every source that compiled code depends on."""

import importlib
import shutil
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from sparsekern import _dispatch, _jit

PACKAGE = Path(_jit.__file__).parent
LEVELS = ("random", "linalg", "kernels", "likelihoods", "bases", "priors", "inference")
COMPILED = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for level in LEVELS
    for path in (PACKAGE / level).rglob("*.py")
    if "@jit" in path.read_text()
)
# the NamedTuples and constants of these files are compiled into the binaries of others
BELOW = sorted(
    str(path.relative_to(PACKAGE))
    for level in LEVELS[:-1]
    for path in (PACKAGE / level).rglob("*.py")
    if "NamedTuple)" in path.read_text() or "@jit" in path.read_text()
)


def sources_of(package):
    return _jit._Sources(package)


def copy_package(folder):
    copy = folder / "sparsekern"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))
    return copy


@pytest.fixture
def copy(tmp_path):
    return copy_package(tmp_path)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """Return a copy that every test leaves as it was, and the digests of all its modules."""
    folder = copy_package(tmp_path_factory.mktemp("untouched"))
    sources = sources_of(folder)
    return folder, {name: sources.digest(name) for name in ("", *COMPILED)}


def edit(copy, source):
    with (copy / source).open("a") as file:
        file.write("\n# edited\n")


def globals_of(function):
    """Names outside of a function that its code, nested code included, may look up."""
    waiting, names = [function.__code__], set()
    while waiting:
        code = waiting.pop()
        names |= set(code.co_names)
        waiting += [constant for constant in code.co_consts if hasattr(constant, "co_names")]
    return [function.__globals__[name] for name in names if name in function.__globals__]


def modules_behind(module):
    """Find by the functions themselves where compiled code of a module reaches to."""
    start = [item for item in vars(module).values() if isinstance(item, Dispatcher)]
    found, waiting = set(), [item.py_func for item in start if item.__module__ == module.__name__]
    while waiting:
        function = waiting.pop()
        if function in found:
            continue
        found.add(function)
        for item in globals_of(function):
            if isinstance(item, Dispatcher):
                waiting.append(item.py_func)
            elif getattr(item, "__module__", "") == "sparsekern._dispatch":  # found by type
                waiting += [
                    getattr(target, "py_func", target)
                    for (name, _), target in _dispatch._FUNCTIONS.items()
                    if name == item.__name__
                ]
    return {sys.modules[function.__module__] for function in found}


@pytest.mark.parametrize("name", COMPILED)
def test_a_module_counts_everything_its_compiled_code_reaches(name):
    needed = {PACKAGE / path for path in sources_of(PACKAGE).needed_by(name)}
    reached = modules_behind(importlib.import_module(f"sparsekern.{name}"))
    assert reached, "no compiled function was found: the test would see nothing"
    missing = {Path(module.__file__) for module in reached} - needed
    assert not missing, f"an edit of {missing} leaves stale binaries of {name} in use"


@pytest.mark.parametrize("source", BELOW)
def test_what_stands_below_inference_counts_for_all(source, untouched):
    folder, before = untouched
    text = (folder / source).read_text()
    edit(folder, source)
    after = sources_of(folder)
    (folder / source).write_text(text)
    assert all(before[name] != after.digest(name) for name in before)


def test_without_an_edit_the_digests_stay(untouched):
    folder, before = untouched
    after = sources_of(folder)
    assert all(before[name] == after.digest(name) for name in before)


def test_an_engine_does_not_wait_for_the_edit_of_another(copy):
    before = sources_of(copy)
    edit(copy, "inference/hybrid/inner_laplace.py")
    after = sources_of(copy)
    changed = {name for name in COMPILED if before.digest(name) != after.digest(name)}
    assert changed == {"inference.hybrid.inner_laplace", "inference.hybrid.function_draws"}
    assert before.digest("") != after.digest("")


def test_a_constant_in_a_file_without_compiled_code_counts(copy):
    (copy / "inference" / "hybrid" / "limits.py").write_text("MOST = 3\n")
    user = copy / "inference" / "hybrid" / "inner_laplace.py"
    user.write_text(user.read_text() + "\nfrom .limits import MOST\n")
    before = sources_of(copy)
    edit(copy, "inference/hybrid/limits.py")
    name = "inference.hybrid.inner_laplace"
    assert before.digest(name) != sources_of(copy).digest(name)


def test_hash_follows_the_version_of_numba(monkeypatch):
    before = sources_of(PACKAGE).digest("linalg.blas")
    monkeypatch.setattr(_jit.numba, "__version__", "0.0")
    assert sources_of(PACKAGE).digest("linalg.blas") != before
