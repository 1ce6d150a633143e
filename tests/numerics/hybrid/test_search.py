"""The search over feature sets against enumeration, its invariances, and Metropolis sampling."""

import math
import warnings

import numpy as np
import pytest
from doubly_sparse_dense import scores, worst
from hybrid_dense import (
    feature_sets,
    integrate,
    laplace_evidence,
    log_likelihood,
    log_model_prior,
)
from hybrid_setup import PRIOR, open_search, run_search, standardized, strong, vague
from numpy.testing import assert_allclose, assert_array_equal

from sparsekern.inference.hybrid.comparator import sample_models, sample_posterior
from sparsekern.inference.hybrid.evidence import ParameterPrior

STARTS = [(0.0, 0.7, -1.2), (0.0, 2.5, -2.5)]
CLOSE = 0.02  # scores of optimisers that stop at different places


def enumerate_scores(data, largest=None, kind="rbf", prior=PRIOR):
    """S of every model, from dense algebra, a general optimiser and differences."""
    features, response = data
    p = features.shape[1]
    found = {}
    for model in feature_sets(p, largest or p):
        evidence, _ = laplace_evidence(features[:, model], response, kind, prior, STARTS)
        found[model] = evidence + log_model_prior(p, len(model))
    return found


@pytest.fixture(scope="module")
def strong_scores():
    return enumerate_scores(strong(1, p=5))


@pytest.fixture(scope="module")
def vague_scores():
    return enumerate_scores(vague(0, p=5))


# -- against enumeration --------------------------------------------------------------------------


def check_window(search, exact, whole=True):
    best = max(exact, key=exact.get)
    window = search.window()
    assert window[0].features == search.best.features == best
    for model in window:
        assert_allclose(model.score, exact[model.features], atol=CLOSE)
        assert window[0].score - model.score <= math.log(20)
    found = {model.features for model in window}
    edge = exact[best] - math.log(20)
    assert {model for model in found if exact[model] < edge - CLOSE} == set()
    if whole:
        assert {model for model in exact if exact[model] > edge + CLOSE} <= found
    order = [model.score for model in window]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("start", [(0,), (4,), ()])
def test_strong_effects_against_enumeration(strong_scores, start):
    check_window(run_search(strong(1, p=5), [start]), strong_scores)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_more_strong_effects_against_enumeration(seed):
    data = strong(seed, p=8, n=40)
    exact = enumerate_scores(data)
    for start in ((0,), (7,), ()):
        check_window(run_search(data, [start]), exact)


@pytest.mark.parametrize("start", [(0,), (3,)])
def test_many_models_against_enumeration(vague_scores, start):
    """The last step finds every model of the window."""
    search = run_search(vague(0, p=5), [start])
    assert len(search.window()) > 5
    check_window(search, vague_scores)
    nearly = run_search(vague(0, p=5), [start], close=False, n_wander=40)
    check_window(nearly, vague_scores, whole=False)


@pytest.mark.parametrize("kind", ["laplacian", "matern52"])
def test_other_kernels_against_enumeration(kind):
    data = strong(3, n=35, p=4)
    check_window(run_search(data, kind=kind), enumerate_scores(data, kind=kind))


def test_bandwidths_of_their_own_against_all_models_fitted():
    data = strong(4, p=5)
    search = run_search(data, shared=False)
    everything = open_search(data, shared=False)
    models = everything.fit(feature_sets(5, 5))
    best = max(models, key=lambda model: model.score)
    assert search.best.features == best.features
    assert_allclose(search.best.score, best.score, atol=CLOSE)
    assert [m.features for m in search.window()] == [m.features for m in everything.window()]


