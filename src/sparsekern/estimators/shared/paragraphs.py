"""Paragraphs of documentation that several estimators share; see :mod:`.documentation`."""

from __future__ import annotations


def _text(raw: str) -> str:
    """Return a raw string without the line breaks at its ends."""
    return raw.strip("\n")


_DRAWS = """\
draws : "auto", int or UntilConverged, default="auto"
    ``"auto"``: chains go on until R-hat is 1.01 or less and effective sample sizes are 400 or
    more, or ``max_draws`` are made, of which 1,000 at most are kept, evenly spread. Other
    limits, of time too: :class:`sparsekern.settings.UntilConverged`, or for instance
    ``set_params(draws__max_seconds=60)``. A number: so many kept draws of each chain."""
_RUNNING = """\
warm_start : bool, default=False
    Go on with the chains of the last fit (made with ``warm_start=True``, interrupted, or ended
    by the limits of ``draws="auto"``) until they have ``draws`` draws, or have converged. Draws
    that ``"auto"`` has thinned out stay so, and later ones are as far apart.
checkpoint : path-like or None, default=None
    Folder in which chains are saved while they run. The same fit, started again after the
    process was killed, resumes and ends with the draws it would have given.
progress : "auto", True or False, default="auto"
    Show a line on the error stream once the fit takes over two seconds; ``"auto"``: on a
    terminal, and unless callbacks are set with ``set_callbacks``. The one-time compilation is
    announced unless False.
n_jobs : int or None, default=None
    Threads that run chains; None: one for each core, or one only inside another parallel
    computation such as ``GridSearchCV(n_jobs=2)``; -1 all cores. It never changes a result.
random_state : int, RandomState or None, default=None
    Seed."""

