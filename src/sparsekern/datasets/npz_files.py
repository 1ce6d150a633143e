"""Reading of one data set from an ``.npz`` file, with everything in it checked."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
from sklearn.utils import Bunch

# What numpy and zipfile raise on broken bytes: a wrong length even shows as a failed file seek, and
# a wrong flag as an encrypted member.
_DAMAGE = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, KeyError, OSError, RuntimeError)


def read_npz(path: Path) -> Bunch:
    """Return the data set in ``path``; a ValueError naming the file says what is wrong with it."""
    arrays = _arrays(path)
    try:
        return _as_bunch(arrays, path)
    except _ContentError as error:
        raise ValueError(f"{str(path)!r} is not a usable data set: {error}") from None


class _ContentError(Exception):
    """The arrays of a file do not make a data set."""


def _arrays(path: Path) -> dict[str, np.ndarray]:
    # Opened here, so that a file without read permission is not reported as damaged.
    with path.open("rb") as stream:
        try:
            return _plain_arrays(stream)
        except _DAMAGE as error:
            raise ValueError(
                f"{str(path)!r} cannot be read as an .npz archive of plain arrays ({error}); it is "
                "damaged, incomplete or of another kind. Copy it again, or write it with "
                "numpy.savez."
            ) from error


def _plain_arrays(stream: BinaryIO) -> dict[str, np.ndarray]:
    # Pickles can run code on loading, so they stay forbidden.
    archive = np.load(stream, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("it is a single array, not an archive")
    with archive:
        arrays = {key: archive[key] for key in archive.files}
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray):  # numpy hands foreign members over as bytes
            raise ValueError(f"its member {key!r} is not an array")
    return arrays


def _as_bunch(arrays: dict[str, np.ndarray], path: Path) -> Bunch:
    missing = [key for key in ("X", "y") if key not in arrays]
    if missing:
        raise _ContentError(
            f"it has no array {' and no array '.join(missing)}; the keys there are "
            f"{sorted(arrays)}. Save the features as X and the targets as y."
        )
    X, y = _features_and_target(arrays.pop("X"), arrays.pop("y"))
    train, test = (_splits(key, arrays.pop(key, None), len(X)) for key in ("train", "test"))
    if train is not None and test is not None and len(train) != len(test):
        raise _ContentError(
            f"train has {len(train)} splits but test has {len(test)}; give one row per split in "
            "both."
        )
    feature_names = _names("feature_names", arrays.pop("feature_names", None))
    if feature_names is not None and len(feature_names) != X.shape[1]:
        raise _ContentError(
            f"feature_names has {len(feature_names)} entries but X has {X.shape[1]} columns; "
            "give one name per column."
        )
    return Bunch(
        data=X,
        target=y,
        train=train,
        test=test,
        feature_names=feature_names,
        class_names=_names("class_names", arrays.pop("class_names", None)),
        extras={key: array[()] if array.ndim == 0 else array for key, array in arrays.items()},
        source=str(path),
    )


def _features_and_target(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    for key, array, n_axes in (("X", X, 2), ("y", y, 1)):
        if array.ndim != n_axes or array.dtype.kind not in "biuf":
            raise _ContentError(
                f"{key} must be a real array with {n_axes} axes, got dtype {array.dtype} and shape "
                f"{array.shape}; reshape or convert it."
            )
    if len(X) == 0 or len(X) != len(y):
        raise _ContentError(
            f"X has {len(X)} rows and y has {len(y)} entries; both need the same number, at least "
            "one."
        )
    # The files store small integer types to save space; sums and products would overflow them.
    return X.astype(np.float64), y.astype(np.float64 if y.dtype.kind == "f" else np.int64)


def _splits(key: str, splits: np.ndarray | None, n_samples: int) -> np.ndarray | None:
    if splits is None:
        return None
    if splits.ndim != 2 or splits.dtype.kind not in "iu":
        raise _ContentError(
            f"{key} must be an integer array with one row per split, got dtype {splits.dtype} and "
            f"shape {splits.shape}; save row numbers as a 2-d array."
        )
    if splits.size and not 0 <= splits.min() <= splits.max() < n_samples:
        raise _ContentError(
            f"{key} holds row numbers from {splits.min()} to {splits.max()}, but the rows are "
            f"numbered 0 to {n_samples - 1}; save 0-based row numbers."
        )
    return splits.astype(np.intp)


def _names(key: str, names: np.ndarray | None) -> np.ndarray | None:
    if names is not None and (names.ndim != 1 or names.dtype.kind not in "US"):
        raise _ContentError(
            f"{key} must be a 1-d array of strings, got dtype {names.dtype} and shape "
            f"{names.shape}; save it with dtype str."
        )
    return None if names is None else names.astype(str)
