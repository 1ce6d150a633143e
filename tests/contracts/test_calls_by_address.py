"""Functions called by address do what linked ones do, also where all comes from the disk."""

import os
import subprocess
import sys

import pytest

MODULE = """
from typing import NamedTuple
import numpy as np
from sparsekern._jit import jit, jit_apart

class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray

@jit_apart
def combine(pair, factor, shift=2.0):
    if factor < 0.0:
        raise ValueError("negative")
    return pair.first * factor + shift, pair.second.sum()

@jit_apart
def twice(pair, factor):
    vector, total = combine(pair, factor)
    return vector.sum() + total

@jit
def top(pair, factor):
    return twice(pair, factor) + combine(pair, factor, 3.0)[0][0]
"""
MAIN = """
import numpy as np
from numba.core import event
import functions
pair = functions.Pair(np.arange(3.0), np.eye(2))
with event.install_recorder("numba:compile") as found:
    print(functions.top(pair, 2.0))
names = [event.data["dispatcher"].py_func.__name__ for _, event in found.buffer]
print(sum(name in ("top", "twice", "combine") for name in names) // 2)
try:
    functions.top(pair, -1.0)
except ValueError as error:
    print(error)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "functions.py").write_text(MODULE)
    place = os.environ | {"SPARSEKERN_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        command = [sys.executable, "-c", MAIN]
        ran = subprocess.run(
            command, cwd=tmp_path, env=place, capture_output=True, text=True, check=True
        )
        return ran.stdout.split()

    return run


def test_same_value_and_error_compiled_and_from_the_disk(run):
    # 2 (0, 1, 2) + 2 adds up to 12, and 2 for the matrix; 0 + 3 is the first entry shifted by 3
    assert run() == ["17.0", "4", "negative"]  # combine twice: with and without a default
    assert run() == ["17.0", "0", "negative"]
