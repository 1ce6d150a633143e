"""Fit the sparse Bayesian classifier to real data, judge it beside an SVM, and draw figures.

Run ``make demo``, or ``python examples/demo.py``. The figures go to ``demo-output``.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsekern import GKMClassifier
from sparsekern.datasets import load_breast_cancer_means, make_ripley
from sparsekern.plotting import (
    plot_active_trace,
    plot_calibration,
    plot_decision_surface,
    plot_ranks,
    plot_traces,
)

SEED = 0
FOLDER = Path("demo-output")


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # in step with the progress on the error stream
    matplotlib.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    tumours = load_breast_cancer_means(as_frame=True)
    names = tumours.target_names[(tumours.target > 0).astype(int)]
    X_train, X_test, y_train, y_test = train_test_split(
        tumours.data, names, test_size=1 / 3, stratify=names, random_state=SEED
    )
    print(
        f"Breast tumours, {X_train.shape[1]} measurements: {len(y_train)} to learn from, "
        f"{len(y_test)} held out"
    )
    model, seconds = fit_timed(new_classifier(), X_train, y_train)
    svm, svm_seconds = fit_timed(tuned_svm(), X_train, y_train)
    print_comparison(
        {"GKMClassifier": (model, seconds), "calibrated SVM": (svm, svm_seconds)}, X_test, y_test
    )
    print_chains(model)

    ax = plot_calibration(model, X_test, y_test, n_bins=5, label="GKMClassifier")
    plot_calibration(svm, X_test, y_test, n_bins=5, ax=ax, label="calibrated SVM")
    save(ax, "tumours-calibration.png")
    save(plot_traces(model), "tumours-traces.png")
    save(plot_ranks(model), "tumours-ranks.png")
    save(plot_active_trace(model), "tumours-active-vectors.png")

    X, y = make_ripley(random_state=SEED)
    print(f"\nRipley's problem in the plane: {len(y)} rows, Bayes error 8.9 %")
    plane, seconds = fit_timed(new_classifier(), X, y)
    X_new, y_new = make_ripley(5000, random_state=SEED + 1)
    error = np.mean(plane.predict(X_new) != y_new)
    print(f"  error on {len(y_new)} new rows {error:.1%}, fitted in {seconds:.0f} s")
    save(plot_decision_surface(plane, X, y), "ripley-surface.png")
    print(f"\nFigures in {FOLDER}: {', '.join(sorted(path.name for path in FOLDER.glob('*.png')))}")


def new_classifier() -> GKMClassifier:
    """Return the classifier with its default model, and with a progress display."""
    model = GKMClassifier(draws=1000, n_jobs=2, random_state=SEED)  # for a demo of a minute
    if importlib.util.find_spec("rich") is None:
        return model.set_params(progress=True)
    from sklearn.callback import ProgressBar

    return model.set_callbacks(ProgressBar())


def tuned_svm() -> CalibratedClassifierCV:
    grid = {"svc__C": [0.3, 1, 3, 10, 30], "svc__gamma": [0.01, 0.03, 0.1, 0.3]}
    svm = make_pipeline(StandardScaler(), SVC())
    return CalibratedClassifierCV(GridSearchCV(svm, grid), ensemble=False)


def fit_timed(model, X, y):
    begin = time.perf_counter()
    model.fit(X, y)
    return model, time.perf_counter() - begin


def print_comparison(models: dict, X_test, y_test) -> None:
    print(f"\n  {'':16}{'test error':>24}{'log-loss':>11}{'time':>9}")
    for name, (model, seconds) in models.items():
        wrong = np.sum(model.predict(X_test) != y_test)
        share = wrong / len(y_test)
        deviation = np.sqrt(share * (1 - share) / len(y_test))
        error = f"{share:.1%} ± {deviation:.1%} ({wrong})"
        loss = log_loss(y_test, model.predict_proba(X_test))
        print(f"  {name:16}{error:>24}{loss:>11.3f}{seconds:>7.1f} s")


def print_chains(model: GKMClassifier) -> None:
    """Print how many vectors are active, and whether the chains have converged."""
    sizes = model.posterior_["sample_stats"]["n_active"].values
    low, high = np.quantile(sizes, [0.025, 0.975])
    rows = len(model.active_probabilities_)
    print(
        f"\n  Active vectors: {sizes.mean():.0f} of {rows} rows (95 % of draws: {low:.0f} to "
        f"{high:.0f})"
    )
    table = model.diagnostics_
    probabilities = table[table.index.str.startswith("probability")]
    print(f"\n  {'Chains (' + str(model.n_draws_) + ' draws each)':38}{'R-hat':>8}{'bulk ESS':>10}")
    for label, part in {
        "log-likelihood": table.loc[["log_likelihood"]],
        f"probabilities of {len(probabilities)} rows, the worst": probabilities,
        "number of active vectors (not judged)": table.loc[["n_active"]],
    }.items():
        print(f"  {label:38}{part['r_hat'].max():>8.3f}{part['ess_bulk'].min():>10.0f}")


def save(axes, name: str) -> None:
    figure = np.ravel(axes)[0].figure
    figure.savefig(FOLDER / name, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
