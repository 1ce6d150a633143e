"""The scikit-learn contract of every estimator, to the letter: short fits, slow ones of options."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsekern import (
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    KernelProjectionClassifier,
    PCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseGPClassifier,
)

CHAINS = {"draws": 40, "tune": 40, "chains": 2}
WIDTHS = {"n_length_scales": 3}
ONE_START = {"n_init": 1}
SHARED = {"vectors": "shared", "max_iter": 60, **ONE_START}
PROJECTIONS = {**CHAINS, "search_draws": 20}

pytestmark = [
    # The Array API check runs only under SCIPY_ARRAY_API=1, for estimators that claim support.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    # data of the checks may be noise, which no feature and no kernel explains
    pytest.mark.filterwarnings("ignore:No features were selected"),
    pytest.mark.filterwarnings("ignore:the fitted function has less than 1 %"),
    pytest.mark.filterwarnings("ignore:.*have no clear maximum"),
]


@parametrize_with_checks(
    [
        BayesianMKLClassifier(["rbf", "linear"], landmarks=30, **ONE_START),
        BayesianMKLRegressor(**ONE_START),
        DoublySparseClassifier(**CHAINS),  # one-vs-rest too
        DoublySparseRegressor(**CHAINS),
        GKMClassifier(**CHAINS),
        GKMRegressor(**CHAINS),
        HybridSearchGPClassifier(n_wander=1, close=False),
        HybridSearchGPRegressor(n_wander=1),
        KernelProjectionClassifier(**{**CHAINS, "search_draws": 8}),
        PCVMClassifier(**WIDTHS),
        RVMClassifier(**WIDTHS),
        RVMRegressor(**WIDTHS),
        SparseGPClassifier(**CHAINS),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
# scikit-learn sets n_components=1 where there is such a parameter
@pytest.mark.filterwarnings("ignore:n_components=1 counts projections:UserWarning")
@pytest.mark.filterwarnings("ignore:.*outputs share the sample weights")
@parametrize_with_checks(
    [
        # the defaults
        BayesianMKLClassifier(),
        BayesianMKLRegressor(),
        GKMClassifier(),
        GKMRegressor(),
        HybridSearchGPRegressor(),
        KernelProjectionClassifier(),
        PCVMClassifier(),
        RVMClassifier(),
        RVMRegressor(),
        # options, family by family
        GKMClassifier(likelihood="logit", kernel=["rbf", "linear"], **CHAINS),  # one-vs-rest too
        GKMClassifier(kernel="matern32", learn_length_scale="shared", **CHAINS),
        GKMClassifier(learn_length_scale="per_feature", **CHAINS),
        GKMClassifier(sparse=False, draws=20, tune=20, chains=2),
        GKMClassifier(likelihood="hinge", candidates=10, **CHAINS),
        GKMRegressor(noise="student_t", **CHAINS),
        DoublySparseClassifier(likelihood="probit", screen=3, **CHAINS),
        DoublySparseClassifier(likelihood="hinge", **CHAINS),
        DoublySparseRegressor(noise="student_t", screen=3, screen_by="evidence", **CHAINS),
        HybridSearchGPRegressor(n_wander=2, bandwidth="per_feature", kernel="matern32"),
        HybridSearchGPRegressor(evidence="bic", integration="draws", draws=50, screen=2),
        HybridSearchGPRegressor(search="mcmc", draws=50, tune=50),
        HybridSearchGPRegressor(search_rows=10, n_wander=2),
        BayesianMKLRegressor(kernel="linear"),
        BayesianMKLRegressor(landmarks=40, **ONE_START),
        BayesianMKLRegressor(sample_sparsity=True, **ONE_START),
        BayesianMKLRegressor(kernel_sparsity=False, **ONE_START),
        BayesianMKLRegressor(**SHARED),
        BayesianMKLRegressor(nonnegative=True, **SHARED),
        BayesianMKLRegressor(sample_sparsity=True, **SHARED),
        BayesianMKLRegressor(share="sample_weights", **SHARED),
        BayesianMKLClassifier(likelihood="probit", **ONE_START),
        BayesianMKLClassifier(likelihood="multinomial_probit", **ONE_START),
        BayesianMKLClassifier(**SHARED),
        BayesianMKLClassifier(likelihood="probit", **SHARED),
        BayesianMKLClassifier(likelihood="multinomial_probit", **SHARED),
        BayesianMKLClassifier(nonnegative=True, **SHARED),
        PCVMClassifier(length_scale="cv"),
        PCVMClassifier(selection="truncated", **WIDTHS),
        PCVMClassifier(likelihood="scaled_logit", **WIDTHS),
        PCVMClassifier(inference="ep", **WIDTHS),
        PCVMClassifier(inference="smoothed", **WIDTHS),
        PCVMClassifier(inference="em", **WIDTHS),
        PCVMClassifier(inference="mcmc", **WIDTHS, **CHAINS),
        PCVMClassifier(multi_class="multinomial", **WIDTHS),
        RVMClassifier(inference="ep", likelihood="probit", **WIDTHS),
        RVMClassifier(likelihood="probit", **WIDTHS),
        RVMClassifier(multi_class="multinomial", **WIDTHS),
        RVMRegressor(length_scale="cv"),
        KernelProjectionClassifier(inference="latent_noise", classes="reference", **PROJECTIONS),
        KernelProjectionClassifier("average", kernel="linear", **PROJECTIONS),
        KernelProjectionClassifier("utility", **PROJECTIONS),
        KernelProjectionClassifier(
            projection=False, inference="latent_noise", predictive_noise=True, **PROJECTIONS
        ),
        KernelProjectionClassifier(
            kernel=["rbf", "linear"], standardize=True, select_kernels=True, **PROJECTIONS
        ),
        KernelProjectionClassifier(inference="polya_gamma", **PROJECTIONS),
        KernelProjectionClassifier(inference="least_squares", **PROJECTIONS),
    ]
)
def test_scikit_learn_check_of_more_options_and_the_defaults(estimator, check):
    check(estimator)
