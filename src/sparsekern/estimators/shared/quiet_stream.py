"""The stream that progress is written to, which may be missing, closed or broken."""

from __future__ import annotations

import sys
from typing import TextIO

_WIDTH = 78


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
