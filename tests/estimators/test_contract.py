"""The scikit-learn contract, to the letter."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsekern import GKMClassifier, GKMRegressor, SparseGPClassifier

SHORT = {"draws": 60, "tune": 60, "chains": 2}

# The Array API check runs only under SCIPY_ARRAY_API=1, for estimators that claim support.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks(
    [
        GKMClassifier(**SHORT),
        GKMClassifier(likelihood="logit", kernel=["rbf", "linear"], **SHORT),  # one-vs-rest too
        SparseGPClassifier(**SHORT),
        GKMRegressor(**SHORT),
        GKMRegressor(noise="student_t", **SHORT),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        GKMClassifier(kernel="matern32", learn_length_scale="shared", **SHORT),
        GKMClassifier(sparse=False, draws=20, tune=20, chains=2),
        GKMClassifier(likelihood="hinge", candidates=10, **SHORT),
        GKMClassifier(),
        GKMClassifier(learn_length_scale="per_feature"),
        GKMRegressor(),
    ]
)
def test_scikit_learn_check_of_more_options_and_the_defaults(estimator, check):
    check(estimator)
