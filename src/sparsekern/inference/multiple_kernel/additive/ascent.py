"""Ascent of the bound over the scales of kernels, samples and noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from .bound import Model, Scales
from .forms import Evaluation

LEAST, MOST = 1e-9, 1e8  # of a scale; kernels and targets are of size one
_LEAST_NOISE = 1e-9
_LOOK_EVERY = 5  # iterations between looks at the fitted values
_DEAD = 1e-6  # scale under which a kernel has no part in the fit
_REVIVALS = (1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class Schedule:
    """How long to go on.

    Attributes
    ----------
    max_iter : int
    tolerance : float
        Change of the fitted values, in deviations of the targets, at which a fit ends...
    bound_tolerance : float
        ...provided that the bound gains less than this share of its size, too.
    """

    max_iter: int = 300
    tolerance: float = 1e-3
    bound_tolerance: float = 1e-6


class _Climb:
    """The bound as the optimiser sees it, with a memory of the last point."""

    def __init__(self, model: Model, scales: Scales, targets: np.ndarray) -> None:
        self.model, self.scales, self.targets = model, scales, targets
        self.point = np.empty(0)
        self.inner: Evaluation | None = None

    def __call__(self, logs: np.ndarray) -> tuple[float, np.ndarray]:
        bound, slope, self.inner = self.model.evaluate(self.scales.unpacked(logs), self.targets)
        self.point = logs.copy()
        return -bound, -slope

    def fitted(self, logs: np.ndarray) -> np.ndarray:
        if self.inner is None or not np.array_equal(logs, self.point):
            self(logs)
        assert self.inner is not None
        return self.inner.fitted


@dataclass(frozen=True)
class Ascent:
    """Where an ascent ended."""

    scales: Scales
    bound: float
    inner: Evaluation
    path: list[float]
    converged: bool


def ascend(
    model: Model,
    scales: Scales,
    targets: np.ndarray,
    schedule: Schedule,
    report: Callable[[], None] | None = None,
) -> Ascent:
    """Raise the bound by a quasi-Newton method; no accepted iteration lowers it."""
    climb = _Climb(model, scales, targets)
    path: list[float] = []
    seen = [climb.fitted(scales.pack(model.learn_noise))]
    rested = False

    def look(intermediate_result) -> None:
        nonlocal rested
        if report is not None:
            report()
        path.append(-float(intermediate_result.fun))
        if len(path) % _LOOK_EVERY:
            return
        after = climb.fitted(intermediate_result.x)
        gain = path[-1] - path[-1 - _LOOK_EVERY] if len(path) > _LOOK_EVERY else np.inf
        change = np.max(np.abs(after - seen[0]))
        seen[0] = after
        if change < schedule.tolerance and gain < schedule.bound_tolerance * abs(path[-1]):
            rested = True
            raise StopIteration

    start = scales.pack(model.learn_noise)
    low, high = np.full(len(start), np.log(LEAST)), np.full(len(start), np.log(MOST))
    if model.learn_noise:
        low[-len(scales.noise) :] = np.log(_LEAST_NOISE)
    found = minimize(
        climb,
        np.clip(start, low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        callback=look,
        options={"maxiter": schedule.max_iter, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-7,
                 "maxfun": 4 * schedule.max_iter + 20},
    )  # fmt: skip
    end = scales.unpacked(found.x)
    bound, _, inner = model.evaluate(end, targets)
    finished = rested or (found.status != 1 and len(path) < schedule.max_iter)
    return Ascent(end, bound, inner, path, bool(finished))


def revive(model: Model, ascent: Ascent, targets: np.ndarray) -> Scales | None:
    """Return scales of a higher bound in which a dead kernel lives, if there is one.

    On a logarithmic scale the bound is flat where a kernel has no part, so that one that died too
    early would stay dead; its derivative by the scale itself shows whether it is missed.
    """
    scales, components = ascent.scales, model.component_scales(ascent.scales)
    share = components / np.maximum(scales.kernel[model.kernel_of], LEAST)
    by_scale = np.bincount(model.kernel_of, share * ascent.inner.slope, len(scales.kernel))
    missed = (scales.kernel < _DEAD) & (by_scale > 0)
    best, found = ascent.bound, None
    for kernel in np.flatnonzero(missed)[np.argsort(-by_scale[missed])][:3]:
        for size in _REVIVALS:
            values = scales.kernel.copy()
            values[kernel] = size
            trial = Scales(values, scales.sample, scales.noise)
            bound = model.evaluate(trial, targets)[0]
            if bound > best + 1e-6 * abs(best):
                best, found = bound, trial
    return found
