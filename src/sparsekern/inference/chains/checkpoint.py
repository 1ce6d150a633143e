"""Save chains between legs, so that a killed process resumes where it was.

A checkpoint folder holds one sub-folder per run, named by a fingerprint of data and parameters:
fits of other data or parameters (cross-validation!) neither meet nor overwrite each other. Files
are plain ``.npz`` and JSON, written to a temporary name and moved into place, so a kill leaves
the old or the new file, never half of one.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
import uuid
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .plan import Plan

_SECONDS_BETWEEN = 1.0
_SHARE_OF_TIME = 0.05  # writing may take at most this part of the running time
_RUNNING: set[str] = set()  # fingerprints of the runs under way in this process
_ONE_AT_A_TIME = threading.Lock()  # fits in several threads may be of the same run
Resize = Callable[[int, Plan], None]


class CheckpointError(ValueError):
    """A checkpoint that cannot be used."""


def check_folder(value: Any) -> Path:
    """Return the folder that the user names."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(
            f"checkpoint must be None or a folder's name, got {value!r} of type "
            f"{type(value).__name__}."
        )
    if not str(value):
        raise CheckpointError(f"checkpoint must be None or a folder's name, got {value!r}.")
    folder = Path(value).expanduser()
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(f"checkpoint={str(value)!r} is a file; give the name of a folder.")
    return folder


