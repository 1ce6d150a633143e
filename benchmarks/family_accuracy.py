"""Error and log-loss of the family on the paper's other sets, beside SVC and a Gaussian process.

20 random splits, fixed seeds and classes in proportion, of the sizes of Zhang, Dai and Jordan
(2011): USPS 0 against 1 and 0 against 9 (pixels / 255), newsgroups (log counts, rows of unit
length), astroparticle (standardised; 4000 rows, and 1000 for learned widths, as the paper has
them), and the BKPC microarrays (four tumours without the few normal samples, logarithms). `GKM` and
`SparseGP` are run with two chains of 500 draws after 500 sweeps (250 after 250 at 4,000 rows) and
the paper's largest active set;
`+KL` learns a shared width. The SVC is tuned and calibrated as in `accuracy`. The Gaussian process
classifier of scikit-learn has a Gaussian kernel by maximum likelihood, and is left out beyond 1,000
rows, where it takes hours. `not converged` counts the splits with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from accuracy_split import TunedSVC
from joblib import Parallel, delayed, parallel_config
from problems import data_folder
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from tables import Row

from sparsekern import GKMClassifier, SparseGPClassifier
from sparsekern.datasets import load
from sparsekern.settings import GKMPriors

_LARGEST_PROCESS = 1000
Data = tuple[np.ndarray, np.ndarray]


def _digits(other: int) -> Callable[[], Data]:
    def read() -> Data:
        data = load("usps_all", data_folder())
        keep = np.isin(data.target, (0, other))
        return data.data[keep] / 255.0, data.target[keep]

    return read


def _newsgroups() -> Data:
    data = load("newsgroups_atheism_graphics", data_folder())
    return normalize(np.log1p(data.data)), data.target


def _astroparticle() -> Data:
    data = load("astroparticle", data_folder())
    return data.data, data.target


def _microarray() -> Data:
    data = load("bkpc_microarray", data_folder())
    classes, counts = np.unique(data.target, return_counts=True)
    keep = np.isin(data.target, classes[counts > 10])
    return np.log(data.data[keep]), data.target[keep]


@dataclass(frozen=True)
class Problem:
    """A set, its sizes, and the errors (%) that the paper gives for FBGKM and SGPC."""

    name: str
    read: Callable[[], Data]
    n_train: int
    n_test: int
    max_active: int
    paper: dict[str, float]
    methods: tuple[str, ...] = ("GKM", "SparseGP", "SVC", "GP")
    standardize: bool = False
    effort: int = 500  # draws, and sweeps before them


PROBLEMS = (
    Problem("USPS 0-1", _digits(1), 500, 1500, 200, {"GKM": 0.28, "SparseGP": 0.31}),
    Problem("USPS 0-9", _digits(9), 500, 1500, 200, {"GKM": 1.37, "SparseGP": 1.21}),
    Problem("newsgroups", _newsgroups, 500, 1272, 200, {"GKM": 4.83, "SparseGP": 4.66}),
    Problem(
        "astroparticle", _astroparticle, 4000, 3089, 200, {"GKM": 3.59, "SparseGP": 3.34},
        standardize=True, effort=250,
    ),
    Problem(
        "astroparticle, 1000 rows", _astroparticle, 1000, 1000, 100,
        {"GKM +KL": 3.45, "SparseGP +KL": 3.52},
        ("GKM", "GKM +KL", "SparseGP +KL", "SVC", "GP"), standardize=True,
    ),
    Problem("microarrays", _microarray, 56, 27, 56, {}),
)  # fmt: skip


def _make(method: str, problem: Problem, n_features: int, number: int, quick: bool) -> Any:
    if method == "SVC":
        return TunedSVC(n_features, number)
    if method == "GP":
        return GaussianProcessClassifier(ConstantKernel() * RBF(np.sqrt(n_features) / 3))
    family = SparseGPClassifier if method.startswith("SparseGP") else GKMClassifier
    effort = 50 if quick else problem.effort
    return family(
        priors=GKMPriors(max_active=problem.max_active), standardize=problem.standardize,
        draws=effort, tune=effort, chains=2, progress=False, random_state=number,
        learn_length_scale="shared" if "+KL" in method else False,
    )  # fmt: skip


def _run_split(problem: Problem, data: Data, number: int, quick: bool) -> list[Row]:
    features, labels = data
    scale = 10 if quick and problem.n_train > 100 else 1
    train, test = train_test_split(
        np.arange(len(features)), train_size=problem.n_train // scale, test_size=problem.n_test,
        stratify=labels, random_state=number,
    )  # fmt: skip
    rows: list[Row] = []
    for method in problem.methods:
        if method == "GP" and problem.n_train > _LARGEST_PROCESS:
            continue
        model = _make(method, problem, features.shape[1], number, quick)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(features[train], labels[train])
        classes = np.unique(labels[train])
        loss = log_loss(labels[test], model.predict_proba(features[test]), labels=classes)
        error = 100.0 * float(np.mean(model.predict(features[test]) != labels[test]))
        ours = "SVC" not in method and method != "GP"
        warned = ours and any(issubclass(w.category, ConvergenceWarning) for w in caught)
        rows.append({"method": method, "error": error, "log-loss": loss, "warned": float(warned)})
    return rows


def measure(quick: bool, n_jobs: int = 2, sets: tuple[str, ...] = ()) -> list[Row]:
    rows: list[Row] = []
    if data_folder() is None:
        print("skipped: no folder of data sets (SPARSEKERN_DATA)")
        return [{"data": "none found"}]
    for problem in PROBLEMS:
        if sets and problem.name not in sets:
            continue
        data = problem.read()
        with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
            splits = Parallel()(
                delayed(_run_split)(problem, data, number, quick)
                for number in range(2 if quick else 20)
            )
        for place, first in enumerate(splits[0]):
            found = [split[place] for split in splits]
            row: Row = {"data": problem.name, "n": problem.n_train, "method": first["method"]}
            for name in ("error", "log-loss"):
                values = [entry[name] for entry in found]
                row[name] = float(np.mean(values))
                row[f"{name} sd"] = float(np.std(values, ddof=1))
            row["paper error"] = problem.paper.get(first["method"])
            row["not converged"] = int(sum(entry["warned"] for entry in found))
            rows.append(row)
            print(row, flush=True)
    return rows
