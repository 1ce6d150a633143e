"""The table of deliberate errors keeps up with the sources (tests/mutations plants them)."""

import shlex
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "mutations"))

from mutation import planted, read_source  # noqa: E402
from mutation_table import MUTATIONS  # noqa: E402


def test_names_are_different_and_there_are_many():
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 30


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_an_error_can_be_planted(mutation):
    """Its old text is in the sources exactly once, the new one is Python, the tests exist."""
    planted(read_source(TESTS.parent, mutation), mutation)
    file, *options = shlex.split(mutation.tests)
    assert (TESTS / file).is_file()
    assert options == [] or (len(options) == 2 and options[0] == "-k")
