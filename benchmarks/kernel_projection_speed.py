"""Mixing, cost of a sweep, cost of the search and memory of the kernel projection classifier.

`mixing`: bulk effective samples of class probabilities (median over 20 rows) per processor second,
n = 117, four classes, 30 components, for the noise-free model, labels as responses (least squares),
the paper's model with slice and scale moves, and the paper's own random walk (sd 10 on the latent
values, no scale move) compiled from the same pieces, with IG(1, 1). `sweep`: processor time of a
sweep (noise-free; least squares) over that of its floor, one product P'Z and n C Polya-Gamma draws.
`search`: fifteen sizes times ten splits at p = 1050, n = 117 against one fit at the defaults.
`memory`: largest resident memory of a fit at p = 50,000, n = 200.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from measuring import effective_samples, r_hats, seconds
from tables import Row

from sparsekern import KernelProjectionClassifier
from sparsekern._jit import jit
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.kernel_projection import latent_noise, least_squares, polya_gamma
from sparsekern.inference.kernel_projection.projections import project_training
from sparsekern.inference.kernel_projection.running import store
from sparsekern.inference.kernel_projection.sampler import KernelProjectionSampler, Priors
from sparsekern.inference.kernel_projection.softmax import row_log_likelihood
from sparsekern.kernels import resolve_kernels
from sparsekern.random.polya_gamma import polya_gamma as draw_polya_gamma
from sparsekern.settings import ProjectionPrediction, ProjectionSearchOptions

_sweep = polya_gamma.sweep_once
_sweep_least_squares = least_squares.sweep_once
_block = latent_noise.draw_noise_and_coefficients
_WALK = 10.0  # standard deviation of the package's random walk


def make_spectra(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return smooth curves of four overlapping classes, off centre."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    grid = np.linspace(0, 1, p)
    waves = np.stack([np.sin(2 * np.pi * (k + 1) * grid + k) for k in range(12)])
    weights = rng.standard_normal((n, 12)) / np.arange(1, 13)
    weights += 0.8 * rng.standard_normal((4, 12))[labels] / np.arange(1, 13)
    return weights @ waves + 0.02 * rng.standard_normal((n, p)) + 5.0, labels


@jit
def _walk_sweeps(rng, state, work, settings, draws, stop, tune):
    """Run the paper's sampler: a random walk on the latent values of every row, no scale move."""
    classes, m = state.coefficients.shape
    n = settings.labels.shape[0]
    mean, spread = np.empty((classes, m)), np.empty((classes, m))
    for sweep in range(stop):
        np.dot(state.coefficients, settings.design, work.rows)
        for i in range(n):
            before = row_log_likelihood(state.latent, i, settings.labels[i], settings.reference)
            ratio = -before
            for k in range(classes):
                work.other[k, i] = state.latent[k, i]
                ratio += (state.latent[k, i] - work.rows[k, i]) ** 2 / (2.0 * state.noise[0])
                state.latent[k, i] += _WALK * rng.standard_normal()
                ratio -= (state.latent[k, i] - work.rows[k, i]) ** 2 / (2.0 * state.noise[0])
            ratio += row_log_likelihood(state.latent, i, settings.labels[i], settings.reference)
            if math.log(rng.random()) >= ratio:
                for k in range(classes):
                    state.latent[k, i] = work.other[k, i]
        _block(rng, state, work, settings, mean, spread)
        for k in range(classes):
            for a in range(m):
                square = state.coefficients[k, a] ** 2 / state.noise[0]
                state.precisions[k, a] = rng.standard_gamma(1.5) / (1.0 + 0.5 * square)
        np.dot(state.coefficients, settings.design, work.rows)
        if sweep >= tune:
            store(state, work.rows, settings, draws, sweep - tune)


@jit
def _draw_many(rng, tilts, out):
    for i in range(tilts.shape[0]):
        out[i] = draw_polya_gamma(rng, tilts[i])


@jit
def _sweep_many(rng, state, work, settings, count):
    for _ in range(count):
        _sweep(rng, state, work, settings, False)


@jit
def _sweep_many_least_squares(rng, state, work, settings, count):
    for _ in range(count):
        _sweep_least_squares(rng, state, work, settings, False)


def _run(name: str, sampler: Any, rng: Any, state: Any, draws: Any, plan: Plan) -> None:
    """Run one chain of a sampler by name."""
    work = sampler.open(state)
    if name.endswith("walk"):
        _walk_sweeps(rng, state, work, sampler.settings, draws, plan.sweeps, plan.tune)
    else:
        sampler.advance((rng, rng), state, work, draws, plan.sweeps, plan, True)


