"""The scikit-learn contract of the kernel projection classifier, to the letter."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsekern import KernelProjectionClassifier

SHORT = {"draws": 40, "tune": 40, "chains": 2, "search_draws": 20}
# The Array API check runs only under SCIPY_ARRAY_API=1, for estimators that claim support.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks([KernelProjectionClassifier(**{**SHORT, "search_draws": 8})])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
# scikit-learn sets n_components=1 where there is such a parameter
@pytest.mark.filterwarnings("ignore:n_components=1 counts projections:UserWarning")
@parametrize_with_checks(
    [
        KernelProjectionClassifier(),
        KernelProjectionClassifier(inference="latent_noise", classes="reference", **SHORT),
        KernelProjectionClassifier("average", kernel="linear", **SHORT),
        KernelProjectionClassifier("utility", **SHORT),
        KernelProjectionClassifier(
            projection=False, inference="latent_noise", predictive_noise=True, **SHORT
        ),
        KernelProjectionClassifier(
            kernel=["rbf", "linear"], standardize=True, select_kernels=True, **SHORT
        ),
        KernelProjectionClassifier(inference="polya_gamma", **SHORT),
        KernelProjectionClassifier(inference="least_squares", **SHORT),
    ]
)
def test_scikit_learn_check_of_more_options_and_the_defaults(estimator, check):
    check(estimator)
