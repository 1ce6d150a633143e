"""The whole fit of an additive model: its form, several starts, sparsity, dead parts dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..latent import Latent
from .ascent import LEAST, Ascent, Schedule, ascend, revive
from .bound import AdditivePriors, Model, Scales
from .forms import Form, KernelForm, column_form
from .posterior import AdditivePosterior, Block, make_posterior
from .whitening import Whitening

Report = Callable[[], None]
_SHORT = 15  # iterations by which starts are compared
_ROUNDS = 8  # of dropping what is dead, with sample sparsity, and of revivals
_SMOOTHINGS = 10  # of the latent outputs between steps of the scales
_STEPS = 4  # iterations of the scales between those
_SMALL = 1e-2  # the same for kernels that rows are chosen for: a narrow one would fit the noise
_FELT = 0.1  # loss of log evidence above which a small kernel stays
_NEGLIGIBLE = 1e-4  # variance, of the targets, below which a kernel or a row is dead


@dataclass(frozen=True)
class FittedAdditive:
    """The best fit found.

    Attributes
    ----------
    posterior : AdditivePosterior
    bound : float
    path : ndarray
        Bound after every iteration.
    stages : tuple of int
        Iterations done when priors changed or dead parts were dropped.
    converged : bool
    fitted : ndarray of shape (N, L)
    """

    posterior: AdditivePosterior
    bound: float
    path: np.ndarray
    stages: tuple[int, ...]
    converged: bool
    fitted: np.ndarray


@dataclass
class _State:
    """Where a fit is."""

    model: Model
    scales: Scales
    targets: np.ndarray
    kernels: np.ndarray
    rows: np.ndarray | None
    path: list[float]
    stages: list[int]
    converged: bool = False
    bound: float = -np.inf

    def take(self, ascent: Ascent) -> None:
        """Go to where an ascent ended."""
        self.scales, self.bound = ascent.scales, ascent.bound
        self.path += ascent.path
        self.converged = ascent.converged


def build_form(
    cross: Block, n_kernels: int, vectors: np.ndarray | None, bias_variance: float
) -> tuple[Form, np.ndarray, np.ndarray, list[Whitening] | None]:
    """Return the form, whose kernel each component is, ranks, and features.

    ``cross(m)`` is kernel m between all rows and the vectors (None: all rows).
    """
    blocks, whitenings = [], []
    if vectors is None:
        first = cross(0)
        n = len(first)
        kernels = np.empty((n_kernels, n, n))
        kernels[0] = first
        for m in range(1, n_kernels):
            kernels[m] = cross(m)
        total = 0
        for kernel in kernels:
            whitenings.append(Whitening.of(kernel))
            total += len(whitenings[-1].pivots)
            if total >= n:  # from rows it is then
                ranks = np.full(n_kernels, n)
                return KernelForm(kernels, bias_variance), np.arange(n_kernels), ranks, None
        blocks = [w.features(kernel) for w, kernel in zip(whitenings, kernels, strict=True)]
        del kernels
    else:
        for m in range(n_kernels):
            block = cross(m)
            whitenings.append(Whitening.of(block[vectors]))
            blocks.append(whitenings[-1].features(block))
    ranks = np.array([len(w.pivots) for w in whitenings])
    form = column_form(np.hstack(blocks), bias_variance)
    return form, np.repeat(np.arange(n_kernels), ranks), ranks, whitenings


def fit_additive(
    cross: Block,
    n_kernels: int,
    vectors: np.ndarray | None,
    targets: np.ndarray | Latent,
    priors: AdditivePriors,
    schedule: Schedule,
    *,
    kernel_sparsity: bool,
    sample_sparsity: bool,
    bias_variance: float,
    n_init: int,
    rng: np.random.Generator,
    report: Report | None = None,
) -> FittedAdditive:
    """Fit from several starts; sample sparsity by continuation from a fit without it.

    With ``kernel_sparsity`` kernels that the fit does not need are left out in the end.
    """
    form, kernel_of, ranks, whitenings = build_form(cross, n_kernels, vectors, bias_variance)
    latent = None if isinstance(targets, np.ndarray) else targets
    values = targets if isinstance(targets, np.ndarray) else targets.start()
    model = Model(form, kernel_of, None, ranks, priors, learn_noise=latent is None)
    best: _State | None = None
    for number in range(n_init):
        spread = 1.5 * rng.standard_normal(n_kernels) if number else np.zeros(n_kernels)
        noise = np.full(values.shape[1], 1.0 if latent else 0.5)
        scales = Scales(0.5 / n_kernels * np.exp(spread), None, noise)
        state = _State(model, scales, values, np.arange(n_kernels), None, [], [])
        short = replace(schedule, max_iter=min(_SHORT, schedule.max_iter))
        _advance(state, latent, schedule if n_init == 1 else short, report)
        if best is None or state.bound > best.bound:
            best = state
    assert best is not None
    if n_init > 1 and schedule.max_iter > _SHORT:
        _advance(best, latent, replace(schedule, max_iter=schedule.max_iter - _SHORT), report)
    _look_for_missed(best, latent, schedule, report)
    components, owner = best.model.component_scales(best.scales), best.model.kernel_of
    kept = np.ones(n_kernels, bool)
    if kernel_sparsity:
        kept = _alive(components, owner, n_kernels, _SMALL if sample_sparsity else _NEGLIGIBLE)
        _leave_out_idle(best, kept)
    if sample_sparsity:
        _to_sparse_samples(best, cross, vectors, kept, bias_variance, latent, schedule, report)
        whitenings = None
    elif not kept.all():
        _drop(best, kept, None, latent)
        if whitenings is not None:
            whitenings = [w for w, alive in zip(whitenings, kept, strict=True) if alive]
    posterior = make_posterior(
        best.model, best.scales, best.targets, best.kernels, best.rows, whitenings
    )
    fitted = best.model.evaluate(best.scales, best.targets)[2].fitted
    return FittedAdditive(
        posterior, best.bound, np.array(best.path), tuple(best.stages), best.converged, fitted
    )


def _advance(
    state: _State, latent: Latent | None, schedule: Schedule, report: Report | None
) -> None:
    """Ascend, latent outputs included."""
    if latent is None:
        state.take(ascend(state.model, state.scales, state.targets, schedule, report))
        return
    steps = replace(schedule, max_iter=_STEPS)
    before = None
    for _ in range(0, schedule.max_iter, _STEPS):
        smooth = state.model.form.smoother(state.model.component_scales(state.scales))
        for _ in range(_SMOOTHINGS):
            state.targets, part = latent.step(smooth(state.targets))
        found = ascend(state.model, state.scales, state.targets, steps, report)
        state.scales, state.bound = found.scales, found.bound + part
        gain = state.bound - state.path[-1] if state.path else np.inf
        state.path.append(state.bound)
        fitted = found.inner.fitted
        if before is not None:
            change = np.max(np.abs(fitted - before))
            if change < schedule.tolerance and gain < schedule.bound_tolerance * abs(state.bound):
                state.converged = True
                return
        before = fitted
    state.converged = False


def _look_for_missed(
    state: _State, latent: Latent | None, schedule: Schedule, report: Report | None
) -> None:
    """Give kernels that died too early another chance, as long as the bound gains by it."""
    for _ in range(_ROUNDS):
        bound, _, inner = state.model.evaluate(state.scales, state.targets)
        here = Ascent(state.scales, bound, inner, [], state.converged)
        found = revive(state.model, here, state.targets)
        if found is None:
            return
        state.scales = found
        _advance(state, latent, schedule, report)


def _alive(
    components: np.ndarray, owner: np.ndarray, count: int, limit: float = _NEGLIGIBLE
) -> np.ndarray:
    largest = np.zeros(count)
    np.maximum.at(largest, owner, components)
    return largest > limit * max(float(components.max(initial=0.0)), 1.0)


def _leave_out_idle(state: _State, kept: np.ndarray) -> None:
    """Take small kernels off the mask, the smallest first, whose loss is not felt."""
    size = state.scales.kernel.copy()
    size[~kept] = LEAST
    value = state.model.evaluate(replace(state.scales, kernel=size), state.targets)[2].value
    for kernel in np.argsort(size):
        if not kept[kernel] or size[kernel] > _SMALL * max(float(size.max()), 1.0):
            continue
        trial = size.copy()
        trial[kernel] = LEAST
        found = state.model.evaluate(replace(state.scales, kernel=trial), state.targets)[2].value
        if found > value - _FELT:
            size, value, kept[kernel] = trial, found, False


def _drop(
    state: _State, kernels: np.ndarray, rows: np.ndarray | None, latent: Latent | None
) -> None:
    """Leave dead kernels and rows out; the bound begins anew as that of a smaller model."""
    state.model = state.model.restricted(kernels, rows)
    state.scales = state.scales.restricted(kernels, rows)
    state.kernels = state.kernels[kernels]
    if rows is not None and state.rows is not None:
        state.rows = state.rows[rows]
    state.stages.append(len(state.path))
    bound, _, inner = state.model.evaluate(state.scales, state.targets)
    if latent is not None:
        state.targets, part = latent.step(inner.fitted)
        bound = state.model.evaluate(state.scales, state.targets)[0] + part
    state.bound = bound
    state.path.append(bound)


def _to_sparse_samples(
    state: _State,
    cross: Block,
    vectors: np.ndarray | None,
    kept: np.ndarray,
    bias_variance: float,
    latent: Latent | None,
    schedule: Schedule,
    report: Report | None,
) -> None:
    """Go over to a precision for every row, from the kernels found without it."""
    names = np.flatnonzero(kept)
    blocks = [cross(int(m)) for m in names]
    if not blocks:
        blocks, names = [cross(0)], np.arange(1)
    width = blocks[0].shape[1]
    kernel_of = np.repeat(np.arange(len(names)), width)
    row_of = np.tile(np.arange(width), len(names))
    form = column_form(np.hstack(blocks), bias_variance)
    # K' diag(1/tau) K / lambda has the size of K / lambda at first
    sizes = [float(np.mean(np.sum(block**2, axis=1))) for block in blocks]
    own = [
        float(np.mean(np.diag(block if vectors is None else block[vectors]))) for block in blocks
    ]
    start = state.scales.kernel[names] * np.array(own) / np.array(sizes)
    state.model = replace(
        state.model, form=form, kernel_of=kernel_of, row_of=row_of,
        ranks=np.full(len(names), width), priors=state.model.priors.restricted(names),
    )  # fmt: skip
    state.scales = Scales(np.maximum(start, 1e-8), np.ones(width), state.scales.noise)
    state.kernels, state.rows = names, np.arange(width)
    state.stages.append(len(state.path))
    for _ in range(_ROUNDS):
        _advance(state, latent, schedule, report)
        components = state.model.component_scales(state.scales)
        assert state.model.row_of is not None
        kernels = _alive(components, state.model.kernel_of, len(state.kernels))
        rows = _alive(components, state.model.row_of, len(state.rows))
        if kernels.all() and rows.all():
            return
        if not kernels.any():  # nothing is left but the bias: keep one column for its face
            kernels[np.argmax(state.scales.kernel)] = True
            rows[0] = True
        _drop(state, kernels, rows, latent)
        if state.converged:
            return