def test_schwarz_criterion_as_the_score():
    data = strong(5, p=5)
    search = run_search(data, evidence="bic")
    exact = {}
    for model in feature_sets(5, 5):
        _, mode = laplace_evidence(data[0][:, model], data[1], "rbf", PRIOR, STARTS)
        plain = log_likelihood(data[0][:, model], data[1], mode, "rbf")
        penalty = 0.5 * (3 if model else 2) * math.log(50)
        exact[model] = plain - penalty + log_model_prior(5, len(model))
    check_window(search, exact)


# -- the prior of models --------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 0.4, 1.0])
def test_prior_of_models(penalty):
    search = open_search(strong(0, n=10, p=7), max_features=4, size_penalty=penalty)
    for size in range(5):
        expected = -penalty * math.log(math.comb(7, size))
        assert_allclose(search.log_prior(size), expected, atol=1e-12)
    assert search.log_prior(5) == search.log_prior(7) == -np.inf
    if penalty == 1.0:  # every size is as probable as any other
        totals = [math.comb(7, size) * math.exp(search.log_prior(size)) for size in range(5)]
        assert_allclose(totals, 1.0)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_model_of_all_features(penalty):
    """There is nothing beyond it, and nothing to warn of."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-2, 2, (40, 2))
    data = features, features.sum(1) + 0.1 * rng.standard_normal(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = run_search(data, size_penalty=penalty)
    assert search.best.features == (0, 1)


# -- how it proceeds ------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_score_rises_along_the_path(shared):
    for data in (strong(6), vague(1)):
        search = run_search(data, [(5,), (2,)], shared=shared)
        steps = [step for step, _ in search.path]
        assert steps[0] == "start" and steps.count("start") == 2
        assert {"climb", "wander", "close"} <= set(steps)
        highest, previous = -np.inf, None
        for step, model in search.path:
            if step == "climb":
                assert model.score > previous.score
                changed = set(model.features) ^ set(previous.features)
                assert len(changed) == 1
            if step != "start":
                assert model.score >= previous.score or step == "close"
            highest = max(highest, model.score)
            previous = model
        assert search.path[-1][1].score == highest == search.best.score


def test_no_toggle_of_the_best_model_is_better():
    for data in (strong(7), vague(2)):
        search = run_search(data, n_wander=5)
        fresh = open_search(data)
        for j in range(6):
            toggled = tuple(sorted(set(search.best.features) ^ {j}))
            assert fresh.fit([toggled])[0].score <= search.best.score + CLOSE


def test_changes_are_toggles_and_exchanges_along_the_graph():
    search = open_search(vague(3), neighbors=2, max_features=3)
    starts, neighbors = search.graph
    edges = {(i, int(j)) for i in range(6) for j in neighbors[starts[i] : starts[i + 1]]}
    assert edges == {(j, i) for i, j in edges} and len(edges) >= 12
    for model in [(), (2,), (0, 4), (1, 3, 5)]:
        outside = set(range(6)) - set(model)
        expected = {(j, -1) for j in model}
        expected |= {(-1, j) for j in outside} if len(model) < 3 else set()
        expected |= {(i, j) for i, j in edges if i in model and j in outside}
        listed = [tuple(change) for change in search.changes(model).tolist()]
        assert len(listed) == len(set(listed)) and set(listed) == expected
        results = {search.changed(model, np.array(change)) for change in listed}
        assert len(results) == len(listed)
        for out, into in listed:
            expected = tuple(sorted((set(model) - {out}) | ({into} - {-1})))
            assert search.changed(model, np.array((out, into))) == expected


def test_exchanges_lead_out_of_a_sibling():
    """Without wandering, a copy with some noise on it is left for the feature that matters."""
    rng = np.random.default_rng(8)
    true = rng.uniform(-2, 2, (60, 2))
    sibling = true + 0.15 * rng.standard_normal((60, 2))
    features = np.column_stack([sibling, true])
    data = features, 2 * np.sin(1.5 * true[:, 0]) + true[:, 1] ** 2 + 0.1 * rng.standard_normal(60)
    search = run_search(data, [(0, 1)], neighbors=2, n_wander=0, close=False)
    assert search.best.features == (2, 3)
    for i, j in ((2, 0), (3, 1)):
        exchanged = tuple(sorted({2, 3} - {i} | {j}))
        assert open_search(data).fit([exchanged])[0].score < search.best.score
    climbed = [model.features for step, model in search.path if step == "climb"]
    assert any(len(a) == len(b) for a, b in zip([(0, 1), *climbed], climbed, strict=False))


def test_plug_in_scores_against_dense_algebra():
    data = strong(9)
    features, response = data
    search = open_search(data)
    at, other = search.fit([(0, 2), (1,)])
    for model in [(0, 2), (1, 3), ()]:
        for source in (at, other):
            changes, plug_ins = search.score_changes(model, source)
            assert len(plug_ins) == len(changes) + 1
            for change, value in zip([*changes, np.array([-1, -1])], plug_ins, strict=True):
                there = search.changed(model, change)
                u = source.parameters if there else source.parameters[[0, 2]]
                exact = log_likelihood(features[:, there], response, u, "rbf")
                assert_allclose(value, exact + log_model_prior(6, len(there)), rtol=1e-9)


class Watched(np.random.Generator):
    """Remembers the probabilities that it is given."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(seed))
        self.given = []

    def choice(self, count, p):
        self.given.append(np.array(p))
        return super().choice(count, p=p)


