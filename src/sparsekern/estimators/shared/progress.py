"""Progress of fits: scikit-learn's callbacks, and a plain line for everybody else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._jit import is_compiled, mark_compiled
from ..._progress import QuietStream, SearchProgress, TextProgress, is_terminal

_STEPS = 100  # progress is reported in per cent


class Reporter:
    """Tells everybody how far a fit is; any thread may call it."""

    def __init__(self, text: TextProgress | None, told: _Callbacks | None) -> None:
        self._text, self._told, self._lock = text, told, threading.Lock()
        self._reach = 1.0

    def __call__(self, number: int, fraction: float) -> bool:
        """Report what share of its way one of the things counted has gone.

        Returns whether a callback asks for the end.
        """
        with self._lock:
            if self._text is not None:
                self._text.update(number, fraction)
            return self._told is not None and self._told.update(number, self._reach * fraction)

    def begin_round(self, reach: float) -> None:
        """Begin a round that ends after this share of the longest that there can be.

        A person sees how far the round is; callbacks are told shares of the longest way.
        """
        with self._lock:
            if self._text is not None:
                self._text.begin_round(self._reach / reach)
            self._reach = reach

    def say(self, note: str) -> None:
        """Add a few words to the line about progress."""
        if self._text is not None:
            self._text.note = note


def announce_compilation(name: str, engines: list[str]) -> None:
    """Say that the first fit of its kind on this machine waits for the compiler."""
    if not all(is_compiled(engine) for engine in engines):
        QuietStream().write_line(
            f"{name}: compiling for this machine; this happens once and takes up to a minute."
        )


def wants_text(estimator: Any) -> bool:
    """Tell whether the plain line is to be shown: never beside callbacks that the user has set."""
    if getattr(estimator, "_skl_callbacks", None):
        return False
    return is_terminal(sys.stderr) if estimator.progress == "auto" else bool(estimator.progress)


@contextmanager
def watch(
    estimator: Any, what: str, count: int, engines: list[str], *, callbacks: bool = True
) -> Iterator[Reporter]:
    """Yield what tells everybody how far a fit is.

    Parameters
    ----------
    estimator : Estimator
    what : str
        What is counted, such as ``"chains"``.
    count : int
        How many of them run.
    engines : list of str
        What is compiled when they run for the first time.
    callbacks : bool
        Whether this is the part of a fit that callbacks are told about; there is one only.

    Yields
    ------
    Reporter
        ``report(number, fraction)``; true: a callback asks for the end. Any thread may call it.
    """
    name = type(estimator).__name__
    label = name if count == 1 else f"{name}: {count} {what}"
    text = TextProgress(label, count) if wants_text(estimator) else None
    if estimator.progress is not False:
        announce_compilation(name, engines)
    heard = callbacks and getattr(estimator, "_skl_callbacks", None)
    told = _Callbacks(estimator, what, count) if heard else None
    try:
        yield Reporter(text, told)
    finally:
        if told is not None:
            told.close()
        if text is not None:
            text.close()
    for engine in engines:
        mark_compiled(engine)


@contextmanager
def watch_search(estimator: Any, engines: list[str]) -> Iterator[Callable[[Any], bool]]:
    """Yield what tells everybody where a search is; nobody knows when it will end.

    Callbacks are told about every step; one that asks for the end gets it.
    """
    text = SearchProgress(type(estimator).__name__) if wants_text(estimator) else None
    if estimator.progress is not False:
        announce_compilation(type(estimator).__name__, engines)
    root = None
    if getattr(estimator, "_skl_callbacks", None):
        root = estimator._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=estimator)

    def report(best: Any) -> bool:
        if text is not None:
            text.update(best)
        if root is None:
            return False
        step = root.subcontext(task_name="neighbourhood")
        step.call_on_fit_task_begin(estimator=estimator)
        return bool(step.call_on_fit_task_end(estimator=estimator))

    try:
        yield report
    finally:
        if root is not None:
            root.call_on_fit_task_end(estimator=estimator)
        if text is not None:
            text.close()
    for engine in engines:
        mark_compiled(engine)


class _Callbacks:
    """Tell scikit-learn's callbacks.

    The root task has a subtask for each thing counted, and each of those a hundred leaf tasks, one
    per cent.
    """

    def __init__(self, estimator: Any, what: str, count: int) -> None:
        self._estimator, self._what = estimator, what.removesuffix("s")
        self._root = estimator._init_callback_context(max_subtasks=count, sequential_subtasks=False)
        self._root.call_on_fit_task_begin(estimator=estimator)
        self._parts: list[Any] = [None] * count
        self._done = [0] * count

    def update(self, number: int, fraction: float) -> bool:
        """Report; return whether a callback asks for the end."""
        stop, estimator = False, self._estimator
        context = self._parts[number]
        if context is None:
            context = self._root.subcontext(
                task_name=self._what, task_id=number, max_subtasks=_STEPS
            )
            self._parts[number] = context
            context.call_on_fit_task_begin(estimator=estimator)
        while self._done[number] < int(_STEPS * fraction):
            step = context.subcontext(task_name="percent")
            step.call_on_fit_task_begin(estimator=estimator)
            stop |= bool(step.call_on_fit_task_end(estimator=estimator))
            self._done[number] += 1
        if self._done[number] == _STEPS:
            self._done[number] += 1  # so that the end is told once
            stop |= bool(context.call_on_fit_task_end(estimator=estimator))
        return stop

    def close(self) -> None:
        """Tell everybody that the fit is over, and what had begun with it."""
        for context, done in zip(self._parts, self._done, strict=True):
            if context is not None and done <= _STEPS:
                context.call_on_fit_task_end(estimator=self._estimator)
        self._root.call_on_fit_task_end(estimator=self._estimator)
