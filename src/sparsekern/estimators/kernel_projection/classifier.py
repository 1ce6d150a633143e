"""The kernel projection classifier: few rows, many features, several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin
from sklearn.callback import with_callbacks

from ...inference.chains.checkpoint import fingerprint
from ...inference.kernel_projection.collect import collect
from ...inference.kernel_projection.held_out import column_factor
from ...inference.kernel_projection.sampler import KernelProjectionSampler
from ...inference.kernel_projection.search import Decisions, ProjectionSearch
from ...posteriors.names import row_labels
from ..shared.class_face import encode_classes
from ..shared.documentation import documented
from ..shared.validation import validate_rows
from .asked import asked_of, watch_of
from .draws import ProjectionDraws
from .parameters import (
    check_model_parameters,
    pools_geometrically,
    refuse_empty,
    refuse_selection,
    rows_to_learn,
)
from .prediction import ProjectionPrediction


@documented
class KernelProjectionClassifier(
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    ProjectionPrediction,
    ProjectionDraws,
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
    n_components : None, int, "average", "utility" or "log_score", default=None
        Leading components (with several kernels, of each; never more than there are). None: half
        of the rows, but at least 50 and at most 150; for ``"least_squares"`` twice as many.
        ``"average"``: of these any may be left out, averaged over. ``"utility"``,
        ``"log_score"``: searched from 1 to ``max_components`` over random halves, by accuracy less
        ``cost`` for every component, or by the log probability of held-out labels.
    inference : {"cv", "polya_gamma", "least_squares", "latent_noise"}, default="cv"
        ``"polya_gamma"``: the labels have the class probabilities above; best where classes
        overlap. ``"least_squares"``: they are Gaussian responses, 10 for the own class and 0 for
        the others less their mean (10 less that of the reference class), with noise
        :math:`\sigma^2`; the rows far from a boundary then count as well, which is best for few
        rows, many features and classes that are separated. ``"cv"``: the second if its log score
        over five folds, drawn three times, is better by more than a standard error of the
        difference, else the first
        (always with a search of the number of components, or if ``"average"`` is to select those of
        several kernels). ``"latent_noise"`` is the model of the paper,
        :math:`z_k\sim N(P\beta_k,\sigma^2I)`, :math:`\beta_{lk}\sim N(0,\sigma^2/\tau_{lk})`. It
        predicts worse; for comparison.
    classes : {"symmetric", "reference"}, default="symmetric"
        A latent function for every class; or none for the last one, as in the paper, which then
        has a part of its own: contrasts between the others have twice its prior variance.
    intercept : bool, default=True
        Whether every latent function has an intercept.
    projection : bool, default=True
        With False the kernel matrix itself is the design, a coefficient for every training row
        (BMKC); for comparison.
    <<kernel parameter>>
    select_kernels : bool, default=False
        Whether the scale of a kernel (of one of several, or the only one) may be zero: with
        probability :math:`1-\pi`, :math:`\pi\sim U(0,1)`, a kernel has no part in the latent
        function of a class (``"least_squares"``: of any class). Otherwise the law of s has the
        further factor :math:`s^2` (half-Cauchy: :math:`s^2/(1+s^2/A^2)`), so that no scale is next
        to nothing.
    length_scale : float, array of shape (n_features,), or str, default="cv"
        Length scale of the kernel, as scikit-learn defines it (Gaussian kernel
        :math:`\exp(-d^2/2\ell^2)`). ``"mean_distance"``, ``"median_distance"``: that distance
        between training rows over :math:`\sqrt2`. ``"cv"``: 0.4, 0.63, 1, 1.6, 2.5 and 4 times
        the first, in the geometric mean with weights :math:`\propto e^{S/2}`, S the log score of
        all rows over the same folds (see ``inference``). Kernels with a scale of their own keep it.
    sharpness : float or "cv", default="cv"
        Power t of the pooled class probabilities, which are then normalised anew. ``"cv"`` finds t
        on these folds, with :math:`\log t\sim N(0,\frac14)` beforehand (of several widths, the
        mean of log t with their weights). 1 leaves them as they are; so are the draws of
        :meth:`sample_proba`, whose mean (see ``pooling``) to the power t is ``predict_proba``.
    pooling : {"geometric", "arithmetic"} or None, default=None
        Mean of the draws of the class probabilities that predictions are made of: the geometric one
        is softmax of the posterior mean of the latent functions; the arithmetic one, the posterior
        probability, is less sure where classes are separated widely. None: geometric, but for
        ``"latent_noise"`` arithmetic, as in the paper.
    scale : float, ("half_cauchy", float) or None, default=None
        Scale of the half-normal (or half-Cauchy) law of s, one s for each kernel; None: 2. Rows of
        the design have mean square norm 1, so latent values are of the order of s, and beyond a few
        units the data hardly tell. For ``"least_squares"`` ten times that, as responses are. Not
        of ``"latent_noise"``.
    noise_prior : (float, float) or None, default=None
        Shape and rate of :math:`1/\sigma^2`; None: (1, 1). Not of ``"polya_gamma"``.
    precision_prior : (float, float) or None, default=None
        Shape and rate of a precision :math:`\tau_{lk}` of every coefficient's own. None:
        none but s, which all share; ``"latent_noise"`` takes (1, 1).
    intercept_prior : (float, float), default=(1.0, 1.0)
        Shape and rate of the precision of each intercept.
    max_components, n_splits : int or None, default=None
        Of a search: largest size (None: 15) and random halves (None: 10).
    cost : float or None, default=None
        Of ``"utility"``: what the share n'/n of components in training rows costs in accuracy;
        None: 1.
    selection_rule : {"best", "one_standard_error"} or None, default=None
        Of a search: the size of the largest utility (None, too), or the smallest within one
        standard error (of the difference) of it.
    search_draws : int or None, default=None
        Kept draws of the one chain on each half or fold, after half as many; None: 250 on a half,
        100 on a fold.
    max_rows : int or None, default=2000
        Beyond so many rows a random sample of them, spread over the classes, is learned from, and
        a warning says so: time grows with the cube of the rows, and memory with their square. None:
        all rows. A precomputed kernel is taken as it is.
    predictive_noise : bool, default=False
        Of ``"latent_noise"``: whether predictions add the latent noise. It made them worse.
    standardize : bool, default=False
        Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
        ``"precomputed"``). For columns in different units.
    draws, tune, chains : int, default=1000, 1000, 4
        Kept draws of each chain, sweeps before the first, chains, started apart from each other.
    thin : int, default=2
        Sweeps for each kept draw.
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
        Components used, over all kernels (training rows with ``projection=False``).
    eigenvalues_ : ndarray of shape (n_components_,)
        Of the centred kernel matrix. Only with ``projection=True``.
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
        Only with ``select_kernels``: share of draws in which each kernel has a part in the latent
        function of each class (the same for all with ``"least_squares"``).
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
    >>> model = KernelProjectionClassifier(draws=200, tune=200, random_state=0).fit(X, y)
    >>> model.predict_proba([[0.0, 0.5]]).shape
    (1, 2)
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        inference: str = "cv",
        classes: str = "symmetric",
        intercept: bool = True,
        projection: bool = True,
        kernel: Any = "rbf",
        select_kernels: bool = False,
        length_scale: Any = "cv",
        sharpness: Any = "cv",
        pooling: str | None = None,
        scale: Any = None,
        noise_prior: tuple[float, float] | None = None,
        precision_prior: tuple[float, float] | None = None,
        intercept_prior: tuple[float, float] = (1.0, 1.0),
        max_components: int | None = None,
        n_splits: int | None = None,
        cost: float | None = None,
        selection_rule: str | None = None,
        search_draws: int | None = None,
        max_rows: int | None = 2000,
        predictive_noise: bool = False,
        standardize: bool = False,
        draws: int = 1000,
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
        self.inference = inference
        self.classes = classes
        self.intercept = intercept
        self.projection = projection
        self.kernel = kernel
        self.select_kernels = select_kernels
        self.length_scale = length_scale
        self.sharpness = sharpness
        self.pooling = pooling
        self.scale = scale
        self.noise_prior = noise_prior
        self.precision_prior = precision_prior
        self.intercept_prior = intercept_prior
        self.max_components = max_components
        self.n_splits = n_splits
        self.cost = cost
        self.selection_rule = selection_rule
        self.search_draws = search_draws
        self.max_rows = max_rows
        self.predictive_noise = predictive_noise
        self.standardize = standardize
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> KernelProjectionClassifier:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or the kernel matrix (n_samples, n_samples) if precomputed.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : KernelProjectionClassifier
        """
        with self._all_or_nothing():
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        plan = self._check_sampling_parameters()
        candidates = check_model_parameters(self)
        rows = row_labels(X)
        X, y = validate_rows(self, X, y, ensure_min_samples=2)
        self.classes_, codes = encode_classes(y)
        self._name_data(rows, y)
        labels = ((codes + 1.0) / 2.0 if len(self.classes_) == 2 else codes).astype(np.int64)
        features, labels, used = rows_to_learn(self, self._prepare_training(X), labels)
        decided = self._decide(features, labels, candidates)
        priors = decided.priors
        refuse_empty(self, decided.sources)
        factors = tuple(column_factor(source.training, priors) for source in decided.sources)
        columns = [f * q.training for f, q in zip(factors, decided.sources, strict=True)]
        sampler = KernelProjectionSampler(columns, labels, len(self.classes_), priors)
        refuse_selection(self, sampler)
        (run,) = self._sample([sampler], plan)
        posterior = collect(
            run, plan, sampler, self._names,
            sources=decided.sources, factors=factors, used_rows=used, power=decided.power,
            geometric=pools_geometrically(self, priors), predictive_noise=self.predictive_noise,
        )  # fmt: skip
        self._keep(posterior)
        self._set_decided(decided)

    def _decide(self, features: np.ndarray, labels: np.ndarray, candidates: Any) -> Decisions:
        """Return model, width, size and sharpness; those of the last fit where its chains go on."""
        described = self._described_parameters()
        for name in ("draws", "chains", "thin"):
            described.pop(name)
        data = fingerprint([features, labels, described])
        before = getattr(self, "_decided", None)
        going_on = self.warm_start and getattr(self, "_chains", None) is not None
        if before is None or not going_on or getattr(self, "_decided_on", None) != data:
            search = ProjectionSearch(
                asked_of(self, features), features, labels, len(self.classes_), candidates,
                watch_of(self),
            )  # fmt: skip
            before = search.decide()
        self._decided: Decisions = before
        self._decided_on: str = data
        return before
