"""The one compilation decorator of the package.

numba's disk cache looks only at the file that holds a function: editing a callee in another
file leaves a stale, wrong binary behind. The cache folder of a module carries a hash of every
source that its compiled code can depend on, so an edit starts a fresh folder for the modules
it can reach, and for no other.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.registry import CPUDispatcher

from ._apart import call_by_address

_KEPT_CACHE_FOLDERS = 4  # source versions of a module whose binaries stay on disk
# rooms and files that hold nothing that is compiled against
_ABOVE = (
    "predictive", "posteriors", "estimators", "plotting", "datasets", "__init__.py",
    "_memory.py", "_progress.py", "composites.py", "diagnostics.py", "settings",
)  # fmt: skip
_IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import", re.MULTILINE)


class _Sources:
    """The sources of the package, and what compiled code of each module can depend on.

    Functions found by type (``_dispatch``) stand below inference, so everything there counts for
    every module. An engine's file counts for the modules that import it, at once or by others.
    Posteriors, estimators, figures and data sets hold nothing that is compiled against.
    """

    def __init__(self, package: Path) -> None:
        self._texts: dict[Path, str] = {}
        for path in sorted(package.rglob("*.py")):
            name = path.relative_to(package)
            if name.parts[0] not in _ABOVE:
                self._texts[name] = path.read_text()
        self._below = {name for name in self._texts if name.parts[0] != "inference"}
        self._digests = {
            name: hashlib.sha256(f"{name}\n{text}".encode()).digest()
            for name, text in self._texts.items()
        }

    def needed_by(self, module: str) -> set[Path]:
        """Return the files on which compiled code of ``module`` (without the package) can depend.

        No module: all of them.
        """
        if not module:
            return set(self._texts)
        name = Path(*module.split(".")).with_suffix(".py")
        found, waiting = set(self._below), {name} & self._texts.keys()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting |= self._imports(name)
        return found

    def _imports(self, name: Path) -> set[Path]:
        """Return what a file imports; of a folder, every file in it."""
        found = set()
        for dots, target in _IMPORT.findall(self._texts[name]):
            folder = name.parts[: len(name.parts) - len(dots)]
            path = Path(*folder, *filter(None, target.split(".")))
            file = path.with_suffix(".py") if path.parts else path
            if file in self._texts:
                found.add(file)
            else:
                found |= {other for other in self._texts if other.parent == path}
        return found

    def digest(self, module: str) -> str:
        """Return a hash of numba's version and of everything that ``module`` needs."""
        digest = hashlib.sha256(numba.__version__.encode())
        for name in sorted(self.needed_by(module)):
            digest.update(self._digests[name])
        return digest.hexdigest()[:16]


def _writable_root() -> Path:
    """Return the first folder that binaries can be written to."""
    chosen = os.environ.get("SPARSEKERN_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    roots = [Path(chosen)] if chosen else [home / "sparsekern"]
    user = os.getuid() if hasattr(os, "getuid") else "user"
    roots.append(Path(tempfile.gettempdir()) / f"sparsekern-cache-{user}")
    for root in roots:
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=root):
                return root
        except OSError:  # a read-only home: the temporary folder serves instead
            continue
    raise RuntimeError(
        f"sparsekern found no writable folder for compiled code (tried {roots}); "
        "set the environment variable SPARSEKERN_CACHE_DIR to one."
    )


def _prune(parent: Path, keep: Path) -> None:
    """Drop the binaries of old source versions, newest kept."""
    folders = sorted(parent.glob("code-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT_CACHE_FOLDERS:]:
        if folder != keep:
            shutil.rmtree(folder, ignore_errors=True)


_ROOT = _writable_root()
_SOURCES = _Sources(Path(__file__).parent)
_LOCK = threading.RLock()
_NUMBA: Any = config  # its settings are made at run time, out of sight of type checkers


@cache
def _folder(module: str) -> Path:
    """Return the folder for binaries of ``module``, older versions pruned."""
    inside = module.partition(".")[2] if module.split(".")[0] == __package__ else ""
    folder = _ROOT / (inside or "package") / f"code-{_SOURCES.digest(inside)}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _prune(folder.parent, keep=folder)
    return folder


class _Compiled(CPUDispatcher):
    """A compiled function for other compiled functions, which Python can call too.

    What Python needs to call a function (every array of a NamedTuple taken out of its object) is
    longer than most functions: it is compiled with a second copy, when Python calls.
    """

    _python: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._python is None:
            with _LOCK:
                if self._python is None:
                    self._python = _cached(CPUDispatcher, self.py_func, "called", {})
        return self._python(*arguments, **named)


class _Apart(_Compiled):
    """A compiled function that other compiled functions call by its address."""

    def get_overload(self, sig: Any) -> Any:
        """Return the key under which numba finds the code that makes the call."""
        return self.py_func


def _cached(kind: Any, function: Callable[..., Any], folder: str, options: dict[str, Any]) -> Any:
    compiled = kind(
        py_func=function,
        targetoptions={"nopython": True, "nogil": True, "boundscheck": None}
        | {"error_model": "numpy", "no_cfunc_wrapper": True}
        | options,
    )
    before = _NUMBA.CACHE_DIR
    _NUMBA.CACHE_DIR = str(_folder(function.__module__) / folder)  # numba reads it once, here
    try:
        compiled.enable_caching()
    finally:
        _NUMBA.CACHE_DIR = before
    return compiled


def jit(function: Callable[..., Any]) -> Any:
    """Compile ``function`` without the GIL and cache the binary on disk.

    It may call only other functions compiled here. Floating point is strict: fast-math would let
    each inlined copy of a function round in its own way, and a binary from the cache would give
    other last digits than the one just compiled.
    """
    return _cached(_Compiled, function, "inner", {"no_cpython_wrapper": True})


def jit_apart(function: Callable[..., Any]) -> Any:
    """Compile ``function`` once for all compiled functions that call it.

    Plainly, a compiled function is optimised together with everything below it, again at every
    level. A function that works for a microsecond or more is better called by its address: the
    call costs some ten nanoseconds and its callers compile as if it were empty.
    """
    compiled = _cached(_Apart, function, "inner", {"no_cpython_wrapper": True})
    call_by_address(compiled)
    return compiled


def jit_inlined(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as a part of the one function that calls it."""
    return _cached(_Compiled, function, "inner", {"inline": "always"})


def is_compiled(engine: str) -> bool:
    """Tell whether ``engine`` has run before from this disk cache, so that nothing must compile."""
    return (_folder(__package__) / f"ran-{engine}").exists()


def mark_compiled(engine: str) -> None:
    """Remember that ``engine`` has run, and so is in the disk cache."""
    with suppress(OSError):  # a folder that is gone or full costs a message, and must cost no fit
        (_folder(__package__) / f"ran-{engine}").touch()
