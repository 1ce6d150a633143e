"""Fits by evidence, one for each width: parameters, candidates, memory, threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, warn_caller
from ..._memory import require_memory
from ..._threads import count_workers, single_blas_thread
from ...inference.feature_search.subsample import spread_rows
from ...inference.vector_machine.classification import BLOCK_SIZE, Candidates, find_candidates
from ...inference.vector_machine.columns import HELD_NUMBERS
from ...inference.vector_machine.width_average import WidthAverage, fit_held_out
from ...kernels.resolve import Kernel
from ...settings.limits import check_jobs
from ..shared.candidates import resolve_candidates
from ..shared.progress import watch
from .kernel_widths import check_length_scale

_ENGINE = "vector_machine"
_FOLDS = 5
_USUAL_MODEL = 200  # vectors
_USUAL_STEPS = 300  # of a fit; after this number half of it is taken to be done
Fit = Callable[..., Any]  # of a kernel, rows, responses and candidates; tells ``report``


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that cannot be."""
    for name in ("priors", "search"):
        estimator._group(name)
    check_length_scale(estimator.length_scale)
    check_flag("standardize", estimator.standardize)
    check_choice("progress", estimator.progress, ("auto", True, False))
    check_jobs(estimator.n_jobs)


def common_options(estimator: Any, least_gain: float) -> dict[str, Any]:
    """Return what every engine is told; ``least_gain`` is the default of ``min_gain``."""
    search = estimator._group("search")
    return {
        "min_gain": least_gain if search.min_gain is None else search.min_gain,
        "bias_precision": 1.0 / estimator._group("priors").intercept,
        "max_steps": search.max_steps,
        "single": search.kernel_precision == "single",
    }


# candidates


