"""The scikit-learn contract of the kernel projection classifier, to the letter."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsekern import KernelProjectionClassifier

SHORT = {"draws": 40, "tune": 40, "chains": 2, "search_draws": 20}
# The Array API check runs only under SCIPY_ARRAY_API=1, for estimators that claim support.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@parametrize_with_checks([KernelProjectionClassifier(**SHORT)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def checks_that_count_components(estimator):
    """Return checks that set ``n_components=1`` themselves, where there is nothing to count."""
    if estimator.projection:
        return {}
    reason = "n_components=1 and projection=False contradict each other, and are refused"
    names = ("dont_overwrite_parameters", "methods_sample_order_invariance", "fit2d_1sample",
             "methods_subset_invariance", "fit2d_1feature", "fit2d_predict1d")  # fmt: skip
    return {f"check_{name}": reason for name in names}


@pytest.mark.slow
@parametrize_with_checks(
    [
        KernelProjectionClassifier(),
        KernelProjectionClassifier(inference="latent_noise", classes="reference", **SHORT),
        KernelProjectionClassifier("average", kernel="linear", **SHORT),
        KernelProjectionClassifier("utility", **SHORT),
        KernelProjectionClassifier(
            projection=False, inference="latent_noise", predictive_noise=True, **SHORT
        ),
        KernelProjectionClassifier(kernel=["rbf", "linear"], standardize=True, **SHORT),
    ],
    expected_failed_checks=checks_that_count_components,
)
def test_scikit_learn_check_of_more_options_and_the_defaults(estimator, check):
    check(estimator)