def fingerprint(parts: list[Any]) -> str:
    """Return a hash of arrays, numbers and texts."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"|")
    return digest.hexdigest()


def _under_way(about: dict[str, Any]) -> bool:
    """Tell whether a run that is not finished is most likely going on right now."""
    process = about.get("process")
    if process == os.getpid():
        return about.get("fingerprint") in _RUNNING
    if os.name != "posix" or not isinstance(process, int):
        return False
    try:
        os.kill(process, 0)  # signal 0 asks whether the process exists, and does nothing to it
    except OSError:
        return False
    return True


class Checkpoint:
    """The saved chains of one run.

    Parameters
    ----------
    folder : path-like
        Folder given by the user; created if absent.
    parts : list
        What decides the draws; see :func:`fingerprint`.
    parameters : dict of str to JSON-able
        Shown in messages about other runs, and kept beside the chains for people to read.
    reuse_finished : bool
        Whether a finished run may be read back (a fit without a fixed seed must draw anew).
    """

    def __init__(
        self, folder: Any, parts: list[Any], parameters: dict[str, Any], reuse_finished: bool
    ) -> None:
        self._root = check_folder(folder)
        self._fingerprint = fingerprint(parts)
        self._parameters = parameters
        self._folder = self._root / f"run-{self._fingerprint[:16]}"
        self._reuse_finished = reuse_finished
        self._partial = f".partial-{uuid.uuid4().hex}"  # no other fit writes to a name of ours
        self._last: dict[int, float] = {}
        self._cost: dict[int, float] = {}
        self._complained = False

    def restore(self, chains: list[Any], resize: Resize) -> list[Plan | None]:
        """Fill the chains from the files of this run; return the plan of each that there was.

        ``resize(number, plan)`` gives a chain room for the draws of the plan in its file.

        Raises
        ------
        CheckpointError
            If a file is damaged or belongs to other data or parameters.
        """
        with _ONE_AT_A_TIME:
            return self._restore(chains, resize)

    def _restore(self, chains: list[Any], resize: Resize) -> list[Plan | None]:
        nothing: list[Plan | None] = [None] * len(chains)
        if not (self._folder / "run.json").exists():
            self._mention_others()
            self._begin()
            return nothing
        about = self._read_about(self._folder / "run.json")
        if about.get("fingerprint") != self._fingerprint:
            raise CheckpointError(
                f"The checkpoint {self._folder} belongs to other data or parameters "
                f"({self._differences(about)}); remove it, or give another checkpoint folder."
            )
        if not self._reuse_finished:
            if about.get("finished"):
                self._begin()
                return nothing
            if _under_way(about):  # another fit's chains: going on with them would repeat its draws
                return nothing
        _RUNNING.add(self._fingerprint)
        return [
            self._load(self._path(number), chain, partial(resize, number))
            if self._path(number).exists()
            else None
            for number, chain in enumerate(chains)
        ]

    def save(self, number: int, chain: Any, plan: Plan, every: int, at_once: bool = False) -> None:
        """Save one chain if it can be restored exactly from here and enough time has passed.

        ``at_once``: however little time has passed.
        """
        finished = at_once or chain.sweep >= plan.sweeps
        if chain.sweep % every and not finished:
            return
        now = time.perf_counter()
        pause = max(_SECONDS_BETWEEN, self._cost.get(number, 0.0) / _SHARE_OF_TIME)
        if not finished and now - self._last.get(number, -np.inf) < pause:
            return
        arrays = {f"state.{name}": value for name, value in chain.state._asdict().items()}
        kept = plan.kept(chain.sweep)
        for name, value in chain.draws._asdict().items():
            arrays[f"draws.{name}"] = value[: chain.sweep if name.endswith("_trace") else kept]
        streams = json.dumps([rng.bit_generator.state for rng in chain.rngs])
        arrays["streams"] = np.array(streams)
        arrays["plan"] = np.array([plan.tune, plan.draws, plan.thin])
        arrays["fingerprint"] = np.array(self._fingerprint)
        path = self._path(number)
        temporary = path.with_suffix(self._partial)
        try:
            with open(temporary, "wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:  # the draws in memory are worth more than their copy on disk
            self._complain(error)
        self._last[number] = time.perf_counter()
        self._cost[number] = self._last[number] - now

    def _complain(self, error: OSError) -> None:
        if not self._complained:
            self._complained = True
            warnings.warn(
                f"The checkpoint {self._folder} cannot be written ({error}); sampling goes on.",
                UserWarning,
                stacklevel=2,
            )

    def close(self, finished: bool) -> None:
        """Note that the run has come to its end, or that it was left unfinished."""
        if finished:
            try:
                self._write_about(finished=True)
            except OSError as error:
                self._complain(error)
        _RUNNING.discard(self._fingerprint)

    def _path(self, number: int) -> Path:
        return self._folder / f"chain-{number}.npz"

    def _begin(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for path in self._folder.glob("chain-*"):
                path.unlink(missing_ok=True)
            self._write_about(finished=False)
        except OSError as error:
            raise CheckpointError(
                f"checkpoint={str(self._root)!r}: the folder cannot be made or written to "
                f"({error})."
            ) from error

    def _write_about(self, finished: bool) -> None:
        (_RUNNING.discard if finished else _RUNNING.add)(self._fingerprint)
        about = {
            "fingerprint": self._fingerprint,
            "finished": finished,
            "process": os.getpid(),
            "parameters": self._parameters,
        }
        temporary = self._folder / f"run.json{self._partial}"
        temporary.write_text(json.dumps(about, indent=1))
        os.replace(temporary, self._folder / "run.json")

    def _read_about(self, path: Path) -> dict[str, Any]:
        try:
            about = json.loads(path.read_text())
            if not isinstance(about, dict):
                raise ValueError("not an object")
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"The checkpoint file {path} is missing or damaged ({error}); remove the folder "
                f"{path.parent} to start this run from the beginning."
            ) from error
        return about

    def _differences(self, about: dict[str, Any]) -> str:
        theirs = about.get("parameters") or {}
        names = sorted({*theirs, *self._parameters})
        changed = [
            f"{name}: {theirs.get(name)!r} there, {self._parameters.get(name)!r} here"
            for name in names
            if theirs.get(name) != self._parameters.get(name)
        ]
        return "; ".join(changed) or "the data differ"

    def _mention_others(self) -> None:
        """Say that unfinished runs of other data or parameters lie here and are not used."""
        others = []
        for path in sorted(self._root.glob("run-*/run.json")):
            try:
                about = self._read_about(path)
            except CheckpointError:  # somebody else's trouble
                continue
            if not about.get("finished") and not _under_way(about):
                others.append((path.parent, self._differences(about)))
        if others:
            folder, differences = others[-1]
            more = f", and {len(others) - 1} more lie beside it" if len(others) > 1 else ""
            warnings.warn(
                f"The checkpoint {folder} holds an unfinished run of other data or parameters "
                f"({differences}){more}; what is there is left as it is, and this fit starts from "
                "the beginning.",
                UserWarning,
                stacklevel=2,
            )

    def _load(self, path: Path, chain: Any, resize: Callable[[Plan], None]) -> Plan:
        advice = f"remove the folder {path.parent} to start this run from the beginning"
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as saved:
                arrays = {name: saved[name] for name in saved.files}
            streams = json.loads(str(arrays["streams"]))
            plan = Plan(*(int(part) for part in arrays["plan"]))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise CheckpointError(
                f"The checkpoint file {path} is damaged ({error}); {advice}."
            ) from error
        if str(arrays.get("fingerprint")) != self._fingerprint:
            raise CheckpointError(
                f"The checkpoint file {path} belongs to other data or parameters; {advice}."
            )
        resize(plan)
        for prefix, target in (("state.", chain.state), ("draws.", chain.draws)):
            for name, array in target._asdict().items():
                value = arrays.get(prefix + name)
                if value is None or value.shape[1:] != array.shape[1:] or len(value) > len(array):
                    raise CheckpointError(
                        f"The checkpoint file {path} is damaged (entry {prefix}{name}); {advice}."
                    )
                array[: len(value)] = value
        for rng, state in zip(chain.rngs, streams, strict=True):
            rng.bit_generator.state = state
        return plan
