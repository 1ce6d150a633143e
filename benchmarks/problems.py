"""The data sets of the benchmarks, with the sizes and results of the paper that uses them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparsekern.datasets import load, make_ringnorm, make_twonorm, make_waveform

GENERATORS = {"ringnorm": make_ringnorm, "twonorm": make_twonorm, "waveform": make_waveform}


@dataclass(frozen=True)
class PaperProblem:
    """Sizes and error (%) of FBGKM in Zhang, Dai and Jordan (2011), over 20 random splits."""

    name: str
    n_train: int
    n_test: int
    max_active: int
    error: float
    error_sd: float


PAPER_PROBLEMS = (
    PaperProblem("ringnorm", 400, 7000, 400, 1.51, 0.10),
    PaperProblem("thyroid", 140, 75, 140, 4.60, 2.65),
    PaperProblem("twonorm", 400, 7000, 400, 2.86, 0.21),
    PaperProblem("waveform", 400, 4600, 400, 9.80, 0.31),
)


def generate(name: str, n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised features and labels -1.0, +1.0 of a generated set."""
    features, labels = GENERATORS[name](n_rows, random_state=seed)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.ascontiguousarray(features), labels.astype(np.float64)


def data_folder() -> Path | None:
    """Return the folder of ``.npz`` files: SPARSEKERN_DATA, or shared data beside the checkout."""
    chosen = os.environ.get("SPARSEKERN_DATA")
    folder = Path(chosen) if chosen else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def read(problem: PaperProblem) -> tuple[np.ndarray, np.ndarray, str] | None:
    """Return features, labels and where they come from: a file, or else a generator, or None."""
    folder = data_folder()
    if folder is not None and (folder / f"raetsch_{problem.name}.npz").is_file():
        data = load(f"raetsch_{problem.name}", folder)
        return data.data, data.target, "file"
    if problem.name in GENERATORS:
        rows = problem.n_train + problem.n_test
        return *GENERATORS[problem.name](rows, random_state=0), "generated"
    return None


def split(problem: PaperProblem, n_rows: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and test rows of random split ``number``, always the same ones."""
    order = np.random.default_rng([2011, number]).permutation(n_rows)
    return order[: problem.n_train], order[problem.n_train : problem.n_train + problem.n_test]
