"""The kernel projection classifier: few rows, many features, several classes."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import logit
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ...inference.kernel_projection.collect import collect
from ...inference.kernel_projection.held_out import column_factor
from ...inference.kernel_projection.sampler import KernelProjectionSampler
from ...posteriors.names import row_labels
from ...settings.kernel_projection import (
    ProjectionPrediction,
    ProjectionPriors,
    ProjectionSearchOptions,
)
from ...settings.until_converged import UntilConverged
from ..shared.class_face import ClassFace, encode_classes
from ..shared.documentation import documented
from ..shared.estimator import Estimator
from ..shared.runner import Runner
from ..shared.sampled import fit_chains, name_data
from .parameters import (
    KERNEL,
    check_parameters,
    pools_geometrically,
    refuse_empty,
    refuse_selection,
    rows_to_learn,
)
from .search import decide, decided_attributes


@documented
class KernelProjectionClassifier(
    ClassNamePrefixFeaturesOutMixin, ClassFace, TransformerMixin, ClassifierMixin, Estimator
):
    r"""Bayesian multinomial classifier on kernel principal components.

    For spectra, microarrays and images: few rows, thousands of features, several classes. The
    leading components :math:`P` of the centred kernel matrix stand for the features,

    .. math:: P(y_i=k)\propto e^{z_{ik}},\qquad z_k=\beta_{0k}1+P\beta_k,\qquad
              \beta_{lk}\sim N(0,s^2),\quad s\sim N^+(0,\mathrm{scale}^2),

    and everything but the components is sampled, from the posterior given the labels or, where
    held-out rows are predicted better so, given :math:`z_{ik}=10[1(y_i=k)-1/K]+\mathrm{noise}`
    (see ``inference``). Predictions are those of the posterior mean of the latent functions,
    sharpened or blunted as held-out rows ask for. What is decided by held-out rows (model, width,
    sharpness, number of components) follows from the rows alone: neither their order nor
    ``random_state`` changes it. The cost depends on the number of features only through the kernel
    matrix.

    Parameters
    ----------
    n_components : None, int, "average", "utility", "log_score" or "kernel", default=None
        Leading components (with several kernels, of each; never more than there are). None: half
        of the rows, but at least 50 and at most 150; for ``"least_squares"`` twice as many.
        ``"average"``: of these any may be left out, averaged over. ``"utility"``,
        ``"log_score"``: searched from 1 to ``search.max_components`` over random halves, by
        accuracy less ``search.cost`` for every component, or by the log probability of held-out
        labels. ``"kernel"``: no components, the kernel matrix itself is the design, a coefficient
        for every training row (BMKC); for comparison.
    <<kernel parameter>>
    length_scale : float, array of shape (n_features,), or str, default="cv"
        Length scale of the kernel, as scikit-learn defines it (Gaussian kernel
        :math:`\exp(-d^2/2\ell^2)`). ``"mean_distance"``, ``"median_distance"``: that distance
        between training rows over :math:`\sqrt2`. ``"cv"``: 0.4, 0.63, 1, 1.6, 2.5 and 4 times
        the first, in the geometric mean with weights :math:`\propto e^{S/2}`, S the log score of
        all rows over the same folds (see ``inference``). A kernel object keeps its length scale.
    inference : {"cv", "polya_gamma", "least_squares", "latent_noise"}, default="cv"
        ``"polya_gamma"``: the labels have the class probabilities above; best where classes
        overlap. ``"least_squares"``: they are Gaussian responses, 10 for the own class and 0 for
        the others less their mean (10 less that of the reference class), with noise
        :math:`\sigma^2`; the rows far from a boundary then count as well, which is best for few
        rows, many features and classes that are separated. ``"cv"``: the second if its log score
        over five folds, drawn three times, is better by more than a standard error of the
        difference, else the first (always with a search of the number of components, or if
        ``"average"`` is to select those of several kernels). ``"latent_noise"`` is the model of
        the paper, :math:`z_k\sim N(P\beta_k,\sigma^2I)`,
        :math:`\beta_{lk}\sim N(0,\sigma^2/\tau_{lk})`. It predicts worse; for comparison.
    max_rows : int or None, default=2000
        Beyond this number of rows a random sample of them, spread over the classes, is learned
        from, and a warning says so: time grows with the cube of the rows, and memory with their
        square. None: all rows. A precomputed kernel is taken as it is.
    standardize : bool, default=False
        Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
        ``"precomputed"``). For columns in different units.
    priors : ProjectionPriors or None, default=None
        Priors; see :class:`sparsekern.settings.ProjectionPriors`, whose defaults None stands for.
    search : ProjectionSearchOptions or None, default=None
        How the number of components is searched, and how short the chains on parts of the rows
        are; see :class:`sparsekern.settings.ProjectionSearchOptions`.
    prediction : ProjectionPrediction or None, default=None
        How draws become predictions, and how sharp; see
        :class:`sparsekern.settings.ProjectionPrediction`.
    <<draws parameter>>
    tune, chains : int, default=1000, 4
        Sweeps of each chain before the first draw, and chains, started apart from each other.
    thin : int, default=2
        Sweeps for each draw.
    <<running parameters>>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X has string column names.
    inference_ : str
        The model used.
    n_components_ : int
        Components used, over all kernels (training rows with ``n_components="kernel"``).
    eigenvalues_ : ndarray of shape (n_components_,)
        Of the centred kernel matrix. Not with ``n_components="kernel"``.
    length_scale_ : ndarray of shape (n_features,) or (n_kernels, n_features), or None
        The kernel's length scales; None where no kernel has any.
    sharpness_ : float
        Power of the pooled class probabilities.
    utility_ : pandas.DataFrame
        Only after a search: utility, accuracy and log score of every size, differences to the size
        before and to the best, each with its standard error over the random halves. The largest
        accuracy of the table is optimistic; as the search is a part of ``fit``, cross-validation of
        this estimator is honest.
    widths_ : pandas.DataFrame
        Only if folds were used: model, sharpness, log score, error and weight at every width.
    kernel_scales_ : ndarray of shape (n_kernels,)
        Median of s, with zeros where a kernel has no part; in units of the latent functions, which
        are those of the responses with ``"least_squares"``. Not ``"latent_noise"``.
    kernel_inclusion_ : ndarray of shape (n_latents, n_kernels)
        Only with ``priors.select_kernels``: share of draws in which each kernel has a part in the
        latent function of each class (the same for all with ``"least_squares"``).
    inclusion_probabilities_ : ndarray of shape (n_latents, n_components_)
        Only ``"average"``: share of draws in which each coefficient is not zero (the same for all
        classes with ``"latent_noise"``).
    posterior_ : xarray.DataTree
        Draws of scalars and coefficients (for symmetric classes less their mean over classes) and,
        unless large, the pointwise log-likelihood, ready for ArviZ.
    diagnostics_ : pandas.DataFrame
        Mean, sd, Monte-Carlo error, bulk and tail ESS and R-hat of every scalar.
    acceptance_rates_ : dict
        Share of accepted moves after tuning: of scales, and of paths of all coefficients
        (``"least_squares"`` has none to refuse).
    n_draws_ : int
        Kept draws of each chain.

    References
    ----------
    Domijan and Wilson (2011). Bayesian kernel projections for classification of high dimensional
    data. Statistics and Computing 21.

    Examples
    --------
    >>> from sparsekern import KernelProjectionClassifier
    >>> from sparsekern.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = KernelProjectionClassifier(draws=50, tune=50, random_state=0).fit(X, y)
    >>> model.predict_proba([[0.0, 0.5]]).shape
    (1, 2)
    """

    n_components_: int
    _sampled = "components"
    _groups: ClassVar = {
        "priors": ProjectionPriors,
        "search": ProjectionSearchOptions,
        "prediction": ProjectionPrediction,
    }

    def __init__(
        self,
        n_components: Any = None,
        *,
        kernel: Any = "rbf",
        length_scale: Any = "cv",
        inference: str = "cv",
        max_rows: int | None = 2000,
        standardize: bool = False,
        priors: ProjectionPriors | None = None,
        search: ProjectionSearchOptions | None = None,
        prediction: ProjectionPrediction | None = None,
        draws: int | str | UntilConverged = "auto",
        tune: int = 1000,
        chains: int = 4,
        thin: int = 2,
        warm_start: bool = False,
        checkpoint: Any = None,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.length_scale = length_scale
        self.inference = inference
        self.max_rows = max_rows
        self.standardize = standardize
        self.priors = priors
        self.search = search
        self.prediction = prediction
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        runner, candidates, rows = Runner(self), check_parameters(self), row_labels(X)
        X, y = self._training_rows(X, y, sample_weight, ensure_min_samples=2)
        self.classes_, codes = encode_classes(y)
        names = name_data(self, rows, y)
        labels = ((codes + 1.0) / 2.0 if len(self.classes_) == 2 else codes).astype(np.int64)
        features, labels, used = rows_to_learn(self, self._prepare_training(X), labels)
        decided = decide(self, features, labels, candidates, going_on=runner.earlier is not None)
        priors, sources = decided.priors, decided.sources
        refuse_empty(priors, sources)
        factors = tuple(column_factor(source.training, priors) for source in sources)
        columns = [f * source.training for f, source in zip(factors, sources, strict=True)]
        sampler = KernelProjectionSampler(columns, labels, len(self.classes_), priors)
        refuse_selection(self, sampler)
        for name, value in decided_attributes(decided).items():
            setattr(self, name, value)
        collected = partial(
            collect, sources=sources, factors=factors, used_rows=used, power=decided.power,
            geometric=pools_geometrically(self, priors),
            predictive_noise=self._group("prediction").noise,
        )  # fmt: skip
        fit_chains(self, runner, [sampler], collected, names)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _response_draws(self, X: Any, thin: int) -> np.ndarray:
        found = super()._response_draws(X, thin)
        return found[:, :, 1] if found.shape[2] == 2 else found

    def _link(self, probability: np.ndarray) -> np.ndarray:
        return logit(probability)

    def transform(self, X: Any) -> np.ndarray:
        """Return the kernel principal components of rows.

        With ``n_components="kernel"``, the kernel between rows and training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        features = self._prepare(X)
        return np.hstack([source.project(features)[0] for source in self._posterior.draws.sources])

    def projection_residual(self, X: Any) -> np.ndarray:
        r"""Return how much of each row the components do not see.

        :math:`1-\|p_*\|^2/\|\phi(x_*)-\bar\phi\|^2`, the share of the squared distance from the
        centre of the training rows, in the kernel's feature space, that lies outside of the
        components (with several kernels: of the sum over kernels). Near 1 for rows unlike all
        training rows. Their class probabilities tend to a constant and do not say so.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 0 and 1.
        """
        features = self._prepare(X)
        if self._is_precomputed():
            raise ValueError(
                "projection_residual needs the kernel of each row with itself, which "
                "kernel='precomputed' does not tell; give the kernel as a function."
            )
        if self.n_components == KERNEL:
            raise ValueError(
                "projection_residual measures what projections leave out, but "
                "n_components='kernel' makes none; set n_components=None."
            )
        return self._posterior.draws.residual(features)
