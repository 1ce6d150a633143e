"""What memory there is, and a sentence in place of a process that dies for want of it.

Estimators call :func:`require_memory` with the bytes that they are about to hold at once. What is
left to the process is the least of what the machine has free, of the limits of its control groups
(as containers set them) and of its own limit of address space (``ulimit -v``).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ._checks import check_count

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SMALL = 256 * 2**20  # needs below are not looked into
_PROC, _GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def require_memory(needed: float, who: str, what: str, remedy: str) -> None:
    """Raise MemoryError unless ``needed`` bytes are there.

    Parameters
    ----------
    needed : float
    who, what : str
        Begin the sentence: "<who> needs <bytes> for <what>".
    remedy : str
        Ends it: what to change, with a value.
    """
    if needed < _SMALL:
        return
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"{who} needs {spoken_bytes(needed)} for {what}, but {spoken_bytes(available)} of "
            f"memory are available; {remedy}."
        )


def check_samples(estimator: Any, n_samples: Any, n_rows: int) -> int:
    """Return how many predictive draws are asked for, if there is room for them."""
    count = check_count("n_samples", n_samples)
    require_memory(
        3 * 8.0 * count * n_rows,  # the draws, and what they are made of
        type(estimator).__name__,
        f"n_samples={count} draws of {n_rows} rows",
        "reduce n_samples, or ask for fewer rows at a time",
    )
    return count


def spoken_bytes(count: float) -> str:
    """Return a number of bytes with its unit."""
    unit = 0
    while count >= 1024.0 and unit + 1 < len(_UNITS):
        count, unit = count / 1024.0, unit + 1
    return f"{count:.3g} {_UNITS[unit]}" if count < 1000 else f"{count:.0f} {_UNITS[unit]}"


def held_bytes(*parts: Any) -> int:
    """Return the bytes of all arrays in nested tuples, each piece of memory counted once."""
    seen: dict[int, int] = {}

    def visit(part: Any) -> None:
        if isinstance(part, np.ndarray):
            owner = part
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            seen[id(owner)] = owner.nbytes
        elif isinstance(part, (tuple, list)):
            for inner in part:
                visit(inner)

    visit(parts)
    return sum(seen.values())


def available_bytes() -> int | None:
    """Return how much more memory this process may take; None where nobody knows."""
    known = [_free_memory(), _left_in_groups(), _left_of_address_space()]
    left = [bytes_left for bytes_left in known if bytes_left is not None]
    return max(0, min(left)) if left else None


def _free_memory() -> int | None:
    """Return what the machine has free, caches that it may drop included."""
    for line in _lines(_PROC / "meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:  # free pages where the system tells; else all pages
        pages = {name: os.sysconf(name) for name in os.sysconf_names if "PHYS_PAGES" in name}
        count = pages.get("SC_AVPHYS_PAGES", pages.get("SC_PHYS_PAGES", -1))
        size = os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
    return count * size if count > 0 else None


def _left_in_groups() -> int | None:
    """Return what the control groups of the process leave, of both versions."""
    left = []
    for line in _lines(_PROC / "self" / "cgroup"):
        _, names, path = line.split(":", 2)
        if names == "":
            root, files = _GROUPS, ("memory.max", "memory.current")
        elif "memory" in names.split(","):
            root, files = _GROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        parts = Path(path.strip("/")).parts
        # of the group and all above it; a container may see its own group as the root
        for depth in range(len(parts) + 1):
            folder = root.joinpath(*parts[:depth])
            most, used = (_number(folder / file) for file in files)
            if most is not None and used is not None:
                left.append(most - used + _droppable(folder))
    return min(left) if left else None


def _droppable(folder: Path) -> int:
    """Return the bytes of files that a group holds and can drop at any time."""
    for line in _lines(folder / "memory.stat"):
        if line.startswith(("inactive_file ", "total_inactive_file ")):
            return int(line.split()[1])
    return 0


def _left_of_address_space() -> int | None:
    """Return what ``ulimit -v`` leaves."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None
    for line in _lines(_PROC / "self" / "status"):
        if line.startswith("VmSize:"):
            return most - int(line.split()[1]) * 1024
    return most


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None
