"""What holds for every test."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """Tests of one process must not see each other's figures, whatever their order."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
