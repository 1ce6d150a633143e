"""Every estimator at its defaults with 20,000 rows and ten features: time, memory, words, Ctrl-C.

Each fit has a process and a terminal of its own and is sent Ctrl-C after 30 seconds. One that is
over sooner is run again and sent it half-way. `first word` is when the user first reads something
on the error stream, `back after` the time from Ctrl-C until `fit` returns or raises, `gone after`
until the process has ended (a sweep under way is not waited for by `fit`, but by Python's exit).
Seconds are of a shared machine. To be met: a word within 10 seconds, less than 4 GB, back within 3
seconds of Ctrl-C, and no errors.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tables import Row

import sparsekern

_SECONDS, _AGAIN, _GRACE = 30.0, 10.0, 60.0
_MOST_SILENT, _MOST_MEGABYTES, SOON = 10.0, 4000.0, 3.0
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\r\n]+|\S+\.py:\d+: ")  # and no paths


@dataclass
class Fit:
    """What was seen of one fit; seconds since it began."""

    outcome: str = "killed"
    megabytes: float | None = None
    first_word: float | None = None
    words: str = ""
    pressed: float | None = None
    over: float | None = None
    again: bool = False
    last_words: str = ""
    gone: float = 0.0
    status: int = 0


def watch(name: str, rows: int, press: float, options: dict[str, Any] | None = None) -> Fit:
    """Fit in a child process; press Ctrl-C after so many seconds.

    ``options`` are parameters that are not at their defaults. Where the process is still there ten
    seconds after the fit is over, Ctrl-C is pressed again, as a user would.
    """
    master, slave = pty.openpty()
    script = Path(__file__).with_name("many_rows_fit.py")
    child = subprocess.Popen(
        [sys.executable, str(script), name, str(rows), json.dumps(options or {})],
        stdout=subprocess.PIPE,
        stderr=slave,
    )
    os.close(slave)
    assert child.stdout is not None
    out = child.stdout.fileno()
    found, begin, lines, open_ends = Fit(), None, b"", {out, master}
    while open_ends:
        ready, _, _ = select.select(list(open_ends), [], [], 0.05)
        now = time.monotonic()
        for end in ready:
            try:
                data = os.read(end, 65536)
            except OSError:  # a terminal that nobody writes to any more
                data = b""
            if not data:
                open_ends.discard(end)
            elif end == out:
                lines += data
                *whole, lines = lines.split(b"\n")
                for message in map(json.loads, whole):
                    if message["event"] == "begin":
                        begin = now
                    elif begin is not None:
                        found.over = now - begin
                        found.outcome, found.megabytes = message["outcome"], message["MB"]
            elif begin is not None:
                text = _CONTROL.sub(" ", data.decode(errors="replace")).strip()
                if text and found.first_word is None and found.over is None:
                    found.first_word, found.words = now - begin, text
                if found.pressed is not None:
                    found.last_words += f" {text}"
        if begin is None:
            continue
        if found.over is None and found.pressed is None and now - begin > press:
            found.pressed = now - begin
            child.send_signal(signal.SIGINT)
        if found.over is not None and not found.again and now - begin > found.over + _AGAIN:
            found.again = True
            child.send_signal(signal.SIGINT)
        if now - begin > press + _GRACE:
            child.kill()
    os.close(master)
    child.stdout.close()
    found.status = child.wait()
    found.gone = time.monotonic() - (begin or 0.0)
    return found


def _judge(first: Fit, stopped: Fit, megabytes: float) -> str:
    silent = first.first_word if first.first_word is not None else first.over
    wrong = []
    if silent is None or silent > _MOST_SILENT:
        wrong.append("SILENT")
    if megabytes > _MOST_MEGABYTES:
        wrong.append("LARGE")
    if stopped.over is None or stopped.over - (stopped.pressed or 0.0) > SOON:
        wrong.append("SLOW TO STOP")
    if any(not fit.outcome.startswith(("returned", "Keyboard")) for fit in (first, stopped)):
        wrong.append("ERROR")
    return ", ".join(wrong) or "met"


def measure(quick: bool) -> list[Row]:
    names = [name for name in sparsekern.__all__ if isinstance(getattr(sparsekern, name), type)]
    rows, press = (400, 3.0) if quick else (20_000, _SECONDS)
    table: list[Row] = []
    for name in names[:2] if quick else names:
        first = watch(name, rows, press)
        finished = first.pressed is None
        stopped = watch(name, rows, 0.5 * (first.over or 0.0)) if finished else first
        peaks = [fit.megabytes for fit in (first, stopped) if fit.megabytes is not None]
        megabytes = max(peaks, default=float("nan"))
        since = stopped.pressed or 0.0
        table.append({
            "estimator": name, "n": rows, "finished": f"{first.over:.0f} s" if finished else "no",
            "MB": megabytes, "first word": first.first_word, "what it says": first.words[:160],
            "after Ctrl-C": stopped.outcome[:80],
            "back after": None if stopped.over is None else stopped.over - since,
            "gone after": stopped.gone - since, "targets": _judge(first, stopped, megabytes),
        })  # fmt: skip
        print(table[-1], flush=True)
    return table
