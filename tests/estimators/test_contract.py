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
from sparsekern.settings import (
    DoublySparseSelection,
    GKMPriors,
    HybridPrediction,
    HybridRegressionSearch,
    HybridSearchOptions,
    HybridSelection,
    MKLPriors,
    MKLRegressionPriors,
    PCVMSearch,
    ProjectionPrediction,
    ProjectionPriors,
    ProjectionSearchOptions,
    VectorMachineSearch,
)

CHAINS = {"draws": 40, "tune": 40, "chains": 2}
SHORT_CHAINS = {"draws": 6, "tune": 6, "chains": 2}  # of sweeps that do more, and take longer
FEW_DRAWS = {"draws": 15, "tune": 15, "chains": 2}
WIDTHS = {"search": VectorMachineSearch(n_length_scales=3)}
PCVM_WIDTHS = {"search": PCVMSearch(n_length_scales=3)}
ONE_START = {"n_init": 1}
SHARED = {"vectors": "shared", "max_iter": 60, **ONE_START}
PROJECTIONS = {**CHAINS, "search": ProjectionSearchOptions(draws=20)}

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
        BayesianMKLClassifier(["rbf", "linear"], candidates=30, **ONE_START),
        BayesianMKLRegressor(**ONE_START),
        DoublySparseClassifier(**SHORT_CHAINS),  # one-vs-rest too
        DoublySparseRegressor(**CHAINS),
        GKMClassifier(**CHAINS),
        GKMRegressor(**CHAINS),
        HybridSearchGPClassifier(search=HybridSearchOptions(n_wander=1, close=False)),
        HybridSearchGPRegressor(search=HybridRegressionSearch(n_wander=1)),
        # inference and sharpness by folds; the width by folds, too, is among the defaults below
        KernelProjectionClassifier(
            length_scale="mean_distance", search=ProjectionSearchOptions(draws=4), **FEW_DRAWS
        ),
        PCVMClassifier(**PCVM_WIDTHS),
        RVMClassifier(**WIDTHS),
        RVMRegressor(**WIDTHS),
        SparseGPClassifier(**CHAINS),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
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
        GKMClassifier(priors=GKMPriors(sparse=False), draws=20, tune=20, chains=2),
        GKMClassifier(likelihood="hinge", candidates=10, **CHAINS),
        GKMRegressor(noise="student_t", **CHAINS),
        DoublySparseClassifier(
            likelihood="probit", selection=DoublySparseSelection(screen=3), **CHAINS
        ),
        DoublySparseClassifier(likelihood="hinge", **CHAINS),
        DoublySparseRegressor(
            noise="student_t",
            selection=DoublySparseSelection(screen=3, screen_by="evidence"),
            **CHAINS,
        ),
        HybridSearchGPRegressor(
            kernel="matern32",
            learn_length_scale="per_feature",
            search=HybridRegressionSearch(n_wander=2),
        ),
        HybridSearchGPRegressor(
            selection=HybridSelection(screen=2),
            search=HybridRegressionSearch(evidence="bic"),
            prediction=HybridPrediction(integration="draws", draws=50),
        ),
        HybridSearchGPRegressor(
            search=HybridRegressionSearch(method="mcmc", tune=50),
            prediction=HybridPrediction(draws=50),
        ),
        HybridSearchGPRegressor(search=HybridRegressionSearch(rows=10, n_wander=2)),
        BayesianMKLRegressor(kernel="linear"),
        BayesianMKLRegressor(candidates=40, **ONE_START),
        BayesianMKLRegressor(priors=MKLRegressionPriors(sample_sparsity=True), **ONE_START),
        BayesianMKLRegressor(priors=MKLRegressionPriors(kernel_sparsity=False), **ONE_START),
        BayesianMKLRegressor(**SHARED),
        BayesianMKLRegressor(priors=MKLRegressionPriors(nonnegative=True), **SHARED),
        BayesianMKLRegressor(priors=MKLRegressionPriors(sample_sparsity=True), **SHARED),
        BayesianMKLRegressor(share="sample_weights", **SHARED),
        BayesianMKLClassifier(likelihood="probit", **ONE_START),
        BayesianMKLClassifier(likelihood="multinomial_probit", **ONE_START),
        BayesianMKLClassifier(**SHARED),
        BayesianMKLClassifier(likelihood="probit", **SHARED),
        BayesianMKLClassifier(likelihood="multinomial_probit", **SHARED),
        BayesianMKLClassifier(priors=MKLPriors(nonnegative=True), **SHARED),
        PCVMClassifier(length_scale="cv"),
        PCVMClassifier(search=PCVMSearch(n_length_scales=3, selection="truncated")),
        PCVMClassifier(likelihood="scaled_logit", **PCVM_WIDTHS),
        PCVMClassifier(inference="ep", **PCVM_WIDTHS),
        PCVMClassifier(inference="smoothed", **PCVM_WIDTHS),
        PCVMClassifier(inference="em", **PCVM_WIDTHS),
        PCVMClassifier(inference="mcmc", **PCVM_WIDTHS, **CHAINS),
        PCVMClassifier(multi_class="multinomial", **PCVM_WIDTHS),
        RVMClassifier(inference="ep", likelihood="probit", **WIDTHS),
        RVMClassifier(likelihood="probit", **WIDTHS),
        RVMClassifier(multi_class="multinomial", **WIDTHS),
        RVMRegressor(length_scale="cv"),
        KernelProjectionClassifier(
            inference="latent_noise",
            priors=ProjectionPriors(classes="reference"),
            **PROJECTIONS,
        ),
        KernelProjectionClassifier("average", kernel="linear", **PROJECTIONS),
        KernelProjectionClassifier("utility", **PROJECTIONS),
        KernelProjectionClassifier(
            "kernel",
            inference="latent_noise",
            prediction=ProjectionPrediction(noise=True),
            **PROJECTIONS,
        ),
        KernelProjectionClassifier(
            kernel=["rbf", "linear"],
            standardize=True,
            priors=ProjectionPriors(select_kernels=True),
            **PROJECTIONS,
        ),
        KernelProjectionClassifier(inference="polya_gamma", **PROJECTIONS),
        KernelProjectionClassifier(inference="least_squares", **PROJECTIONS),
    ]
)
def test_scikit_learn_check_of_more_options_and_the_defaults(estimator, check):
    check(estimator)
