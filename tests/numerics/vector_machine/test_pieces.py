"""Pieces of the vector machines: half-line moments, factors, gains, divergence, model weights."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erfc, erfcx, log_expit, log_ndtr, ndtr
from scipy.stats import norm
from vector_machine_setup import log_likelihood

from sparsekern.inference.vector_machine.bound import half_normal_divergence, risk_bound
from sparsekern.inference.vector_machine.edges import edge_site, site_log_constant
from sparsekern.inference.vector_machine.gains import GAUSSIAN, TRUNCATED, best_precision, gain
from sparsekern.inference.vector_machine.weights import model_weights
from sparsekern.likelihoods.terms import CODES, response_terms
from sparsekern.random.half_line_moments import half_line_moments, log_normal_cdf


def tail_moments(z):
    r"""Mean and variance by Gauss-Laguerre in :math:`s=xt`; no difference of large numbers."""
    x = -z
    points, weights = np.polynomial.laguerre.laggauss(120)
    mass = weights * np.exp(-0.5 * (points / x) ** 2)
    first, second = mass @ points / mass.sum(), mass @ points**2 / mass.sum()
    return first / x, (second - first**2) / x**2


@pytest.mark.parametrize(
    "z", [-1e6, -3e4, -3000.0, -400.0, -50.0, -30.0, -13.0, -12.0, -11.9, -8.0]
)
def test_half_line_moments_far_below_zero(z):
    ratio, mean, variance = half_line_moments(z)
    true_mean, true_variance = tail_moments(z)
    assert ratio == pytest.approx(np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2)), rel=1e-14)
    assert mean == pytest.approx(true_mean, rel=1e-11)
    assert variance == pytest.approx(true_variance, rel=1e-10)


def test_half_line_moments_against_the_asymptotic_series():
    for z in (-1e6, -3000.0, -200.0, -40.0):
        u = z**-2.0
        _, mean, variance = half_line_moments(z)
        series = 1 - 2 * u + 10 * u**2 - 74 * u**3 + 706 * u**4
        assert mean == pytest.approx(series / -z, rel=1e-10)
        series = u * (1 - 6 * u + 50 * u**2 - 518 * u**3 + 6354 * u**4)
        assert variance == pytest.approx(series, rel=2e-10)
    naive = np.sqrt(2 / np.pi) / erfcx(3000 / np.sqrt(2))
    assert abs((1 - naive * (naive - 3000.0)) / half_line_moments(-3000.0)[2] - 1) > 1e-3


def test_half_line_moments_near_and_above_zero():
    for z in [*np.linspace(-7.9, 7.9, 32), 12.0, 25.0, 38.0, 40.0, -4.0, -3.999999]:
        ratio, mean, variance = half_line_moments(z)
        exact = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2)) if z < 25 else norm.pdf(z)
        assert ratio == pytest.approx(exact, rel=1e-13, abs=1e-300)
        low = max(0.0, z - 12)
        if abs(z) < 8:

            def moment(k, about, z=z, low=low):
                def density(x):
                    return (x - about) ** k * np.exp(-0.5 * x * (x - 2 * z))  # over phi(z)

                return quad(density, low, max(z, 0.0) + 14, epsabs=0, epsrel=1e-12, limit=200)[0]

            centre = moment(1, 0.0) / moment(0, 0.0)
            assert mean == pytest.approx(centre, rel=1e-9)
            assert variance == pytest.approx(moment(2, centre) / moment(0, 0.0), rel=1e-9)
        assert 0 < variance <= 1
        assert log_normal_cdf(z) == pytest.approx(log_ndtr(z), rel=1e-13)


def test_log_normal_cdf_everywhere():
    z = np.concatenate([-np.geomspace(1e-3, 1e6, 200), np.geomspace(1e-3, 37, 50)])
    found = np.array([log_normal_cdf(x) for x in z])
    np.testing.assert_allclose(found, log_ndtr(z), rtol=1e-12)


def test_half_line_moments_are_continuous_where_the_branch_changes():
    for edge in (-4.0, -12.0):
        below = np.array(half_line_moments(np.nextafter(edge, -np.inf)))
        above = np.array(half_line_moments(np.nextafter(edge, np.inf)))
        np.testing.assert_allclose(below, above, rtol=1e-12)


def factor_terms(name, label, f):
    return response_terms(CODES[name], label, f, 0.0, 0.0)[:3]


@pytest.mark.parametrize("name", ["probit", "logit", "scaled_logit"])
def test_factor_derivatives(name):
    for label in (-1.0, 1.0):
        for f in [*np.linspace(-9, 9, 37), -30.0, 30.0, -300.0]:
            value, gradient, curvature = factor_terms(name, label, f)
            h, far = 1e-5 * max(1.0, abs(f)), 1e-30  # a tail's own scale is shorter than h
            assert value == pytest.approx(log_likelihood(name, label * f), rel=1e-12, abs=1e-300)
            ends = log_likelihood(name, label * np.array([f - h, f + h]))
            rounding = np.abs(ends).max() * 1e-15 / h
            assert gradient == pytest.approx(
                np.diff(ends)[0] / (2 * h), rel=1e-6, abs=far + 5 * rounding
            )
            slopes = [factor_terms(name, label, f + s)[1] for s in (-h, h)]
            rounding = max(map(abs, slopes)) * 1e-15 / h
            expected = -(slopes[1] - slopes[0]) / (2 * h)
            assert curvature == pytest.approx(expected, rel=1e-6, abs=far + 5 * rounding)
            assert curvature >= 0


def test_scaled_logit_is_close_to_the_probit():
    f = np.linspace(-8, 8, 4001)
    gap = np.abs(np.exp(log_likelihood("scaled_logit", f)) - ndtr(f)).max()
    assert gap == pytest.approx(0.0177, abs=5e-5)


# gains


def one_weight_evidence(alpha, s, q, truncated):
    """By quadrature, relative to no weight."""
    mode = max(q / (alpha + s), 0.0 if truncated else -np.inf)
    top = q * mode - 0.5 * (alpha + s) * mode**2
    sd = 1 / np.sqrt(alpha + s)

    def density(w):
        return np.exp(q * w - 0.5 * (alpha + s) * w**2 - top)

    low = max(0.0, mode - 12 * sd) if truncated else mode - 12 * sd
    mass = quad(density, low, mode + 12 * sd, epsabs=0, epsrel=1e-12, limit=200)[0]
    return np.log(mass) + top + 0.5 * np.log(alpha / (2 * np.pi)) + truncated * np.log(2)


@pytest.mark.parametrize("rule", [GAUSSIAN, TRUNCATED])
def test_gains_are_one_dimensional_evidences(rule):
    rng = np.random.default_rng(0)
    for _ in range(60):
        alpha, s, q = np.exp(rng.uniform(-4, 4)), np.exp(rng.uniform(-4, 4)), rng.normal() * 5
        expected = one_weight_evidence(alpha, s, q, rule == TRUNCATED)
        assert gain(rule, alpha, s, q) == pytest.approx(expected, abs=1e-9)
        assert gain(rule, np.inf, s, q) == 0.0


@pytest.mark.parametrize("rule", [GAUSSIAN, TRUNCATED])
def test_best_precisions_against_a_search(rule):
    rng = np.random.default_rng(1)
    for _ in range(200):
        s, q = np.exp(rng.uniform(-6, 6)), rng.normal() * np.exp(rng.uniform(-3, 3))
        best = best_precision(rule, True, s, q)
        grid = s * np.exp(np.linspace(-20, 25, 1000))
        values = [gain(rule, a, s, q) for a in grid]
        at = int(np.argmax(values))
        if not np.isfinite(best):
            assert q <= 0 or q * q <= s
            assert q <= 0 or max(values) <= 1e-12
            continue
        found = minimize_scalar(
            lambda t, s=s, q=q: -gain(rule, s * np.exp(t), s, q),
            bounds=np.log(grid[[max(at - 1, 0), min(at + 1, 999)]] / s),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert gain(rule, best, s, q) >= -found.fun * (1 - 1e-13) - 1e-12
        assert gain(rule, best, s, q) > 0
    assert best_precision(GAUSSIAN, False, 1.0, -3.0) == best_precision(GAUSSIAN, True, 1.0, 3.0)


def test_truncated_optimum_solves_its_equation():
    def left(u):
        return u * u + u / half_line_moments(u)[1]

    assert (np.diff([left(u) for u in np.linspace(1e-6, 30, 3000)]) > 0).all()
    for ratio in np.geomspace(1e-6, 1e6, 60):
        s, q = 2.0, np.sqrt(2.0 * ratio)
        u = brentq(lambda x, r=ratio: left(x) - r, 0, np.sqrt(ratio), xtol=1e-300, rtol=1e-15)
        expected = q * q / u**2 - s
        tolerance = 1e-9 * max(1.0, ratio)  # of alpha the difference leaves so many digits
        assert best_precision(TRUNCATED, True, s, q) == pytest.approx(expected, rel=tolerance)


def test_truncated_gain_for_small_and_negative_moments():
    for ratio in (1e-4, 1e-6, 1e-8):
        s = 3.0
        q = np.sqrt(ratio * s)
        best = best_precision(TRUNCATED, True, s, q)
        assert best == pytest.approx(0.5 * np.pi * s * s / q**2, rel=20 * np.sqrt(ratio))
        assert gain(TRUNCATED, best, s, q) == pytest.approx(ratio / np.pi, rel=20 * np.sqrt(ratio))
    for q in (-1e-3, -1.0, -20.0):
        for alpha in np.geomspace(1e-8, 1e8, 40):
            assert gain(TRUNCATED, alpha, 2.0, q) < 0
        assert best_precision(TRUNCATED, True, 2.0, q) == np.inf
        assert best_precision(GAUSSIAN, True, 2.0, q) == np.inf  # also where q^2 > s
    assert best_precision(GAUSSIAN, True, 0.0, 1.0) == np.inf


def test_edge_site_matches_moments_and_mass():
    for mean, variance in ((0.3, 2.0), (-4.0, 0.5), (7.0, 0.1), (-60.0, 1.0)):
        d, h = edge_site(mean, variance)
        sd = np.sqrt(variance)
        _, centre, spread = half_line_moments(mean / sd)
        precision = 1 / variance + d
        assert (mean / variance + h) / precision == pytest.approx(sd * centre, rel=1e-10)
        assert 1 / precision == pytest.approx(variance * spread, rel=1e-10)
        log_mass = log_ndtr(mean / sd)
        constant = site_log_constant(mean, variance, d, h, log_mass)
        whole = -0.5 * np.log1p(d * variance) + 0.5 * (
            (mean / variance + h) ** 2 / precision - mean**2 / variance
        )
        assert constant + whole == pytest.approx(log_mass, rel=1e-9)


def test_tilted_variance_has_a_minus_sign():
    """Errata 2: the printed plus makes the variance of a truncated normal larger than before."""
    v, m = 1.0, 0.5
    z = m / np.sqrt(v)
    ratio, centre, spread = half_line_moments(z)
    density, mass = norm.pdf, norm.sf(0, m, 1)
    mean = quad(lambda w: w * density(w, m) / mass, 0, 20)[0]
    exact = quad(lambda w: (w - mean) ** 2 * density(w, m) / mass, 0, 20)[0]
    assert v - v * ratio * centre == pytest.approx(exact, rel=1e-8)
    assert spread == pytest.approx(exact, rel=1e-8)
    assert abs(v + v * ratio * centre - exact) > 0.5


@pytest.mark.parametrize("alpha", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("beta", [0.5, 3.0])
def test_smoothed_prior_integrates_to_one(alpha, beta):
    sd = alpha**-0.5
    total = quad(
        lambda w: 2 * norm.pdf(w, scale=sd) * np.exp(log_expit(beta * w)), -12 * sd, 12 * sd
    )[0]
    assert total == pytest.approx(1.0, abs=1e-9)


def test_smoothed_prior_leaves_mass_below_zero():
    found = [
        quad(
            lambda w, s=s: 2 * norm.pdf(w, scale=s) * np.exp(log_expit(3 * w)),
            -12 * s,
            0,
            limit=200,
        )[0]
        for s in (10.0, 0.01)
    ]
    np.testing.assert_allclose(found, [0.018, 0.494], atol=1e-3)


# divergence and bound


def divergence_by_quadrature(w, p, prior):
    sd = p**-0.5
    mass = norm.sf(0, w, sd)
    low, high = max(0.0, w - 12 * sd), max(w, 0.0) + 12 * sd

    def integrand(x):
        log_q = norm.logpdf(x, w, sd) - np.log(mass)
        return np.exp(log_q) * (log_q - np.log(2) - norm.logpdf(x, scale=prior**-0.5))

    return quad(integrand, low, high, epsabs=1e-12, limit=300)[0]


@pytest.mark.parametrize(
    ("w", "p", "prior"), [(1.5, 0.7, 0.5), (0.0, 2.0, 0.5), (0.3, 40.0, 1.0), (-0.5, 3.0, 2.0)]
)
def test_divergence_of_half_normals(w, p, prior):
    found = half_normal_divergence(np.array(w), np.array(p), prior)
    assert found == pytest.approx(divergence_by_quadrature(w, p, prior), abs=1e-8)


def test_divergence_at_the_prior_and_the_printed_one():
    assert half_normal_divergence(np.zeros(1), np.full(1, 0.7), 0.7)[0] == pytest.approx(
        0, abs=1e-15
    )
    w, p, prior = 1.5, 0.7, 0.5
    found = float(half_normal_divergence(np.array(w), np.array(p), prior))
    assert found == pytest.approx(0.22347, abs=5e-6)
    printed = found + np.log(erfc(-w * np.sqrt(p / 2))) - np.log(erfc(-w * p / 2))
    assert printed == pytest.approx(0.37277, abs=5e-6)
    # errata 9: not least at a vanishing weight
    grid = np.linspace(0, 2, 201)
    values = half_normal_divergence(grid, np.full(201, 10.0), 0.5)
    assert values[0] == pytest.approx(1.023, abs=5e-4)
    assert values.min() == pytest.approx(0.506, abs=1e-3)
    assert grid[values.argmin()] == pytest.approx(0.70, abs=0.015)


def test_risk_bound_formula():
    margins = np.array([2.0, 0.5, -1.0, 0.2])
    rho = 2.0 * max(3.0, 1.0)
    steps = np.log(np.log(2 * rho) / np.log(2))
    expected = np.mean([0, 0.5, 1, 0.8]) + 2 * np.sqrt(2 * rho / 4)
    expected += np.sqrt((steps + 0.5 * np.log(20)) / 4)
    assert risk_bound(margins, 3.0) == pytest.approx(expected, rel=1e-12)


# model weights


def test_model_weights_sum_to_one_and_treat_equals_alike():
    rng = np.random.default_rng(0)
    scores = -rng.exponential(size=(5, 40))
    weights = model_weights(scores, np.zeros(5))
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all()
    twins = np.stack([scores[0], scores[0]])
    np.testing.assert_allclose(model_weights(twins, np.zeros(2)), 0.5)
    mirrored = np.stack([scores[0], scores[0][::-1]])
    np.testing.assert_allclose(model_weights(mirrored, np.zeros(2)), 0.5, atol=0.05)
    order = [3, 1, 4, 0, 2]
    permuted = model_weights(scores[order], np.zeros(5))
    np.testing.assert_allclose(permuted, weights[order], atol=0.03)
    np.testing.assert_array_equal(model_weights(scores[:1], np.zeros(1)), [1.0])


def test_one_impossible_row_does_not_make_a_model_uncertain():
    rng = np.random.default_rng(1)
    good = -rng.exponential(size=200)
    ruined = good.copy()
    ruined[7] = -700.0  # its bootstrap is all but normal
    np.testing.assert_array_equal(model_weights(np.stack([good, ruined]), np.zeros(2)), [1, 0])


def test_a_clearly_better_model_gets_all():
    rng = np.random.default_rng(1)
    scores = -rng.exponential(size=(3, 100))
    scores[1] += 1.0
    np.testing.assert_allclose(model_weights(scores, np.zeros(3)), [0, 1, 0], atol=1e-12)
    # and one parameter chosen counts like one unit of the sum
    twins = np.stack([scores[0]] * 2)
    weights = model_weights(twins, np.array([0.0, 1.0]))
    assert weights[1] / weights[0] == pytest.approx(np.exp(-1.0), rel=1e-9)


def test_model_weights_against_the_bayesian_bootstrap():
    rng = np.random.default_rng(2)
    scores = -rng.exponential(size=(3, 200)) - np.array([[0.0], [0.03], [0.05]])
    share = rng.dirichlet(np.ones(200), 20_000)
    totals = 200 * share @ scores.T
    draws = np.exp(totals - totals.max(1, keepdims=True))
    expected = (draws / draws.sum(1, keepdims=True)).mean(0)
    np.testing.assert_allclose(model_weights(scores, np.zeros(3)), expected, atol=0.03)
