"""The examples in docstrings of public classes and functions run, and give what they show."""

import doctest

import pytest

import sparsekern
import sparsekern.datasets
import sparsekern.diagnostics
import sparsekern.settings

MODULES = (sparsekern, sparsekern.datasets, sparsekern.diagnostics, sparsekern.settings)
PUBLIC = {name: getattr(module, name) for module in MODULES for name in module.__all__}
ESTIMATORS = [name for name in sparsekern.__all__ if name[0].isupper()]


def examples_of(name, thing):
    """Return the test of a docstring, which begins without any names, or None."""
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name, module=False, globs={})
    run = [example for example in found.examples if doctest.SKIP not in example.options]
    return found if run else None


EXAMPLES = {
    name: found
    for name, thing in PUBLIC.items()
    if not isinstance(thing, str) and (found := examples_of(name, thing)) is not None
}


def complaints(examples):
    """Run examples; return what is wrong with them, in words."""
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_give_what_they_show(name):
    assert complaints(EXAMPLES[name]) == ""


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_an_example(name):
    assert name in EXAMPLES


def test_a_wrong_example_is_seen():
    parser = doctest.DocTestParser()
    for text, right in ((">>> 1 + 1\n2\n", True), (">>> 1 + 1\n3\n", False), (">>> x\n", False)):
        examples = parser.get_doctest(text, {}, "text", None, None)
        assert (complaints(examples) == "") is right
