"""Progress of sampling: scikit-learn's callbacks, and a plain line for everybody else."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, TextIO

from ..._jit import is_compiled
from .quiet_stream import QuietStream, is_terminal

_SHOW_AFTER_SECONDS = 2.0
_STEPS = 100  # progress is reported in per cent


def announce_compilation(name: str, engines: list[str]) -> None:
    """Say that the first fit of its kind on this machine waits for the compiler."""
    if not all(is_compiled(engine) for engine in engines):
        QuietStream().write_line(
            f"{name}: compiling for this machine; this happens once and takes up to a minute."
        )


class TextProgress:
    """One line on the error stream, shown once a fit has taken two seconds."""

    def __init__(self, label: str, n_chains: int, stream: TextIO | None = None) -> None:
        self._label, self._stream = label, QuietStream(stream)
        self._fractions = [0.0] * n_chains
        self._begin = time.monotonic()
        self._last = -math.inf
        self._shown = False

    def update(self, chain: int, fraction: float) -> None:
        """Take note of how far a chain is, and show it if it is time to."""
        self._fractions[chain] = fraction
        now = time.monotonic()
        spent = now - self._begin
        pause = 0.2 if self._stream.on_terminal else 5.0
        if spent < _SHOW_AFTER_SECONDS or now - self._last < pause:
            return
        self._last = now
        share = sum(self._fractions) / len(self._fractions)
        left = f", {spent * (1 - share) / share:.0f} s left" if share > 0.02 else ""
        bar = "#" * int(30 * share)
        self._stream.write_over(f"{self._label} [{bar:<30}] {share:4.0%}  {spent:.0f} s{left}")
        self._shown = True

    def close(self) -> None:
        """End the line."""
        if self._shown:
            spent = time.monotonic() - self._begin
            share = sum(self._fractions) / len(self._fractions)
            bar = "#" * int(30 * share)
            self._stream.write_over(f"{self._label} [{bar:<30}] {share:4.0%}  {spent:.0f} s")
            self._stream.end_line()


def wants_text(progress: Any, has_callbacks: bool) -> bool:
    """Tell whether the plain line is to be shown: never beside callbacks that the user has set."""
    if has_callbacks:
        return False
    return is_terminal(sys.stderr) if progress == "auto" else bool(progress)


class FitReporter:
    """Pass progress on to scikit-learn's callbacks and to the plain line.

    The root task has one subtask per chain, and each of those a hundred leaf tasks, one per cent.
    """

    def __init__(self, estimator: Any, n_chains: int, text: TextProgress | None) -> None:
        self._estimator, self._text = estimator, text
        self._root = estimator._init_callback_context(
            max_subtasks=n_chains, sequential_subtasks=False
        )
        self._root.call_on_fit_task_begin(estimator=estimator)
        self._chains: list[Any] = [None] * n_chains
        self._done = [0] * n_chains

    def __call__(self, chain: int, fraction: float) -> bool:
        """Report; return whether a callback asks for the end."""
        stop = False
        if self._text is not None:
            self._text.update(chain, fraction)
        context = self._chains[chain]
        if context is None:
            context = self._root.subcontext(task_name="chain", task_id=chain, max_subtasks=_STEPS)
            self._chains[chain] = context
            context.call_on_fit_task_begin(estimator=self._estimator)
        while self._done[chain] < int(_STEPS * fraction):
            step = context.subcontext(task_name="percent")
            step.call_on_fit_task_begin(estimator=self._estimator)
            stop |= bool(step.call_on_fit_task_end(estimator=self._estimator))
            self._done[chain] += 1
        if self._done[chain] == _STEPS:
            self._done[chain] += 1  # so that the end is told once
            stop |= bool(context.call_on_fit_task_end(estimator=self._estimator))
        return stop

    def close(self) -> None:
        """Tell everybody that sampling is over."""
        self._root.call_on_fit_task_end(estimator=self._estimator)
        if self._text is not None:
            self._text.close()


class SearchProgress:
    """One line on the error stream about a search, whose end nobody knows."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label, self._stream = label, QuietStream(stream)
        self._begin = time.monotonic()
        self._last = -math.inf
        self._steps, self._shown = 0, False

    def update(self, best: Any) -> bool:
        """Show where the search is, if it is time to; never asks for the end."""
        self._steps += 1
        now = time.monotonic()
        pause = 0.2 if self._stream.on_terminal else 5.0
        if now - self._begin >= _SHOW_AFTER_SECONDS and now - self._last >= pause:
            self._last, self._shown = now, True
            self._stream.write_over(
                f"{self._label}: {self._steps} neighbourhoods, best score {best.score:.1f} with "
                f"{len(best.features)} features, {now - self._begin:.0f} s"
            )
        return False

    def close(self) -> None:
        """End the line."""
        if self._shown:
            self._stream.end_line()
