"""Groups of parameters keep plain values that nobody can change, and refuse what cannot be."""

import numpy as np
import pytest

from sparsekern import (
    DoublySparseClassifier,
    GKMRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    KernelProjectionClassifier,
)
from sparsekern.settings import (
    DoublySparseRegressionMoves,
    GKMPriors,
    GKMRegressionPriors,
    HybridPriors,
    HybridSearchOptions,
    ProjectionPrediction,
    ProjectionSearchOptions,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
TREND = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(40)
SHORT = {"draws": 8, "tune": 8, "chains": 2, "random_state": 0, "progress": False}


def test_values_are_copies():
    pair, freedom = [1.0, 0.1], np.array([2.0, 4.0])
    priors = GKMRegressionPriors(noise=pair, degrees_of_freedom=freedom)
    pair[0], freedom[0] = -1.0, -5.0
    assert priors.noise == (1.0, 0.1) and priors.degrees_of_freedom == (2.0, 4.0)
    same = GKMRegressionPriors(noise=(1, 0.1), degrees_of_freedom=[2, 4])
    assert priors == same and hash(priors) == hash(same)
    plain = GKMPriors(max_active=np.int64(7), sparse=np.True_)
    assert type(plain.max_active) is int and plain.sparse is True


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GKMPriors(scale={1.0, 2.0}), "GKMPriors.scale must be a pair"),
        (lambda: GKMPriors(scale={1.0: 2.0, 3.0: 4.0}), "must be a pair"),
        (lambda: GKMPriors(scale=(v for v in (1, 2))), "must be a pair"),
        (lambda: GKMRegressionPriors(degrees_of_freedom=[]), "'learned', got"),
        (lambda: GKMRegressionPriors(degrees_of_freedom={2.0: 1}), "'learned', got"),
        (lambda: DoublySparseRegressionMoves(temperatures=iter((1, 2))), "at least two rising"),
    ],
)
def test_what_is_no_pair_or_list(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_truth_values_are_no_numbers():
    for make in (
        lambda: HybridPriors(size_penalty=False),
        lambda: ProjectionSearchOptions(cost=False),
        lambda: HybridSearchOptions(window=np.array([1, 2])),
        lambda: HybridSearchOptions(window="wide"),
        lambda: GKMPriors((1, 2)),  # the order of parameters means nothing
    ):
        with pytest.raises(TypeError):
            make()


def test_setting_several_parameters_is_all_or_nothing():
    model = GKMRegressor()
    with pytest.raises(ValueError, match="Invalid parameter 'bogus'"):
        model.set_params(draws=9, priors__bogus=3)
    assert model.draws == "auto" and model.priors is None
    model.set_params(priors=GKMRegressionPriors(max_active=5), priors__noise=(2, 1))
    assert model.priors == GKMRegressionPriors(max_active=5, noise=(2, 1))


@pytest.mark.parametrize(
    ("model", "y", "changes"),
    [
        (HybridSearchGPRegressor(counts="poisson"), np.round(np.exp(TREND)),
         {"priors__intercept": 1e-6}),
        (HybridSearchGPRegressor(noise="student_t"), TREND, {"priors__degrees_of_freedom": 1.0}),
        (HybridSearchGPClassifier(), TREND > 0, {"priors__intercept": 1e-6}),
        (HybridSearchGPClassifier(), np.digitize(TREND, [-0.5, 0.5]), {"priors__intercept": 1e-6}),
    ],
)  # fmt: skip
def test_what_is_changed_after_a_fit_changes_no_prediction(model, y, changes):
    model.set_params(search__n_wander=0, search__close=False, random_state=0, progress=False)
    model.fit(X, y)
    means = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    before = means(X)
    np.testing.assert_array_equal(before, (model.set_params(**changes), means(X))[1])


def test_draws_of_several_classes_follow_their_number():
    model = HybridSearchGPClassifier(random_state=0, progress=False)
    model.set_params(search__n_wander=0, search__close=False)
    model.fit(X, np.digitize(TREND, [-0.5, 0.5])).set_params(prediction__draws=50)
    assert model.sample_proba(X[:2]).shape == (50, 2, 3)


def test_equal_groups_go_on_with_a_warm_start():
    model = DoublySparseClassifier(warm_start=True, **SHORT).fit(X, TREND > 0)
    model.set_params(draws=12, selection__max_features=np.int64(50), moves__blocks=np.int32(4))
    assert model.fit(X, TREND > 0).n_draws_ == 12
    with pytest.raises(ValueError, match="parameters have changed"):
        model.set_params(draws=14, moves__swaps=3).fit(X, TREND > 0)


def test_a_warm_start_sees_all_of_a_long_array():
    wide = RNG.standard_normal((30, 1500))
    scales = np.full(1500, 20.0)
    model = KernelProjectionClassifier(
        length_scale=scales, inference="polya_gamma", warm_start=True,
        prediction=ProjectionPrediction(sharpness=1.0), **SHORT,
    ).fit(wide, wide[:, 0] > 0)  # fmt: skip
    other = scales.copy()
    other[200:900] = 2.0
    with pytest.raises(ValueError, match="parameters have changed"):
        model.set_params(length_scale=other, draws=12).fit(wide, wide[:, 0] > 0)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"noise": "poisson"}, "noise='poisson' is a law of counts: use counts='poisson'"),
        ({"counts": "student_t"}, "counts='student_t' is a law of reals: use noise='student_t'"),
    ],
)
def test_a_law_under_the_wrong_name(law, words):
    for model in (GKMRegressor, HybridSearchGPRegressor):
        with pytest.raises(ValueError, match=words):
            model(**law).fit(X, np.round(np.exp(TREND)))


def test_an_exposure_is_no_part_of_a_kernel_matrix():
    with pytest.raises(ValueError, match="with kernel='precomputed' X is the kernel matrix"):
        GKMRegressor("precomputed", counts="poisson", offset=1, **SHORT).fit(
            np.eye(40), np.round(np.exp(TREND))
        )