def test_wandering_steps_by_plug_in_posterior():
    """First steps leave the best model, by probabilities that dense algebra gives as well."""
    data = vague(4)
    search = open_search(data, n_wander=3, close=False)
    search.rng = Watched(0)
    search.run([(0,)])
    best = search.best
    changes = search.changes(best.features)
    logs = []
    for change in changes:
        there = search.changed(best.features, change)
        u = best.parameters if there else best.parameters[[0, 2]]
        value = log_likelihood(data[0][:, there], data[1], u, "rbf")
        logs.append(value + log_model_prior(6, len(there)))
    logs = np.array(logs)
    weights = np.exp(logs - logs.max())
    assert len(search.rng.given) == 3
    assert_allclose(search.rng.given[0], weights / weights.sum(), rtol=1e-7, atol=1e-12)


def test_wandering_fits_what_may_be_better():
    """Neighbours too far below the best model, at its parameters, are not worth a fit."""
    data, slack = strong(12), 6.0
    found = {}
    for allowed in (slack, 1e4):
        search = open_search(data, n_wander=10, slack=allowed)
        best = open_search(data).fit([(0, 1, 2)])[0]
        search.fitted[best.features] = best
        assert search._wander(best) is None
        found[allowed] = set(search.fitted) - {best.features}
    assert 0 < len(found[slack]) < len(found[1e4])

    def plug_in(features):
        u = best.parameters if features else best.parameters[[0, 2]]
        value = log_likelihood(data[0][:, features], data[1], u, "rbf")
        return value + log_model_prior(6, len(features))

    edge = plug_in(best.features) - math.log(20) - slack
    assert found[slack] == {features for features in found[1e4] if plug_in(features) > edge}


class Wayward(Watched):
    """Chooses the last change, an addition, until there are three; then as it should."""

    def choice(self, count, p):
        chosen = super().choice(count, p)
        return count - 1 if len(self.given) <= 3 else chosen


@pytest.mark.parametrize("refit", [False, True])
def test_parameters_of_a_model_that_has_wandered_off(refit):
    """Three features away from the best model it has its own, if that is asked for."""
    data = strong(10, p=7)
    search = open_search(data, n_wander=5, close=False, refit_drift=refit)
    search.rng = Wayward(0)
    search.run([(0,)])
    best = search.best
    assert len(search.rng.given) == 5
    walker = best.features
    for drift, given in enumerate(search.rng.given[:4]):
        at = best
        if refit and drift == 3:
            (at,) = search.fit([walker])
            assert np.abs(at.parameters - best.parameters).max() > 0.05
        changes = search.changes(walker)
        logs = []
        for change in changes:
            there = search.changed(walker, change)
            value = log_likelihood(data[0][:, there], data[1], at.parameters, "rbf")
            logs.append(value + log_model_prior(7, len(there)))
        weights = np.exp(np.array(logs) - max(logs))
        assert_allclose(given, weights / weights.sum(), rtol=1e-6, atol=1e-12)
        walker = search.changed(walker, changes[-1])