def _count_candidates(estimator: Any, n: int) -> int:
    """Return how many rows ``candidates=None`` looks at: their columns can be held."""
    least, numbers = estimator._candidate_numbers
    return min(n, max(least, numbers // n))


def say_sample(estimator: Any, n: int) -> None:
    """Say so where only some of many rows may become active."""
    count = _count_candidates(estimator, n)
    if estimator.candidates is None and count < n:
        warn_caller(
            f"{type(estimator).__name__} lets {count} of the {n} rows become active, a random "
            "sample spread over y, to save time and memory. Set candidates, "
            f"for example candidates={count // 2} to be quicker, or fit to fewer rows."
        )


def choose_candidates(
    estimator: Any, features: np.ndarray, response: np.ndarray, signed: bool
) -> Candidates:
    """Return the rows that may become active, in the order in which they are looked at.

    Parameters
    ----------
    estimator : Estimator
    features : ndarray of shape (n, p)
    response : ndarray of shape (n,)
    signed : bool
        Whether columns carry the label of their row.
    """
    rng, precomputed = check_random_state(estimator.random_state), estimator._is_precomputed()
    rows = resolve_candidates(estimator.candidates, features, precomputed, rng, estimator._row_map)
    if rows is None:
        count = _count_candidates(estimator, len(features))
        rows = np.arange(len(features))
        if estimator.candidates is None and count < len(rows):
            rows = spread_rows(response, count, rng)
    # a precomputed matrix holds columns of the design as its columns
    table = features.T if precomputed else features
    found = find_candidates(table, response if signed else None, rows)
    if len(found.rows) > BLOCK_SIZE:  # blocks of neighbours would be poor samples of all rows
        found = found.reordered(rng.permutation(len(found.rows)))
    return found


# memory


def _require_room(estimator: Any, n: int, candidates: int) -> None:
    """Refuse columns that cannot be held."""
    workers = count_workers(estimator.n_jobs, estimator._group("search").n_length_scales)
    require_memory(
        workers * _bytes_of_a_fit(estimator, n, candidates),
        type(estimator).__name__,
        f"{candidates} columns of {n} rows in each of {workers} fits at a time",
        f"use candidates={max(1, candidates // 4)}, fewer n_jobs or a sample of the rows",
    )


def _bytes_of_a_fit(estimator: Any, n: int, candidates: int) -> float:
    """Return what a fit holds at its peak: columns outside the model, and those inside."""
    size = 4 if estimator._group("search").kernel_precision == "single" else 8
    block = min(candidates, BLOCK_SIZE) * n
    inside = 8.0 * 3 * min(_largest_model(estimator, candidates), _USUAL_MODEL) * n
    if candidates * n > HELD_NUMBERS:  # blocks are made again and again
        held = size * 3 * block + inside
    else:
        held = size * candidates * n + max(8 * 2 * block, inside)  # made once, then the fit
    if getattr(estimator, "inference", None) in ("em", "mcmc"):
        # all candidates at once: columns and Gram matrices
        held += 8.0 * (candidates + 1) * (2 * n + 3 * candidates)
    return held


def _largest_model(estimator: Any, n_candidates: int) -> int:
    most = estimator._group("search").max_active
    return n_candidates if most is None else min(most, n_candidates)


# fits


def average_widths(
    estimator: Any,
    make_fit: Callable[[int], Fit],
    kernels: list[Kernel],
    features: np.ndarray,
    responses: list[np.ndarray],
    signed: bool = False,
    callbacks: bool = True,
) -> list[WidthAverage]:
    """Fit every response at every width, and weigh the widths of each.

    Parameters
    ----------
    estimator : Estimator
    make_fit : callable
        Returns what fits one model, given the largest number of its vectors.
    kernels : list of Kernel
        One for each width.
    features : ndarray of shape (n, p)
    responses : list of ndarray of shape (n,) or (n, outputs)
    signed : bool
        Whether columns carry the label of their row.
    callbacks : bool
        Whether scikit-learn's callbacks are told about these fits.
    """
    tasks: list[Fit] = []
    ends = [0]  # a rare class has fewer folds, and so fewer tasks
    for response in responses:
        first = response if response.ndim == 1 else response[:, 0]
        candidates = choose_candidates(estimator, features, first, signed)
        _require_room(estimator, len(features), len(candidates.rows))
        fit = make_fit(_largest_model(estimator, len(candidates.rows)))
        tasks += [partial(fit, kernel, features, response, candidates) for kernel in kernels]
        if len(kernels) > 1 and estimator.length_scale == "cv":  # one leaves nothing to choose
            tasks += [
                partial(fit_held_out, fit, kernel, features, response, candidates, fold)
                for fold in _make_folds(estimator, response)
                for kernel in kernels
            ]
        ends.append(len(tasks))
    found = _run(estimator, tasks, callbacks)
    averages = []
    for start, end in pairwise(ends):
        middle = start + len(kernels)
        averages.append(
            WidthAverage.by_rule(estimator.length_scale, found[start:middle], found[middle:end])
        )
    _warn_unless_finished(estimator, averages)
    return averages


def _make_folds(estimator: Any, response: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    most = len(response)
    if is_classifier(estimator):
        most = int(np.unique(response, return_counts=True)[1].min())
        if most < 2:
            raise ValueError(
                "length_scale='cv' needs at least two rows of every class; use 'averaged'."
            )
    kind = StratifiedKFold if is_classifier(estimator) else KFold
    seed = check_random_state(estimator.random_state).randint(2**31 - 1)
    folds = kind(min(_FOLDS, most), shuffle=True, random_state=seed)
    return list(folds.split(response, response))


def _run(estimator: Any, tasks: list[Fit], callbacks: bool) -> list[Any]:
    """Carry out independent fits, ``n_jobs`` at a time; Ctrl-C ends them all."""
    ended, unfinished = threading.Event(), set(range(len(tasks)))

    def carry_out(number: int) -> Any:
        steps = 0

        def report() -> None:
            nonlocal steps
            steps += 1
            if ended.is_set():
                raise KeyboardInterrupt
            tell(steps / (steps + _USUAL_STEPS))  # nobody knows how many steps there will be

        def tell(fraction: float) -> None:
            if watched(number, fraction) and unfinished:
                raise RuntimeError(
                    f"A callback ended {type(estimator).__name__} before its {len(tasks)} fits "
                    "were done, and there is nothing to keep; let it run longer."
                )

        found = tasks[number](report=report)
        unfinished.discard(number)
        tell(1.0)
        return found

    with (
        watch(estimator, "fits", len(tasks), [_ENGINE], callbacks=callbacks) as watched,
        single_blas_thread(),
    ):
        return _carry_out_all(carry_out, len(tasks), estimator.n_jobs, ended)


def _carry_out_all(
    carry_out: Callable[[int], Any], count: int, n_jobs: int | None, ended: threading.Event
) -> list[Any]:
    """Return the results of all fits; when one fails the others are told that it has ended."""
    workers = count_workers(n_jobs, count)
    if workers == 1:
        return [carry_out(number) for number in range(count)]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(carry_out, number) for number in range(count)]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            ended.set()
        for future in done:  # the fit that failed is heard, not those that it ends
            future.result()
        return [future.result() for future in futures]


def _warn_unless_finished(estimator: Any, averages: list[WidthAverage]) -> None:
    converged = [fit.converged for average in averages for _, fit in average.kept]
    missed = converged.count(False)
    if missed:
        most = estimator._group("search").max_steps
        warn_caller(
            f"{missed} of {len(converged)} fits ended after max_steps={most} steps, while there "
            "was still something to gain; raise max_steps, for instance by "
            f"set_params(search__max_steps={2 * most}), raise min_gain, or narrow "
            "length_scale_range from below.",
            ConvergenceWarning,
        )
