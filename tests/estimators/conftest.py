import pytest

from sparsekern.datasets import make_ripley


@pytest.fixture(scope="session")
def two_classes():
    """Eighty rows of Ripley's mixture."""
    return make_ripley(80, random_state=3)


@pytest.fixture
def short():
    """Parameters of a fit that takes a fraction of a second."""
    return {"draws": 50, "tune": 50, "chains": 2, "random_state": 0}