def _mixing(sweeps: int) -> list[Row]:
    features, labels = make_spectra(117, 1050)
    (kernel,) = resolve_kernels("rbf", "mean_distance", features)
    columns = project_training(kernel, features, 30).training
    unit = columns / np.sqrt(np.mean(np.sum(columns**2, axis=1)))
    paper = Priors(model="latent_noise", reference=True, precision=(1.0, 1.0))
    rows: list[Row] = []
    for name, design, priors in (
        ("noise-free", unit, Priors()),
        ("least squares", unit, Priors(model="least_squares", scale=20.0)),
        ("latent noise, slice and scale", columns, paper),
        ("latent noise, random walk", columns, paper),
    ):
        sampler = KernelProjectionSampler([design], labels, 4, priors, n_monitored=20)
        plan = Plan(sweeps // 2, sweeps, 1)
        chains, spent = [], 0.0
        for chain in range(4):
            rng = np.random.default_rng(chain)
            state, draws = sampler.start(rng, chain), sampler.allocate(plan)

            if chain == 0:  # compile
                first = np.random.default_rng(9)
                other = sampler.start(first, 0)
                _run(name, sampler, first, other, sampler.allocate(plan), plan)
            spent += seconds(partial(_run, name, sampler, rng, state, draws, plan))
            chains.append(draws.monitored)
        series = {str(q): np.stack([c[:, q] for c in chains]) for q in range(20)}
        found = list(effective_samples(series).values())
        rows.append({
            "part": "mixing", "case": name, "ESS per second": float(np.median(found)) / spent,
            "ESS per sweep": float(np.median(found)) / (4 * sweeps),
            "largest R-hat": max(r_hats(series).values()),
        })  # fmt: skip
    for row in rows:
        row["over random walk"] = row["ESS per second"] / rows[-1]["ESS per second"]  # type: ignore[operator]
    return rows


def _draw_and_multiply(rng, tilts, out, design, latent, product, repeats) -> None:
    """Carry out what no sweep can do without."""
    for _ in range(repeats):
        _draw_many(rng, tilts, out)
        np.dot(design, latent.T, out=product)


def _sweep_cost(repeats: int) -> list[Row]:
    rows: list[Row] = []
    for n, classes in ((43, 4), (117, 4), (300, 10), (900, 10)):
        features, labels = make_spectra(n, 200)
        labels = np.arange(n) % classes
        (kernel,) = resolve_kernels("rbf", "mean_distance", features)
        columns = project_training(kernel, features, 30).training
        columns = columns / np.sqrt(np.mean(np.sum(columns**2, axis=1)))
        sampler = KernelProjectionSampler([columns], labels, classes, Priors())
        other = KernelProjectionSampler(
            [columns], labels, classes, Priors(model="least_squares", scale=20.0)
        )
        rng = np.random.default_rng(0)
        state = sampler.start(rng, 0)
        work, settings = sampler.open(state), sampler.settings
        _sweep_many(rng, state, work, settings, 200)
        tilts = state.latent.ravel().copy()
        out = np.empty_like(tilts)
        _draw_many(rng, tilts, out)
        product = np.empty((len(settings.design), classes))
        responses = other.start(rng, 0)
        space = other.open(responses)
        _sweep_many_least_squares(rng, responses, space, other.settings, 200)
        ours, theirs, floor = [], [], []
        for _ in range(5):  # interleaved, the best of each: others share the machine
            ours.append(seconds(partial(_sweep_many, rng, state, work, settings, repeats)))
            arguments = (rng, responses, space, other.settings, repeats)
            theirs.append(seconds(partial(_sweep_many_least_squares, *arguments)))
            parts = (rng, tilts, out, settings.design, state.latent, product, repeats)
            floor.append(seconds(partial(_draw_and_multiply, *parts)))
        rows.append({
            "part": "sweep", "case": f"n = {n}, {classes} classes",
            "microseconds": 1e6 * min(ours) / repeats, "over floor": min(ours) / min(floor),
            "least squares over floor": min(theirs) / min(floor),
        })  # fmt: skip
    return rows


def _search_cost(quick: bool) -> list[Row]:
    features, labels = make_spectra(117, 1050)
    short: dict[str, Any] = {"draws": 1000}
    if quick:
        short = {"draws": 50, "tune": 50, "search": ProjectionSearchOptions(draws=50)}
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, size in (("one fit", None), ("15 sizes x 10 splits", "utility")):
            model = KernelProjectionClassifier(
                length_scale="mean_distance", prediction=ProjectionPrediction(sharpness=1.0),
                progress=False, random_state=0, n_components=size, **short,
            )  # fmt: skip
            spent = seconds(partial(model.fit, features, labels))
            rows.append({
                "part": "search", "case": name, "seconds": spent,
                "largest R-hat": float(model.diagnostics_["r_hat"].max()),
            })  # fmt: skip
    return rows


def fit_wide() -> None:
    """Fit p = 50,000, n = 200 and print the largest resident memory in MiB."""
    features, labels = make_spectra(200, 50_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KernelProjectionClassifier(
            draws=100,
            tune=100,
            search=ProjectionSearchOptions(draws=50),
            progress=False,
            random_state=0,
        ).fit(features, labels).predict_proba(features[:20])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(quick: bool) -> list[Row]:
    rows = _mixing(200 if quick else 10_000)
    rows += _sweep_cost(20 if quick else 200)
    rows += _search_cost(quick)
    if not quick:
        code = "import kernel_projection_speed; kernel_projection_speed.fit_wide()"
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            cwd=__file__.rpartition("/")[0],
        )  # fmt: skip
        rows.append({
            "part": "memory", "case": "n = 200, p = 50,000", "MiB": float(done.stdout.split()[-1])
        })  # fmt: skip
    return rows