def noise_alone(seed, n=60, p=6):
    rng = np.random.default_rng(seed)
    return standardized(rng.standard_normal((n, p))), standardized(rng.standard_normal(n))


@pytest.mark.parametrize("close", [False, True])
def test_the_model_without_features_is_always_compared(close):
    """Its score at the parameters of a rough function would never let it be tried."""
    data = noise_alone(3)
    search = run_search(data, [(0,)], close=close, n_wander=0, slack=0.1, window=2)
    assert () in search.fitted
    exact, _ = laplace_evidence(data[0][:, ()], data[1], "rbf", PRIOR, STARTS)
    assert_allclose(search.fitted[()].score, exact, atol=CLOSE)
    started = [model.features for step, model in search.path if step == "start"]
    alone = open_search(data, close=False)
    (single,) = alone.fit([(0,)])
    assert (() in started) == (search.fitted[()].score > single.score)


def test_wandering_ends_after_so_many_failures():
    for count in (0, 1, 7):
        search = run_search(strong(10), n_wander=count)
        steps = [step for step, _ in search.path]
        after = len(steps) - max(i for i, step in enumerate(steps) if step in ("start", "climb"))
        assert steps[-after:].count("wander") == count


def test_largest_model(strong_scores):
    for limit in (1, 2):
        search = run_search(strong(1, p=5), [(3,)], neighbors=2, max_features=limit)
        assert max(len(model) for model in search.fitted) == limit
        check_window(search, {m: s for m, s in strong_scores.items() if len(m) <= limit})


def test_a_report_ends_the_search():
    seen = []

    def report(model):
        seen.append(model)
        return len(seen) == 2

    search = run_search(strong(12), report=report)
    assert search.stopped and len(seen) == 2
    whole = run_search(strong(12))
    assert search.best.score < whole.best.score
    assert search.window()[0] is search.best


# -- invariances ----------------------------------------------------------------------------------


def as_table(search):
    return {model.features: model for model in search.window()}


def test_without_a_memory_of_fits():
    """Where there is one mode: with several, the model fitted first decides which is found."""
    for data in (strong(13), vague(9, p=5)):
        with_memory, without = (run_search(data, memo=memo) for memo in (True, False))
        one, two = as_table(with_memory), as_table(without)
        lowest = with_memory.best.score - math.log(20)
        for model in one.keys() ^ two.keys():
            assert abs((one | two)[model].score - lowest) < CLOSE
        for model in one.keys() & two.keys():
            assert_allclose(one[model].score, two[model].score, atol=CLOSE)
        assert without.n_fits > with_memory.n_fits == len(with_memory.fitted)
        assert without.n_plug_ins > with_memory.n_plug_ins


def test_order_of_rows_does_not_matter():
    features, response = vague(6)
    order = np.random.default_rng(0).permutation(len(response))
    one, two = run_search((features, response)), run_search((features[order], response[order]))
    assert one.best.features == two.best.features
    for model in as_table(one).keys() & as_table(two).keys():
        assert_allclose(one.fitted[model].score, two.fitted[model].score, atol=1e-3)
        assert_allclose(one.fitted[model].parameters, two.fitted[model].parameters, atol=0.03)
    assert len(as_table(one).keys() ^ as_table(two).keys()) <= 1


def inclusion(search, p=6):
    models = search.window()
    weights = np.exp([model.score - models[0].score for model in models])
    out = np.zeros(p)
    for model, weight in zip(models, weights / weights.sum(), strict=True):
        out[list(model.features)] += weight
    return out


