"""Data sets of which OpenML holds a copy, and their download."""

from __future__ import annotations

from typing import NamedTuple
from urllib.error import URLError

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch


class OpenMLCopy(NamedTuple):
    """A two-class data set on OpenML: its number, its name there and its size."""

    data_id: int
    name: str
    shape: tuple[int, int]


# Only sets that are the same problem as the benchmark file of that name: the waveform set there has
# 19 more columns of noise, and its breast-cancer set has categories instead of numbers.
_COPIES = {
    "banana": OpenMLCopy(1460, "banana", (5300, 2)),
    "heart": OpenMLCopy(53, "heart-statlog", (270, 13)),
    "ringnorm": OpenMLCopy(1496, "ringnorm", (7400, 20)),
}


def known_copy(name: str) -> OpenMLCopy | None:
    """Return the OpenML copy of a set, called by its plain name or as ``raetsch_<name>``."""
    return _COPIES.get(name.removeprefix("raetsch_"))


def fetch_copy(copy: OpenMLCopy) -> Bunch:
    """Fetch a copy and bring it into the form of the data files: float features, -1/+1 labels.

    The rarer class becomes +1, as in the benchmark files (banana 2,376 of 5,300, heart 120 of 270,
    ringnorm 3,664 of 7,400), so that the rule does not depend on how OpenML spells the labels.
    """
    source = f"OpenML data set {copy.data_id} ({copy.name})"
    try:
        # liac-arff needs no pandas, unlike the default parser.
        fetched = sklearn.datasets.fetch_openml(
            data_id=copy.data_id, as_frame=False, parser="liac-arff"
        )
    except URLError as error:
        raise ConnectionError(
            f"{source} could not be downloaded ({error}); check the network connection, or put the "
            "set into a folder as an .npz file and pass that folder as data_home."
        ) from error
    X = np.asarray(fetched.data, dtype=np.float64)
    spelled = np.asarray(fetched.target).astype(str)
    labels, counts = np.unique(spelled, return_counts=True)
    if X.shape != copy.shape or len(labels) != 2:
        raise ValueError(
            f"{source} has shape {X.shape} and {len(labels)} classes, expected {copy.shape} and 2; "
            "it was changed on OpenML or the cached file is damaged. Clear the scikit-learn data "
            "folder and try again."
        )
    frequent_first = labels[np.argsort(-counts)]
    return Bunch(
        data=X,
        target=np.where(spelled == frequent_first[1], 1, -1),
        train=None,
        test=None,
        feature_names=np.asarray(fetched.feature_names).astype(str),
        class_names=frequent_first,
        extras={},
        source=source,
    )
