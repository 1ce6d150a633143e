"""Tables of the guides agree with the benchmark results that they are taken from."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def table_under(page, line):
    """Return the cells of the first table after a line that holds these words."""
    text = (ROOT / "docs" / "guide" / page).read_text(encoding="utf-8")
    _, _, rest = text.partition(line)
    found = re.search(r"^\|.*?(?=\n\n)", rest, re.MULTILINE | re.DOTALL)
    rows = [re.split(r"(?<!\\)\|", row)[1:-1] for row in found.group().splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def assert_shown(cell, value):
    """The figure has the digits that rounding gives."""
    digits = len(cell.partition(".")[2])
    assert float(cell) == pytest.approx(value, abs=0.5 * 10**-digits + 1e-12), (cell, value)


def results(name):
    return pd.read_csv(ROOT / "benchmarks" / "results" / f"{name}.csv")


@pytest.mark.parametrize(
    ("page", "methods"),
    [
        (
            "doubly_sparse.md",
            ("doubly sparse", "doubly sparse, without pairs", "doubly sparse true"),
        ),
        (
            "hybrid_search.md",
            ("hybrid", "hybrid, without pairs", "hybrid true", "forest", "support vectors"),
        ),
    ],
)
def test_interactions(page, methods):
    designs = {
        "x₀x₁": "product",
        "2 sign(x₀x₁)": "quadrants",
        "x₀x₁ + x₂ + \\|x₃\\|": "mixed",
        "2 sin(2x₀) sin(2x₁)": "waves",
    }
    table = results("interactions").query("p == 200").set_index(["design", "method"])
    rows = table_under(page, "(`benchmarks/interactions.py`)")
    assert {row[0] for row in rows} == set(designs)
    for name, *cells in rows:
        for cell, method in zip(cells, methods, strict=True):
            key = (designs[name], method.removesuffix(" true"))
            assert_shown(cell, table.loc[key, "true" if method.endswith("true") else "MSPE"])


def test_correlated_features():
    table = results("hybrid_correlated").query("`length scale` == 'shared'")
    table = table.set_index("correlation")
    rows = table_under("hybrid_search.md", "`benchmarks/hybrid_correlated.py`")
    columns = (
        "largest difference", "narrow difference", "chains", "MSPE, ten", "narrow", "sampled MSPE"
    )  # fmt: skip
    for correlation, *cells in rows:
        for cell, column in zip(cells, columns, strict=False):
            assert_shown(cell, table.loc[float(correlation), column])


def test_speed_on_a_device():
    text = (ROOT / "benchmarks" / "results" / "hybrid_gpu.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| search, p = 20,000"))
    cuda, threads, _, one, _ = (float(cell) for cell in row.split("|")[2:-1])
    guide = (ROOT / "docs" / "guide" / "hybrid_search.md").read_text(encoding="utf-8")
    words = r"took (\S+) s on an H200, (\S+) s compiled on its host's 16 cores and (\S+) s on one"
    for cell, value in zip(re.search(words, guide).groups(), (cuda, threads, one), strict=True):
        assert_shown(cell, value)
