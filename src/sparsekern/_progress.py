"""A line about progress on the error stream, which may be missing, closed or broken."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, TextIO

_WIDTH = 78
_SHOW_AFTER_SECONDS = 2.0


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a person reads the stream; one that cannot say is no terminal."""
    try:
        return bool(stream is not None and stream.isatty())
    except Exception:  # see QuietStream
        return False


class QuietStream:
    """Lines on a stream, by default the error stream; none after the first that fails.

    A line about progress is worth less than the fit that it is about. A program without a console
    has no error stream (None); streams are closed, lose their reader, or stand in for the real one
    and lack methods: whatever goes wrong, the stream is given up.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream: TextIO | None = sys.stderr if stream is None else stream
        self.on_terminal = is_terminal(self._stream)

    def write_over(self, line: str) -> None:
        """Write a line: on a terminal in the place of the last one, elsewhere below it."""
        self._write(f"\r{line:<{_WIDTH}}" if self.on_terminal else line + "\n")

    def end_line(self) -> None:
        """Go to the next line, where lines are written over each other."""
        if self.on_terminal:
            self._write("\n")

    def write_line(self, line: str) -> None:
        """Write a line that stays."""
        self._write(line + "\n")

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            if hasattr(self._stream, "flush"):
                self._stream.flush()
        except Exception:  # a stream is anybody's code
            self._stream = None


class TextProgress:
    """One line on the error stream, shown once a fit has taken two seconds."""

    def __init__(self, label: str, n_chains: int, stream: TextIO | None = None) -> None:
        self._label, self._stream = label, QuietStream(stream)
        self._fractions = [0.0] * n_chains
        self._begin = time.monotonic()
        self._last = -math.inf
        self._shown = False
        self.note = ""

    def begin_round(self, share: float) -> None:
        """Count anew: chains go on for longer, and what is done is so much of what was done."""
        self._fractions = [min(1.0, share * fraction) for fraction in self._fractions]

    def update(self, chain: int, fraction: float) -> None:
        """Take note of how far a chain is, and show it if it is time to."""
        self._fractions[chain] = fraction
        now = time.monotonic()
        spent = now - self._begin
        pause = 0.2 if self._stream.on_terminal else 5.0
        if spent < _SHOW_AFTER_SECONDS or now - self._last < pause:
            return
        self._last = now
        self._show(spent, left=not self.note)
        self._shown = True

    def _show(self, spent: float, left: bool) -> None:
        share = sum(self._fractions) / len(self._fractions)
        words = f"{share:4.0%}  {spent:.0f} s"
        if left and share > 0.02:
            words += f", {spent * (1 - share) / share:.0f} s left"
        if self.note:
            words += f", {self.note}"
        width = min(30, max(5, _WIDTH - len(self._label) - len(words) - 4))
        bar = "#" * int(width * share)
        self._stream.write_over(f"{self._label} [{bar:<{width}}] {words}")

    def close(self) -> None:
        """End the line."""
        if self._shown:
            self._show(time.monotonic() - self._begin, left=False)
            self._stream.end_line()


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
