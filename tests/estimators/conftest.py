"""Helpers beside the tests become importable; data and settings that many tests share."""

import sys
from pathlib import Path

import pytest

from sparsekern.datasets import make_ripley

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def two_classes():
    """Eighty rows of Ripley's mixture."""
    return make_ripley(80, random_state=3)


@pytest.fixture
def short():
    """Parameters of a fit that takes a fraction of a second."""
    return {"draws": 50, "tune": 50, "chains": 2, "random_state": 0}


@pytest.fixture
def rows_looked_at(monkeypatch):
    """Return the rows and features that each doubly-sparse fit looks at, fit after fit."""
    from sparsekern.estimators.doubly_sparse import model

    kept, found = model.TrainingRows, []

    def remember(*parts):
        found.append(kept(*parts))
        return found[-1]

    monkeypatch.setattr(model, "TrainingRows", remember)
    return found