def test_order_of_columns_does_not_matter():
    features, response = vague(7)
    order = np.array([3, 0, 5, 1, 4, 2])
    one = run_search((features, response), [(3,)])
    two = run_search((features[:, order], response), [(0,)])
    assert_allclose(inclusion(two), inclusion(one)[order], atol=0.01)
    assert two.best.features == tuple(np.flatnonzero(np.isin(order, one.best.features)))


@pytest.mark.parametrize(("kind", "power"), [("rbf", 2), ("laplacian", 1), ("matern32", 2)])
def test_unit_of_the_columns_changes_the_bandwidth_only(kind, power):
    features, response = strong(14)
    factor = 1.7
    moved = ParameterPrior(PRIOR[0], (1.0, factor**power), PRIOR[2])
    one = run_search((features, response), kind=kind)
    two = run_search((features * factor, response), kind=kind, prior=moved)
    assert as_table(one).keys() == as_table(two).keys()
    for model, fit in as_table(one).items():
        other = two.fitted[model]
        assert_allclose(other.score, fit.score, atol=1e-3)
        shift = np.array([0.0, power * math.log(factor), 0.0])
        assert_allclose(other.parameters - fit.parameters, shift, atol=0.01)


def test_same_seed_same_search():
    runs = [run_search(vague(8), seed=seed, close=False) for seed in (3, 3, 4)]
    paths = [[(step, model.features, model.score) for step, model in run.path] for run in runs]
    assert paths[0] == paths[1]
    assert list(runs[0].fitted) == list(runs[1].fitted)
    for model, fit in runs[0].fitted.items():
        assert_array_equal(fit.parameters, runs[1].fitted[model].parameters)
    assert list(runs[0].fitted) != list(runs[2].fitted)


# -- Metropolis sampling --------------------------------------------------------------------------


def sample(data, prior, u, log_step, tune, draws, seed, largest=None, kind="rbf", neighbors=0):
    search = open_search(data, kind=kind, prior=prior, neighbors=neighbors)
    p = data[0].shape[1]
    log_sizes = np.array([log_model_prior(p, size) for size in range((largest or p) + 1)])
    shapes, rates = np.array(prior).T.copy()
    models, parameters = np.zeros((draws, p), np.int8), np.zeros((draws, 3))
    rates_seen = sample_models(
        np.random.default_rng(seed), search.describe([()]), search.graph, np.zeros(p, np.int64),
        np.array(u), log_sizes, np.ascontiguousarray(shapes), np.ascontiguousarray(rates),
        np.full(3, log_step), tune, models, parameters, 0, tune + draws,
    )  # fmt: skip
    return models, parameters, rates_seen


def few(seed, n=12, p=3):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, p))
    return features, 0.8 * np.sin(features[:, 0]) + 0.7 * rng.standard_normal(n)


@pytest.mark.parametrize(("kind", "largest"), [("rbf", None), ("matern32", None), ("rbf", 2)])
def test_sampled_models_at_fixed_parameters_against_enumeration(kind, largest):
    features, response = few(0)
    u = np.array([0.2, 0.6, -1.0])
    models, parameters, rates = sample(
        (features, response), PRIOR, u, -np.inf, 0, 40_000, 1, largest, kind
    )
    assert (parameters == u).all() and rates[1] == 1.0 and 0.05 < rates[0] < 0.95
    sets = feature_sets(3, largest or 3)
    logs = np.array(
        [
            log_likelihood(features[:, m], response, u if m else u[[0, 2]], kind)
            + log_model_prior(3, len(m))
            for m in sets
        ]
    )
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    code = models @ np.array([1, 2, 4])
    z = scores({m: code == sum(2**j for j in m) for m in sets}, dict(zip(sets, exact, strict=True)))
    print(worst(z))
    assert max(map(abs, z.values())) < 4.5
    assert (models.sum(1) <= (largest or 3)).all()


