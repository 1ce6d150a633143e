"""Results as CSV and Markdown, with what they were measured on; no host names, no paths."""

from __future__ import annotations

import csv
import datetime
import importlib.metadata
import platform
import tempfile
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import sparsekern

Row = dict[str, Any]
_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "arviz-stats")


def environment() -> dict[str, str]:
    """Return the date, the versions that matter and the processor."""
    found = {"date": datetime.date.today().isoformat(), "Python": platform.python_version()}
    found["sparsekern"] = sparsekern.__version__  # it may be on the path, and not installed
    found |= {name: _version(name) for name in _PACKAGES}
    libraries = {
        f"{info['internal_api']} {info['version']} ({info.get('architecture', 'unknown')})"
        for info in threadpool_info()
        if info["user_api"] == "blas"
    }
    found["BLAS"] = ", ".join(sorted(libraries))
    found["processor"] = _processor()
    return found


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _text(value: Any) -> str:
    if isinstance(value, float):
        if value == 0.0 or 1e-3 <= abs(value) < 1e5:
            return f"{value:.4g}" if abs(value) < 1e3 else f"{value:.0f}"
        return f"{value:.3g}"
    return "" if value is None else str(value)


def _columns(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def markdown(rows: list[Row]) -> str:
    """Return a table; a column ``x`` with a column ``x sd`` becomes one, "x ± sd"."""
    columns = _columns(rows)
    shown = [
        name for name in columns if name.removesuffix(" sd") == name or name[:-3] not in columns
    ]
    lines = ["| " + " | ".join(shown) + " |", "|" + "---|" * len(shown)]
    for row in rows:
        cells = []
        for name in shown:
            spread = row.get(f"{name} sd")
            cells.append(_text(row.get(name)) + ("" if spread is None else f" ± {_text(spread)}"))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def open_folder(folder: Path) -> None:
    """Make the folder, and raise ``OSError`` now, not after a measurement, if it takes no files."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def write_part(
    folder: Path, name: str, about: str, rows: list[Row], quick: bool, where: dict[str, str]
) -> None:
    """Write ``<name>.csv`` and ``<name>.md``; ``where`` is the :func:`environment`."""
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _columns(rows), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    mode = "**Smoke run (`--quick`): the figures mean nothing.** " if quick else ""
    place = "; ".join(f"{key} {value}" for key, value in where.items())
    text = f"# {name}\n\n{about.strip()}\n\n{mode}{place}.\n\n{markdown(rows)}"
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


def write_index(folder: Path, parts: list[str], where: dict[str, str]) -> None:
    """Write README.md, which names the environment and the parts that have results."""
    present = [name for name in parts if (folder / f"{name}.md").is_file()]
    lines = ["# Benchmark results", "", "Written by `make bench`; timings are ratios.", ""]
    lines += [f"- {key}: {value}" for key, value in where.items()]
    lines += ["", "| part | table | numbers |", "|---|---|---|"]
    lines += [f"| {name} | [{name}.md]({name}.md) | [{name}.csv]({name}.csv) |" for name in present]
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
