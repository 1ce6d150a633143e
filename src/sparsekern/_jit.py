"""The one compilation decorator of the package.

numba's disk cache looks only at the file that holds a function: editing a callee in another
file leaves a stale, wrong binary behind. The cache folder used here carries a hash of every
source file that can hold compiled code, so any edit starts a fresh folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

_KEPT_CACHE_FOLDERS = 4  # source versions whose binaries stay on disk


def _source_hash() -> str:
    """Hash numba's version and every source that compiled code can depend on.

    Besides compiled functions these are the NamedTuples and constants they are compiled against;
    estimators, figures and data sets hold neither.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] not in ("estimators", "plotting", "datasets"):
            digest.update(str(name).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Return the folder of this source version, made writable, older versions pruned."""
    chosen = os.environ.get("SPARSEKERN_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    roots = [Path(chosen)] if chosen else [home / "sparsekern"]
    user = os.getuid() if hasattr(os, "getuid") else "user"
    roots.append(Path(tempfile.gettempdir()) / f"sparsekern-cache-{user}")
    name = "code-" + _source_hash()
    for root in roots:
        folder = root / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                _prune(root, keep=folder)
        except OSError:  # a read-only home: the temporary folder serves instead
            continue
        return folder
    raise RuntimeError(
        f"sparsekern found no writable folder for compiled code (tried {roots}); "
        "set the environment variable SPARSEKERN_CACHE_DIR to one."
    )


def _prune(root: Path, keep: Path) -> None:
    """Drop the binaries of old source versions, newest kept."""
    folders = sorted(root.glob("code-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT_CACHE_FOLDERS:]:
        if folder != keep:
            shutil.rmtree(folder, ignore_errors=True)


_FOLDER = str(_cache_folder())
_NUMBA: Any = config  # its settings are made at run time, out of sight of type checkers


def _compile(function: Callable[..., Any], inline: Any) -> Any:
    before = _NUMBA.CACHE_DIR
    _NUMBA.CACHE_DIR = _FOLDER  # read once by numba, when the dispatcher is made
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", inline=inline)(function)
    finally:
        _NUMBA.CACHE_DIR = before


def jit(function: Callable[..., Any]) -> Any:
    """Compile ``function`` without the GIL and cache the binary on disk.

    It may call only other functions compiled here. Floating point is strict: fast-math would let
    each inlined copy of a function round in its own way, and a binary from the cache would give
    other last digits than the one just compiled.
    """
    return _compile(function, "never")


def jit_inlined(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as a part of the one function that calls it.

    A compiled function is optimised together with everything below it, again at every level: for a
    large function with one caller, a level less saves a good part of the time to compile.
    """
    return _compile(function, "always")


def is_compiled(engine: str) -> bool:
    """Tell whether ``engine`` has run before from this disk cache, so that nothing must compile."""
    return (Path(_FOLDER) / f"ran-{engine}").exists()


def mark_compiled(engine: str) -> None:
    """Remember that ``engine`` has run, and so is in the disk cache."""
    (Path(_FOLDER) / f"ran-{engine}").touch()
