"""The table of likelihoods: names, abilities, refusals, and the compiled terms by code."""

import numpy as np
import pytest
from scipy.integrate import quad

from sparsekern import likelihoods
from sparsekern.likelihoods._contract import WORKING, ResponseLaw
from sparsekern.likelihoods.laplace import ROUNDED
from sparsekern.likelihoods.table import TABLE, find_law, offered
from sparsekern.likelihoods.terms import CODES, likely_value, log_density, response_terms

LAST, FREEDOM = -0.4, 4.0
SMOOTHED = 0.2773  # 2 log(2) / 5, at the kink of the hinge
RESPONSES = {"labels": (-1.0, 1.0), "reals": (-2.0, 0.3, 4.0), "counts": (0.0, 1.0, 6.0, 200.0)}
CONCAVE = set(CODES) - {"student_t"}  # elsewhere a curvature may be replaced
with_terms = pytest.mark.parametrize("name", CODES)


def law_of(name):
    law = TABLE[name]
    return law([FREEDOM]) if "degrees of freedom" in law.provides else law()


def log_likelihood(name, y, f):
    law = law_of(name)
    variance, parameters = 1.0, np.zeros(0)
    if isinstance(law, ResponseLaw):
        variance, parameters = law.read_last(np.array([LAST]))
    return law.log_likelihood(np.array([y]), np.array([f]), variance, parameters)[0]


def test_the_table_holds_every_likelihood_under_its_own_name():
    assert {law.__name__ for law in TABLE.values()} == set(likelihoods.__all__)
    assert all(law.name == name for name, law in TABLE.items())
    assert {law.support for law in TABLE.values()} == {*RESPONSES, "classes"}
    known = {"terms", "concave terms"}  # of the hinge those of a smooth one, for Laplace's method
    assert set(CODES) == {name for name, law in TABLE.items() if known & law.provides}
    assert len(set(CODES.values())) == len(CODES)
    for name, law in TABLE.items():
        if "law" in law.provides:
            assert isinstance(law_of(name), ResponseLaw)


@with_terms
def test_terms_are_the_law_and_its_derivatives(name):
    code, h = CODES[name], 1e-5
    for y in RESPONSES[TABLE[name].support]:
        start = likely_value(code, y, 0.1)
        for f in start + np.array([-3.0, -0.6, 0.0, 0.4, 2.0]):
            value, slope, curvature, information = response_terms(code, y, f, LAST, FREEDOM)
            near = {"laplace": ROUNDED, "hinge": SMOOTHED}.get(name, 1e-9)  # kinks are rounded
            exact = log_density(code, y, f, LAST, FREEDOM)
            if name != "laplace":
                assert exact == pytest.approx(log_likelihood(name, y, f), rel=1e-9, abs=1e-9)
            assert value == pytest.approx(log_likelihood(name, y, f), rel=1e-9, abs=near)
            ends = [response_terms(code, y, f + s, LAST, FREEDOM) for s in (-h, h)]
            scale = 1e-5 * (1.0 + abs(y))
            assert slope == pytest.approx((ends[1][0] - ends[0][0]) / (2 * h), rel=1e-5, abs=scale)
            bend = -(ends[1][1] - ends[0][1]) / (2 * h)
            assert curvature > 0 and information > 0
            if name in CONCAVE or bend > 0:
                assert curvature == pytest.approx(bend, rel=1e-5, abs=scale)


@with_terms
def test_terms_of_far_values_stay_finite(name):
    for y in RESPONSES[TABLE[name].support]:
        for f in (-1e4, 1e4):
            terms = np.array(response_terms(CODES[name], y, f, LAST, FREEDOM))
            assert np.isfinite(terms[:2]).all() and (terms[2:] >= 0).all()


def test_the_rounded_law_of_laplace_is_a_law():
    code, at = CODES["laplace"], [-60.0, 0.0, 60.0]
    total = quad(
        lambda y: np.exp(response_terms(code, y, 0.0, LAST, 0.0)[0]), -60, 60, points=at, limit=500
    )[0]
    assert total == pytest.approx(1.0, abs=1e-8)


def test_what_an_engine_can_use():
    assert offered(("labels",), WORKING) == ("probit", "logit", "hinge")
    assert "gaussian" in offered(("reals",), WORKING)
    assert offered(("counts",), (frozenset({"terms"}),)) == ("poisson", "negative_binomial")
    assert offered(("reals",), (frozenset({"no such thing"}),)) == ()


def test_a_refusal_says_what_is_missing_and_what_to_use():
    with pytest.raises(ValueError, match=r"likelihood must be one of 'probit', .*got 'cauchit'"):
        find_law("likelihood", "cauchit", ("labels",), WORKING, "Engine")
    with pytest.raises(
        ValueError, match=r"noise='poisson' .*with Engine: it is for counts, not for reals; use"
    ):
        find_law("noise", "poisson", ("reals",), WORKING, "Engine")
    wanted = r"likelihood='hinge' .* lacks: terms; use likelihood='probit' or likelihood='logit'"
    with pytest.raises(ValueError, match=wanted):
        find_law("likelihood", "hinge", ("labels",), (frozenset({"terms"}),), "Engine")
