"""When plug-in scores are computed by one kernel, and what happens where they cannot."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from sparsekern.inference.hybrid import fused
from sparsekern.inference.hybrid._contract import Batch
from sparsekern.inference.hybrid.cpu import CpuBackend
from sparsekern.inference.hybrid.cuda import CudaBackend
from sparsekern.kernels.evaluate import RBF

NAME = "sparsekern.inference.hybrid.triton_toggles"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    fused._open.cache_clear()
    yield
    fused._open.cache_clear()


def stand_in(monkeypatch, function):
    monkeypatch.setitem(sys.modules, NAME, SimpleNamespace(toggled_densities=function))


def problem():
    rng = np.random.default_rng(3)
    columns, response = rng.standard_normal((7, 12)), rng.standard_normal(12)
    features, counts = np.array([[0, 1]]), np.array([2])
    batch = Batch(columns, RBF, np.arange(12)[None], response[None], features, counts, True)
    changes = np.array([(-1, j) for j in range(2, 7)] + [(0, -1), (1, 4)])
    return batch, np.array([0.2, 1.0, -1.5]), changes, 1.0


def test_few_rows_only(monkeypatch):
    stand_in(monkeypatch, lambda *arguments: torch.zeros(1))
    assert fused.open_fused_toggles("cpu", fused._MOST_ROWS) is not None
    assert fused.open_fused_toggles("cpu", fused._MOST_ROWS + 1) is None


def test_not_on_a_processor_unless_interpreted(monkeypatch):
    stand_in(monkeypatch, lambda *arguments: torch.zeros(1))
    monkeypatch.delenv("TRITON_INTERPRET")
    assert fused.open_fused_toggles("cpu", 10) is None


def test_without_triton(monkeypatch):
    monkeypatch.setitem(sys.modules, NAME, None)
    assert fused.open_fused_toggles("cpu", 10) is None
    np.testing.assert_allclose(
        CudaBackend(1.0, device="cpu").toggles(*problem()), CpuBackend().toggles(*problem())
    )


def test_where_triton_does_not_compile(monkeypatch):
    def fail(*arguments):
        raise RuntimeError("Failed to find C compiler")

    stand_in(monkeypatch, fail)
    with pytest.warns(RuntimeWarning, match=r"Failed to find C compiler.*Triton 3.5.*install gcc"):
        assert fused.open_fused_toggles("cpu", 10) is None
    assert fused.open_fused_toggles("cpu", 10) is None  # said once


def test_what_has_no_factor_is_computed_again(monkeypatch):
    """The kernel knows no jitter: what it returns as not finite goes the other way."""
    broken = [1, 5]

    def spoil(base, columns, target, changes, *arguments):
        out = torch.full((len(changes),), 7.0, dtype=torch.float64)
        out[[place for place in broken if place < len(out)]] = torch.nan
        return out

    stand_in(monkeypatch, spoil)
    found = CudaBackend(1.0, device="cpu").toggles(*problem())
    expected = CpuBackend().toggles(*problem())
    np.testing.assert_allclose(found[broken], expected[broken])
    assert_array_equal(np.delete(found, broken), 7.0)