PARAGRAPHS = {
    "noise parameter": _text(
        r"""
noise : {"gaussian", "student_t", "laplace"}, default="gaussian"
    Law of a real response given the function f. ``"student_t"`` is robust to outliers,
    ``"laplace"`` lies between the two.
counts : {"poisson", "negative_binomial"} or None, default=None
    Law of counts of mean :math:`e^f`, in place of ``noise``; the negative binomial law has the
    variance :math:`e^f+\alpha e^{2f}` and learns the dispersion :math:`\alpha`. Counts are not
    scaled, f has the logarithm of their mean as an offset, and predictions are those of counts.
offset : str, int or None, default=None
    Column of X, by name or position, that holds the exposure of counts: the exposure itself, such
    as person-years, not its logarithm. The logarithm is added to f, and the column is no feature
    of the kernel.
"""
    ),
    "kernel parameter": """\
kernel : str, kernel object, callable, "precomputed", or list, default="rbf"
    ``"rbf"``, ``"laplacian"``, ``"matern12"``, ``"matern32"``, ``"matern52"``, ``"linear"``
    (compiled), any other name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, an object
    of :mod:`sklearn.gaussian_process.kernels`, or a callable ``k(A, B)`` that returns the
    matrix between the rows of A and B. With ``"precomputed"`` X is the kernel matrix (at
    prediction: between new and training rows). A list holds several kernels or ``(kernel,
    columns)`` pairs, the columns by index, mask, slice or name.""",
    "length-scale parameters": _text(
        r"""
length_scale : float, array of shape (n_features,), or str, default="mean_distance"
    Length scale :math:`\ell` of the kernel, as scikit-learn defines it (Gaussian kernel
    :math:`\exp(-d^2/2\ell^2)`), on the standardised inputs if ``standardize``.
    ``"mean_distance"`` and ``"median_distance"`` set the Gaussian kernel to
    :math:`\exp(-d^2/D^2)` with D the mean (median) distance between training rows, that is
    :math:`\ell=D/\sqrt2`. A kernel object brings its own.
learn_length_scale : False, "shared" or "per_feature", default=False
    Sample the length scale, one for all features or one each, from a uniform prior around its
    starting value (``priors.length_scale_bounds``).
candidates : None, int or array of int, default=None
    Rows that may become active: all, this number (those nearest to the centres of a k-means
    clustering), or the rows named. With large n a few hundred save time and lose little.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
    ``"precomputed"``).
"""
    ),
    "width attributes": """\
length_scale_ : ndarray of shape (n_features,) or (n_kernels, n_features), or None
    The kernel's length scales (infinite for features it does not see); the posterior mean where
    they are learned.
kernel_weights_, kernel_inclusion_ : ndarray of shape (n_kernels,)
    Mean amplitude of each kernel, and the probability that it is not zero. Only with several
    kernels.""",
    "draws parameter": _DRAWS,
    "sampling parameters": _DRAWS
    + """
tune : int, default=1000
    Sweeps before the first draw.
chains : int, default=4
    Independent chains, started apart from each other.
thin : int, default=1
    Sweeps for each draw.
"""
    + _RUNNING,
    "running parameters": _RUNNING,
    "sampling attributes": """\
n_features_in_ : int
feature_names_in_ : ndarray of shape (n_features_in_,)
    Only if X has string column names.
posterior_ : xarray.DataTree
    Draws of the unknowns, statistics of each draw (``sample_stats``), sparse coefficients, the
    responses and, unless large, the pointwise log-likelihood, ready for ArviZ; built when first
    asked for. ``posterior_.to_netcdf(path)`` stores it, with the extra ``sparsekern[netcdf]``
    installed; ``add_posterior_predictive()`` adds new responses.
diagnostics_ : pandas.DataFrame
    Mean, sd, Monte-Carlo error, bulk and tail ESS and R-hat of every scalar.
active_vectors_ : ndarray
    Sorted training rows that are active in any kept draw.
active_probabilities_ : ndarray of shape (n_samples,)
    Share of draws in which each training row is active.
acceptance_rates_ : dict
    Share of accepted moves after tuning, by kind.
traces_ : dict of list of ndarray
    Counts such as ``"n_active"`` after every sweep, tuning included, chain by chain.
limits_ : dict of int
    The most that chains allowed of such a count, where there could be more; with one model only.
n_draws_ : int
    Kept draws of each chain. The sweeps before the first of them and for each, which
    ``draws="auto"`` may have raised, are the attributes ``tuning_steps`` and ``thinning`` of
    ``posterior_["posterior"]``.""",
    "feature parameters": """\
candidates : None, int or array of int, default=None
    Rows that may become active: all, this number (those nearest to the centres of a k-means
    clustering), or the rows named.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator. The prior of the length
    scales presumes inputs of about that size.
selection : DoublySparseSelection or None, default=None
    Which features are looked at, and which count as selected; see
    :class:`sparsekern.settings.DoublySparseSelection`.""",
    "feature attributes": """\
feature_inclusion_ : ndarray of shape (n_features_in_,)
    Posterior probability that each feature is included.
feature_inclusion_error_ : ndarray of shape (n_features_in_,)
    Its Monte-Carlo standard error (NaN with fewer than four draws).
feature_inclusion_by_chain_ : ndarray of shape (chains, n_features_in_)
    The same probability by each chain alone.
selected_features_ : ndarray of int
    Features whose inclusion probability is at least ``selection.threshold``.""",
    "search parameters": """\
learn_length_scale : {"shared", "per_feature"}, default="shared"
    One length scale for all features of a model, or one for each.""",
    "search running parameters": """\
progress : "auto", True or False, default="auto"
    Show a line on the error stream once the fit takes over two seconds; ``"auto"``: on a
    terminal, and unless callbacks are set with ``set_callbacks``. The one-time compilation is
    announced unless False.
n_jobs : int or None, default=None
    Threads; None is one, -1 all cores. It never changes a result.
random_state : int, RandomState or None, default=None
    Seed.""",
    "search attributes": """\
n_features_in_ : int
feature_names_in_ : ndarray of shape (n_features_in_,)
    Only if X has string column names.
models_ : DataFrame
    Models of the window, best first: features, weight, log evidence, score, amplitude, length
    scale (on the standardised inputs if ``standardize``) and the noise's parameter, if any.
feature_inclusion_ : ndarray of shape (n_features_in_,)
    Posterior probability of each feature, over the models of the window.
selected_features_ : ndarray of int
    Features whose inclusion probability is at least ``selection.threshold``.
search_path_ : list of (str, float, int)
    Kind of every step of the search, and score and number of features of the model it left; empty
    where models are sampled.
n_fits_, n_plug_ins_ : int
    Models fitted in full, and scored at the parameters of others.""",
    "machine kernel parameters": """\
kernel : str, kernel object, callable or "precomputed", default="rbf"
    ``"rbf"``, ``"laplacian"``, ``"matern12"``, ``"matern32"``, ``"matern52"``, ``"linear"``
    (compiled), any other name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, an object of
    :mod:`sklearn.gaussian_process.kernels`, or a callable ``k(A, B)``; it need not be positive
    definite. With ``"precomputed"`` X is the kernel matrix (at prediction: between new and
    training rows).
length_scale : str, float or array of shape (n_features,), default="averaged"
    Length scale as scikit-learn defines it (Gaussian kernel :math:`\\exp(-d^2/2\\ell^2)`), on the
    standardised inputs if ``standardize``. ``"averaged"``: models at several widths, their
    predictions averaged with weights from leave-one-out predictions. ``"cv"``: weights from
    5-fold cross-validation, better and five times as slow. ``"loo"``: the one width of least
    leave-one-out loss. ``"evidence"``: that of the largest evidence, which prefers narrow widths
    that predict poorly: for comparison. ``"mean_distance"``, ``"median_distance"``: that distance
    between training rows over :math:`\\sqrt2`. Kernels that bring a scale keep it.""",
    "machine row parameters": """\
candidates : None, int or array of int, default=None
    Rows that may become active: all, this number (those nearest to the centres of a k-means
    clustering), or the rows named. None is a random sample, spread over y, where there are many
    rows, and a warning says so: in regression 40 million / n_samples of them (at least 1,000)
    beyond about 6,300 rows, for classes 10 million / n_samples (at least 200) beyond about 3,100.
    Rows that would make the same column count once.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
    ``"precomputed"``).""",
    "machine running parameters": """\
progress : "auto", True or False, default="auto"
    Show a line on the error stream once the fit takes over two seconds; ``"auto"``: on a
    terminal, and unless callbacks are set with ``set_callbacks``. The one-time compilation is
    announced unless False.
n_jobs : int or None, default=None
    Threads, one width each; None is one, -1 all cores. It never changes a result.
random_state : int, RandomState or None, default=None
    Seed of the order in which more than 512 candidates are looked at, of the clustering or the
    sample for ``candidates``, of the folds of ``"cv"`` and of chains.""",
    "machine attributes": """\
n_features_in_ : int
feature_names_in_ : ndarray of shape (n_features_in_,)
    Only if X has string column names.
active_vectors_ : ndarray
    Sorted training rows that are active at any width with a weight.
length_scales_ : ndarray of shape (n_length_scales,) or None
    Widths tried; None where the kernel has none.
length_scale_weights_ : ndarray of shape (n_length_scales,)
    Their weights (one-vs-rest: a row for each class).
models_ : pandas.DataFrame
    Width, weight, number of vectors, log evidence and leave-one-out score of every model.
log_evidence_ : float
    Log evidence at the width of the largest weight (one-vs-rest: summed over classes). It may
    compare settings at one width, not widths.
evidence_path_ : ndarray of shape (n_steps, 2)
    Log evidence and number of columns, intercepts included, at that width: of the intercept alone,
    after every addition and after the changes and deletions that follow it (one-vs-rest: a list of
    them). See :func:`sparsekern.plotting.plot_evidence_path`.""",
    "several kernels parameters": """\
kernel : None, str, kernel object, callable, list or "precomputed", default=None
    None: Gaussian kernels at seven widths from 0.2 to 3 median distances between training rows. A
    list holds several kernels or ``(kernel, columns)`` pairs, the columns by index, mask, slice or
    name. A kernel is ``"rbf"``, ``"laplacian"``, ``"matern12"``, ``"matern32"``, ``"matern52"``,
    ``"linear"``, any other name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, an object of
    :mod:`sklearn.gaussian_process.kernels`, or a callable ``k(A, B)``. With ``"precomputed"`` X
    holds the kernels, of shape (rows, training rows, n_kernels), the kernels last, so that
    cross-validation of scikit-learn can cut it.
length_scale : float, array or str, default="mean_distance"
    Length scale of kernels given by name, as scikit-learn defines it (Gaussian kernel
    :math:`\\exp(-d^2/2\\ell^2)`); ``"mean_distance"``, ``"median_distance"``: that distance
    between training rows, in the columns of the kernel, over :math:`\\sqrt2`.
vectors : {"per_kernel", "shared"}, default="per_kernel"
    Sample weights of each kernel, or one vector of them for all kernels. The former needs kernels
    that are positive semi-definite.
share : {"kernel_weights", "sample_weights"}, default="kernel_weights"
    What several outputs (classes) have in common. With one output, the same. ``"sample_weights"``
    needs ``vectors="shared"``, and about as many kernels as outputs.
candidates : None, int or array of int, default=None
    Training rows that kernels compare with: all, this number (those nearest to the centres of a
    k-means clustering), or the rows named. Time and memory are then linear in the number of rows.
    Beyond 2,000 rows None is 200, and a warning says so; the number of rows takes all.
normalize : bool, default=True
    Divide every kernel by the mean of its diagonal at the training rows.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
    ``"precomputed"``).""",
    "variational parameters": """\
n_init : int, default=4
    Starts, of which the one with the largest bound is kept.
max_iter : int, default=300
    Largest number of iterations of a stage of the fit.
tol : float, default=0.001
    The fit ends when the fitted values change less than this in five iterations, in standard
    deviations of y, and the bound hardly gains.
progress : "auto", True or False, default="auto"
    Show a line on the error stream once the fit takes over two seconds; ``"auto"``: on a
    terminal, and unless callbacks are set with ``set_callbacks``.
random_state : int, RandomState or None, default=None
    Seed of the starts and of the clustering for ``candidates``.""",
    "several kernels attributes": """\
n_features_in_ : int
feature_names_in_ : ndarray of shape (n_features_in_,)
    Only if X has string column names.
kernel_weights_, kernel_weights_std_ : ndarray of shape (n_kernels,)
    Size of each kernel and its posterior standard deviation. With ``vectors="per_kernel"`` the
    standard deviation, over the training rows, of the function that the kernel contributes, for
    outputs of variance one (latent outputs: of noise variance one). With ``"shared"`` its weight
    e; only relative signs mean anything then (a row for each output where outputs share sample
    weights).
kernel_shares_ : ndarray of shape (n_kernels,)
    Share of each kernel in the sum of the variances that kernels contribute.
active_kernels_ : ndarray of int
    Kernels that are left.
active_vectors_ : ndarray of int
    Sorted training rows that predictions use; with ``vectors="shared"`` those whose weight is over
    1 % of the largest.
log_evidence_ : float
    A lower bound of the log evidence.
evidence_path_ : ndarray of shape (n_iter_,)
    The bound after every iteration. It never falls, except where a stage ends. See
    :func:`sparsekern.plotting.plot_bound`.
evidence_stages_ : ndarray of int
    Iterations done when the priors were changed or dead kernels and rows were dropped: another
    model begins there, with its own bound.
n_iter_ : int
converged_ : bool""",
}
