"""The real data set that ships with the package: ten measurements of 569 breast tumours."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

_FILE_NAME = "breast_cancer_means.csv"
_TARGET_NAMES = np.array(["benign", "malignant"])  # in the order of the labels -1 and +1

_DESCRIPTION = """\
Breast Cancer Wisconsin (Diagnostic), the ten mean measurements

569 fine needle aspirates of breast masses: 357 benign (label -1) and 212 malignant (label +1).
Each of the 10 features is the mean, over the cell nuclei of one digitised image, of: radius,
texture (standard deviation of the grey values), perimeter, area, smoothness (local variation in
radius lengths), compactness (perimeter^2 / area - 1), concavity (severity of the concave portions
of the contour), concave points (their number), symmetry, and fractal dimension ("coastline
approximation" - 1). No value is missing. The source states no units, and the scales of the
features differ by a factor of about 10,000: standardise before using an isotropic kernel.

The full set has 30 features and can be separated by a hyperplane. The ten means cannot, which is
why they were chosen: in five-fold cross-validation a logistic regression errs on about 6 % and a
Gaussian-kernel support vector machine on about 5 %.

Authors: William H. Wolberg, W. Nick Street, Olvi L. Mangasarian.
Source: UCI Machine Learning Repository, https://doi.org/10.24432/C5DW2B
Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/
Changes: 20 of the 30 features and the patient numbers were dropped, the diagnosis spelled out.
Cite: Wolberg, W., Mangasarian, O., Street, N., & Street, W. (1993). Breast Cancer Wisconsin
(Diagnostic) [Dataset]. UCI Machine Learning Repository.
"""


def load_breast_cancer_means(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | tuple[np.ndarray, np.ndarray]:
    r"""Load the ten mean measurements of the Wisconsin diagnostic breast cancer data.

    Two classes that no hyperplane separates, small enough for every method of the package, with no
    download. The licence is CC BY 4.0: ``DESCR`` holds the attribution it asks for.

    Parameters
    ----------
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        If True, ``data`` is a pandas DataFrame and ``target`` a pandas Series.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : ndarray or DataFrame of shape (569, 10)
            The features.
        target : ndarray or Series of shape (569,)
            The labels, -1 (benign) or +1 (malignant).
        feature_names : ndarray of shape (10,)
            The names of the columns.
        target_names : ndarray of shape (2,)
            The names of the classes -1 and +1, in this order.
        frame : DataFrame of shape (569, 11) or None
            Features and target together, only with ``as_frame=True``.
        DESCR : str
            Description, source and licence.
    (X, y) : tuple
        Features and labels, if ``return_X_y=True``.
    """
    feature_names, X, y = _read()
    frame = None
    if as_frame:
        pandas = _import_pandas()
        frame = pandas.DataFrame(X, columns=feature_names)
        frame["target"] = y
        X, y = frame[list(feature_names)], frame["target"]
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=feature_names,
        target_names=_TARGET_NAMES.copy(),
        DESCR=_DESCRIPTION,
    )


def _read() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the feature names, the features and the labels of the file in the package."""
    # importlib.resources also finds the file when the package is imported from a zip archive.
    text = files(__package__).joinpath("data", _FILE_NAME).read_text(encoding="ascii")
    header, *rows = csv.reader(text.splitlines())
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    y = np.where([row[-1] == "malignant" for row in rows], 1, -1)
    return np.array(header[:-1]), X, y


def _import_pandas():
    """Return the pandas module, or say that ``as_frame=True`` needs it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which is not installed; install pandas or pass "
            "as_frame=False."
        ) from error
    return pandas
