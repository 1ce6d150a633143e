"""Loading of benchmark data sets by name, from a folder of files or from OpenML."""

from __future__ import annotations

import os
from pathlib import Path

from sklearn.utils import Bunch

from .npz_files import read_npz
from .openml_copies import OpenMLCopy, fetch_copy, known_copy

_VARIABLE = "SPARSEKERN_DATA"


def load(
    name: str, data_home: str | os.PathLike[str] | None = None, *, download: bool = False
) -> Bunch:
    r"""Load a data set by name from a folder of ``.npz`` files, or from OpenML.

    The file is ``<name>.npz`` in ``data_home``. It holds the arrays ``X`` of shape
    (n_samples, n_features) and ``y`` of shape (n_samples,), and where they apply ``train`` and
    ``test`` (0-based row numbers, one row per split), ``feature_names``, ``class_names`` and any
    others. ``numpy.savez_compressed`` writes such files. Pickled objects are refused.

    Parameters
    ----------
    name : str
        Name of the set: the file name without ``.npz``.
    data_home : str or path-like, default=None
        Folder with the files. None stands for the folder in the environment variable
        ``SPARSEKERN_DATA``.
    download : bool, default=False
        If True and there is no such file, fetch the copy on OpenML. One is known for ``banana``,
        ``heart`` and ``ringnorm``, also under the names ``raetsch_<name>``. Its rows may be
        ordered or scaled differently from a file, and it comes without splits.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : ndarray of shape (n_samples, n_features)
            The features, as float64.
        target : ndarray of shape (n_samples,)
            The target: int64 labels where the file holds integers, else float64.
        train, test : ndarray of shape (n_splits, n_rows) or None
            Row numbers of the training and test part of each split.
        feature_names, class_names : ndarray of str or None
            Names of the columns and of the classes, the latter in the order of their labels.
        extras : dict
            Every other array of the file, as stored; arrays without an axis become scalars.
        source : str
            The file, or the OpenML data set, that was read.

    Raises
    ------
    FileNotFoundError
        If there is no such file and nothing was to be, or could be, downloaded.
    ValueError
        If the file is damaged or its arrays do not fit together.
    ConnectionError
        If OpenML cannot be reached.

    Examples
    --------
    >>> from sparsekern.datasets import load
    >>> banana = load("banana", download=True)  # doctest: +SKIP
    >>> banana.data.shape  # doctest: +SKIP
    (5300, 2)
    """
    _check_name(name)
    folder = data_home if data_home is not None else os.environ.get(_VARIABLE) or None
    folder = None if folder is None else Path(folder).expanduser()
    if folder is not None and (path := folder / f"{name}.npz").is_file():
        return read_npz(path)
    copy = known_copy(name)
    if download and copy is not None:
        return fetch_copy(copy)
    raise FileNotFoundError(
        f"Data set {name!r} was not found: {_where_it_is_not(name, folder)}. "
        f"{_what_to_do(name, copy)}."
    )


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(
            f"name must be a string, got {name!r} of type {type(name).__name__}; pass the file "
            "name without .npz."
        )
    # A separator would reach files outside of the folder.
    if not name or "/" in name or "\\" in name:
        raise ValueError(
            f"name must be a plain file name without .npz, got {name!r}; pass the folder as "
            "data_home."
        )


def _where_it_is_not(name: str, folder: Path | None) -> str:
    if folder is None:
        return f"neither data_home nor the environment variable {_VARIABLE} names a folder"
    if not folder.is_dir():
        return f"the folder {str(folder)!r} does not exist"
    present = sorted(path.stem for path in folder.glob("*.npz"))
    listing = f"the sets there are {', '.join(present)}" if present else "it holds no .npz file"
    return f"the folder {str(folder)!r} has no file {name + '.npz'!r}; {listing}"


def _what_to_do(name: str, copy: OpenMLCopy | None) -> str:
    advice = (
        f"Pass the folder that holds {name + '.npz'!r} as data_home or in the environment variable "
        f"{_VARIABLE}"
    )
    if copy is None:
        return f"{advice}; no OpenML copy of this set is known, so it cannot be downloaded"
    return f"{advice}, or pass download=True to fetch OpenML data set {copy.data_id} ({copy.name})"
