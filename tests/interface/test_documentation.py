"""Every parameter of every estimator is documented, in the words that estimators share."""

import ast
import inspect
import re

import pytest

import sparsekern

ESTIMATORS = [getattr(sparsekern, name) for name in sparsekern.__all__ if name[0].isupper()]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented(estimator):
    text = inspect.getdoc(estimator)
    assert "<<" not in text
    documented = {
        name.strip()
        for match in re.finditer(r"^(\w[\w, ]*) : ", text, re.MULTILINE)
        for name in match.group(1).split(",")
    }
    assert set(inspect.signature(estimator).parameters) <= documented


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_documented_defaults_are_the_real_ones(estimator):
    text = inspect.getdoc(estimator)
    for name, parameter in inspect.signature(estimator).parameters.items():
        found = re.search(rf"^{name} : .*default=(.*)$", text, re.MULTILINE)
        if found is not None:
            shown = found.group(1)
            assert ast.literal_eval(shown) == parameter.default, name
