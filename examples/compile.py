"""Compile what the estimators run into the disk cache, so that no fit has to wait for it later."""

from __future__ import annotations

import subprocess
import sys

from sparsekern import (
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    KernelProjectionClassifier,
    PCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseGPClassifier,
)

X, VALUES, COUNTS = [[0.0], [1.0], [2.0]], [0.0, 1.0, 1.5], [0, 1, 3]
SHORT = {"draws": 2, "tune": 2, "chains": 1, "progress": False}
_CLASSES = {
    "probit": [0, 1, 1], "logit": [0, 1, 1], "hinge": [0, 1, 1], "multinomial": [0, 1, 2],
}  # fmt: skip


def compile_family(classifier, regressor) -> None:
    """Fit everything once to next to nothing."""
    for noise in ("gaussian", "student_t", "laplace"):
        regressor(noise=noise, **SHORT).fit(X, VALUES).predict(X)
    regressor(counts="poisson", **SHORT).fit(X, COUNTS).predict(X)  # and all laws by their terms
    for name, labels in _CLASSES.items():
        likelihood = "probit" if name == "multinomial" else name
        classifier(likelihood=likelihood, **SHORT).fit(X, labels).predict(X)


def compile_vector_machines() -> None:
    """Fit a machine by the sequential methods, which share their code, and one by sampling."""
    for options in ({}, {"search__kernel_precision": "single"}, {"inference": "em"}):
        PCVMClassifier(progress=False).set_params(**options).fit(X, [0, 1, 1])
    PCVMClassifier(inference="mcmc", **SHORT).fit(X, [0, 1, 1])
    RVMClassifier(progress=False).fit(X, [0, 1, 1]).predict(X)
    RVMRegressor(progress=False).fit(X, VALUES).predict(X)


def compile_projections() -> None:
    """Fit by each way of inference."""
    rows, labels = [[float(i % 7), float(i % 3)] for i in range(20)], [0, 1] * 10
    for inference in ("polya_gamma", "least_squares", "latent_noise"):
        KernelProjectionClassifier(inference=inference, **SHORT).fit(rows, labels).predict(rows)


def compile_searches() -> None:
    """Search once for values and once for classes."""
    rows = [[float(i % 7), float(i % 3)] for i in range(20)]
    HybridSearchGPRegressor(progress=False).fit(rows, [row[0] for row in rows]).predict(rows)
    HybridSearchGPClassifier(progress=False).fit(rows, [0, 1] * 10).predict(rows)


if __name__ == "__main__":
    if sys.argv[1:] == ["second-half"]:
        compile_family(DoublySparseClassifier, DoublySparseRegressor)
        compile_projections()
        compile_searches()
    else:  # the two halves share little, so they are compiled side by side
        other = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "second-half"])
        compile_family(GKMClassifier, GKMRegressor)
        SparseGPClassifier(**SHORT).fit(X, [0, 1, 1]).predict(X)
        compile_vector_machines()
        sys.exit(other.wait())
