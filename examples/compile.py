"""Compile every sampler into the disk cache, so that no fit has to wait for it later."""

from __future__ import annotations

import subprocess
import sys

from sparsekern import (
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    PCVMClassifier,
)

X, SHORT = [[0.0], [1.0], [2.0]], {"draws": 2, "tune": 2, "chains": 1, "progress": False}
_CLASSES = {
    "probit": [0, 1, 1], "logit": [0, 1, 1], "hinge": [0, 1, 1], "multinomial": [0, 1, 2],
}  # fmt: skip


def compile_family(classifier, regressor) -> None:
    """Fit everything once to next to nothing."""
    for noise in ("gaussian", "student_t"):
        regressor(noise=noise, **SHORT).fit(X, [0.0, 1.0, 1.5]).predict(X)
    for name, labels in _CLASSES.items():
        likelihood = "probit" if name == "multinomial" else name
        classifier(likelihood=likelihood, **SHORT).fit(X, labels).predict(X)


def compile_vector_machines() -> None:
    """Fit a machine by the sequential methods, which share their code, and one by sampling."""
    for options in ({}, {"kernel_precision": "single"}, {"inference": "em"}):
        PCVMClassifier(progress=False, **options).fit(X, [0, 1, 1])
    PCVMClassifier(inference="mcmc", **SHORT).fit(X, [0, 1, 1])


if __name__ == "__main__":
    if sys.argv[1:] == ["doubly-sparse"]:
        compile_family(DoublySparseClassifier, DoublySparseRegressor)
    else:  # the two families share little, so they are compiled side by side
        other = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "doubly-sparse"])
        compile_family(GKMClassifier, GKMRegressor)
        compile_vector_machines()
        sys.exit(other.wait())