def test_exchanges_leave_the_law_of_the_models():
    """Features of unlike numbers of neighbours: a star, and one that is joined to one only."""
    rng = np.random.default_rng(3)
    centre = rng.standard_normal((14, 1))
    features = centre + 0.3 * rng.standard_normal((14, 4)) * [0.1, 1, 1, 1]
    response = np.sin(centre[:, 0]) + 0.7 * rng.standard_normal(14)
    u = np.array([0.2, 0.6, -1.0])
    graph = open_search((features, response), neighbors=1).graph
    assert len(set(np.diff(graph.starts))) > 1
    models, _, _ = sample((features, response), PRIOR, u, -np.inf, 0, 40_000, 4, neighbors=1)
    sets = feature_sets(4, 4)
    logs = np.array(
        [
            log_likelihood(features[:, m], response, u if m else u[[0, 2]], "rbf")
            + log_model_prior(4, len(m))
            for m in sets
        ]
    )
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    code = models @ np.array([1, 2, 4, 8])
    z = scores({m: code == sum(2**j for j in m) for m in sets}, dict(zip(sets, exact, strict=True)))
    print(worst(z))
    assert max(map(abs, z.values())) < 4.5


def test_exchanges_carry_a_chain_from_twin_to_twin():
    rng = np.random.default_rng(5)
    features = rng.standard_normal((60, 30))
    features[:, 1] = features[:, 0] + 0.05 * rng.standard_normal(60)
    response = 2.0 * np.sin(features[:, 0]) + 0.3 * rng.standard_normal(60)
    moves = []
    for neighbors in (0, 1):
        models, _, _ = sample(
            (features, response), PRIOR, [0.7, 1.0, -2.0], -1.0, 100, 500, 6, neighbors=neighbors
        )
        moves.append(np.abs(np.diff(models[:, 0])).sum())
    assert moves[1] > 3 * moves[0]


def test_sampled_models_and_parameters_against_quadrature():
    data = features, response = few(1)
    prior = ParameterPrior((2.0, 2.0), (2.0, 3.0), (2.0, 1.0))
    models, parameters, rates = sample(data, prior, [0.0, 0.5, -1.0], -1.0, 2000, 60_000, 2)
    assert 0.25 < rates[1] < 0.65
    sets = feature_sets(3, 3)
    parts = [integrate(features[:, m], response, "rbf", prior, reach=(-6.0, 9.0)) for m in sets]
    logs = np.array([evidence for evidence, _ in parts])
    logs += [log_model_prior(3, len(m)) for m in sets]
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    names = ("log amplitude", "log bandwidth", "log noise")
    exact = dict(zip(sets, weights, strict=True))
    exact |= dict(zip(names, weights @ np.array([means for _, means in parts]), strict=True))
    code = models @ np.array([1, 2, 4])
    drawn = {m: code == sum(2**j for j in m) for m in sets}
    drawn |= dict(zip(names, parameters.T, strict=True))
    z = scores(drawn, exact)
    print(worst(z))
    assert max(map(abs, z.values())) < 4.5


def test_chains_agree_with_the_laws_they_sample():
    """Models by visits, parameters as draws; and the same for any number of threads."""
    data = few(2)
    results = []
    for n_jobs in (1, 2):
        search = open_search(data, seed=5)
        (start,) = search.fit([(0,)])
        results.append(sample_posterior(search, start, 400, 100, 2, n_jobs))
    assert_allclose(sum(model.weight for model in results[0]), 1.0)
    weights = [model.weight for model in results[0]]
    assert weights == sorted(weights, reverse=True)
    for one, two in zip(*results, strict=True):
        assert one.features == two.features and one.weight == two.weight
        assert_array_equal(one.parameters, two.parameters)
        assert one.parameters.shape == (len(one.weights), 3 if one.features else 2)
        assert_allclose(one.weights.sum(), 1.0)
