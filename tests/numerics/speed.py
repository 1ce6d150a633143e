"""Which cases of a parametrised test are worth their time in every run."""

import pytest


def slow_except(cases, kept):
    """Return the cases, all marked slow but those that are kept for the quick run."""
    return [case if case in kept else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def slow_rows_except(cases, kept):
    """Do the same for cases of several arguments each."""
    return [case if case in kept else pytest.param(*case, marks=pytest.mark.slow) for case in cases]
