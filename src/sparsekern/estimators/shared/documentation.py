"""Paragraphs of documentation that several estimators share.

scikit-learn wants every parameter in the signature and in the docstring of its class. A line
``<<name>>`` in a docstring stands for the paragraph of that name, so that its words are in one
place.
"""

from __future__ import annotations

from typing import TypeVar

from .noise_documentation import NOISE_PARAGRAPHS

Class = TypeVar("Class", bound=type)


def _text(raw: str) -> str:
    """Return a raw string without the line breaks at its ends."""
    return raw.strip("\n")


_RUNNING = """\
warm_start : bool, default=False
    Go on with the chains of the last fit (made with ``warm_start=True``, or interrupted) until
    they have ``draws`` draws.
checkpoint : path-like or None, default=None
    Folder in which chains are saved while they run. The same fit, started again after the
    process was killed, resumes and ends with the draws it would have given.
progress : "auto", True or False, default="auto"
    Show a line on the error stream once the fit takes over two seconds; ``"auto"``: on a
    terminal, and unless callbacks are set with ``set_callbacks``. The one-time compilation is
    announced unless False.
n_jobs : int or None, default=None
    Threads that run chains; None is one, -1 all cores. It never changes a result.
random_state : int, RandomState or None, default=None
    Seed."""

PARAGRAPHS = {
    **NOISE_PARAGRAPHS,
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
    Sample the length scale, one for all features or one each, from a uniform prior on
    ``length_scale_bounds`` times its starting value.
length_scale_bounds : (float, float), default=(0.1, 10.0)
    See ``learn_length_scale``.
max_active : int, default=100
    Largest number of active vectors; clipped to the number of rows.
candidates : None, int or array of int, default=None
    Rows that may become active: all, so many (those nearest to the centres of a k-means
    clustering), or the rows named. With large n a few hundred save time and lose little.
"""
    ),
    "prior parameters": _text(
        r"""
intercept_prior : (float, float), default=(0.5, 0.05)
    Shape and rate of the gamma prior of :math:`\eta`.
size_prior : (float, float), default=(1, 1)
    Shapes of the beta prior of the inclusion probability.
amplitude_prior : (float, float), default=(2, 0.4)
    Shape and rate of the gamma prior of each amplitude, with several kernels; ``scale_prior``
    then has no part.
zero_probability : float, default=0.5
    Prior probability that an amplitude is zero, with several kernels.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
    ``"precomputed"``).
jitter : float, default=1e-8
    Added to the diagonal of the kernel matrix at the active vectors, relative to the mean of
    the kernel's diagonal.
"""
    ),
    "probit parameters": """\
active_set_moves : int, default=10
    Birth, death and swap moves in a sweep.
joint_moves : int, default=30
    Birth, death and swap moves inside one joint move of active set, scales and latent function,
    made every sixth sweep; 0 leaves it out. It is left out, too, for kernels that are not
    compiled on more than about 5,800 rows.
latent_scans : int, default=3
    Scans of the latent variables in a sweep.""",
    "width attributes": """\
length_scale_ : ndarray of shape (n_features,) or (n_kernels, n_features), or None
    The kernel's length scales (infinite for features it does not see); the posterior mean where
    they are learned.
kernel_weights_, kernel_inclusion_ : ndarray of shape (n_kernels,)
    Mean amplitude of each kernel, and the probability that it is not zero. Only with several
    kernels.""",
    "sampling parameters": """\
draws : int, default=1000
    Kept draws of each chain.
tune : int, default=1000
    Sweeps before the first kept draw.
chains : int, default=4
    Independent chains, started apart from each other.
thin : int, default=1
    Sweeps for each kept draw.
"""
    + _RUNNING,
    "running parameters": _RUNNING,
    "sampling attributes": """\
n_features_in_ : int
feature_names_in_ : ndarray of shape (n_features_in_,)
    Only if X has string column names.
posterior_ : xarray.DataTree
    Draws of the scalars, sparse coefficients and, unless large, the pointwise
    log-likelihood, ready for ArviZ; built when first asked for. ``posterior_.to_netcdf(path)``
    stores it, with the extra ``sparsekern[netcdf]`` installed.
diagnostics_ : pandas.DataFrame
    Mean, sd, Monte-Carlo error, bulk and tail ESS and R-hat of every scalar.
active_vectors_ : ndarray
    Sorted training rows that are active in any kept draw.
active_probabilities_ : ndarray of shape (n_samples,)
    Share of draws in which each training row is active.
acceptance_rates_ : dict
    Share of accepted moves after tuning, by kind.
n_draws_ : int
    Kept draws of each chain.""",
    "spike parameter": """\
spike_variance : float or None, default=None
    Prior variance of the coefficients of inactive vectors, in the units of the slab's: the
    continuous spike of the paper, in an order of updates that keeps the posterior. Much slower
    than None, where they are zero; for comparison.""",
    "feature parameters": """\
expected_vectors : float, default=8.0
    Prior mean of the number of active vectors (at most half of the candidates).
max_features, max_active : int, default=50, 100
    Largest numbers of included features and active vectors.
candidates : None, int or array of int, default=None
    Rows that may become active: all, so many (those nearest to the centres of a k-means
    clustering), or the rows named.
large_n : {"dictionary", "fixed_rows", "active_subset"}, default="dictionary"
    Beyond 2,000 rows: 300 candidates (unless ``candidates`` says otherwise), all rows as data;
    or 1,000 rows only, drawn once and spread over the responses, the others ignored; or the
    scheme of the paper, for Gaussian noise, whose data are the active rows of each sweep: it is
    approximate (it leaves no posterior invariant) and needs many vectors, such as
    ``expected_vectors=60, max_active=200``; ``spike_variance`` is .001 unless given.
select_features, select_vectors : bool, default=True
    With False every feature is included (bandwidths are still learned), or every candidate is
    active.
screen : int or None, default=None
    Keep so many features before sampling, by their correlation, and that of their squares,
    with the response. It happens inside ``fit``, so that cross-validation stays honest. The
    prior then counts the features that are left. Constant features never take part.
screen_by : {"correlation", "evidence"}, default="correlation"
    What ``screen`` goes by: correlations, or the evidence of a Gaussian process of each feature
    alone, which sees effects of any shape and takes about a millisecond a feature.
threshold : float, default=0.5
    Inclusion probability from which a feature counts as selected; 0.5 is the median
    probability model. It may be changed after the fit.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator. The prior of the
    bandwidths presumes inputs of about that size.
feature_moves : int or None, default=None
    Features drawn at random in a sweep to be toggled; None: ``max(20, n_features / 50)``.
feature_swaps : int, default=2
    Exchanges of an included for an excluded feature in a sweep, half of them for one that it
    is correlated with (with up to 5,000 features).
feature_pairs : int, default=4
    Toggles of two features at once in a sweep, from a list of pairs that may matter only together
    by how products of simple functions of them go with the response (with up to 5,000 features).
bandwidth_moves : int, default=4
    Walks on the bandwidth of every included feature in a sweep.
active_set_moves : int, default=20
    Birth, death and swap moves of the active vectors in a sweep.
latent_scans : int, default=3
    Scans of the latent variables in a sweep (probit).""",
    "search parameters": """\
max_features : int, default=10
    Largest model.
size_penalty : float, default=1.0
    Power of :math:`\\binom ps` in the prior; 0 makes all feature sets alike.
window : float or "auto", default="auto"
    Models less probable than the best one by more than this factor are left out; "auto": 20, and
    500 where correlated features are exchanged and the search sees all rows.
slack : float, default=12.0
    How far (log scale) beyond the window a model may seem, at the parameters of another one,
    and still be fitted.
n_wander : int, default=20
    Random steps without an improvement after which the search ends.
n_refine : int, default=5
    Neighbours that are fitted at every step.
refit_drift : bool, default=False
    Whether a wandering model that differs from the best one by three features or more is fitted
    before its neighbours are scored; else they are scored at the best one's parameters.
n_starts : int, default=1
    Searches, from the feature of largest correlation, then others; the model without features is
    tried in any case.
swaps : {"auto", True, False}, default="auto"
    Whether correlated features are exchanged for each other; "auto": if two have a correlation
    beyond .9.
pairs : bool, default=True
    Whether, where no single change improves, two features are added at once that may matter only
    together, as in :math:`x_1x_2`. Of more than 5,000 features those best alone are paired.
close : bool, default=True
    Whether the neighbours of every model of the window are looked at in the end.
screen : int or None, default=None
    Keep so many features before the search, by the evidence of each alone, inside ``fit``.""",
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
    between training rows over :math:`\\sqrt2`. Kernels with a scale of their own keep it.
length_scale_range : (float, float), default=(0.2, 3.0)
    Narrowest and widest of the widths, in median distances between training rows.
n_length_scales : int, default=7
    Widths, evenly spaced on a logarithmic scale.""",
    "machine parameters": """\
bias_precision : float, default=0.01
    Prior precision of the bias, which is always in the model.
candidates : None, int or array of int, default=None
    Rows that may become active: all, so many (those nearest to the centres of a k-means
    clustering), or the rows named. None is a random sample, spread over y, where there are many
    rows, and says so: in regression 40 million / n_samples of them (at least 1,000) beyond about
    6,300 rows, for classes 10 million / n_samples (at least 200) beyond about 3,100. Rows that
    would make the same column count once.
max_active : int or None, default=None
    Largest number of active vectors at one width.
max_steps : int, default=1000
    Largest number of additions, changes and deletions at one width.
kernel_precision : {"double", "single"}, default="double"
    Precision in which columns outside the model are held while they are ranked; those of the
    model are always in double precision. ``"single"`` halves the memory.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator (not for
    ``"precomputed"``).
progress : "auto", True or False, default="auto"
    Show a line on the error stream once the fit takes over two seconds; ``"auto"``: on a
    terminal. The one-time compilation is announced unless False.
n_jobs : int or None, default=None
    Threads, one width each; None is one, -1 all cores. It never changes a result.
random_state : int, RandomState or None, default=None
    Seed of the order in which more than 512 candidates are looked at, of the clustering or the
    sample for ``candidates`` and of the folds of ``"cv"``.""",
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
    Log evidence and number of columns, biases included, at that width: of the bias alone, after
    every addition and after the changes and deletions that follow it (one-vs-rest: a list of
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
kernel_sparsity : bool or None, default=None
    Whether kernels may leave the model: a flat gamma prior of the precisions of kernel weights in
    place of one of shape 1 (and mean 1; with ``vectors="per_kernel"`` the number of kernels, except
    for latent outputs). None: for regression yes; for classes only with ``vectors="shared"`` and
    ``likelihood="regression"``, since labels let kernels go too easily.
sample_sparsity : bool, default=False
    The same for training rows. The fit without it is the starting point. Predictions are then too
    sure of themselves, as those of relevance vector machines are.
nonnegative : bool, default=False
    Whether kernel weights must not be negative; for ``vectors="shared"``.
landmarks : None, int or array of int, default=None
    Training rows that kernels compare with: all, so many (those nearest to the centres of a k-means
    clustering), or the rows named. Time and memory are then linear in the number of rows. Beyond
    2,000 rows None is 200, and says so; the number of rows takes all.
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
    terminal.
random_state : int, RandomState or None, default=None
    Seed of the starts and of the clustering for ``landmarks``.""",
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
elbo_ : float
    The lower bound of the log evidence.
elbo_path_ : ndarray of shape (n_iter_,)
    The bound after every iteration. It never falls, except where a stage ends.
elbo_stages_ : ndarray of int
    Iterations done when the priors were changed or dead kernels and rows were dropped: another
    model, whose bound begins anew.
n_iter_ : int
converged_ : bool""",
    "feature attributes": """\
feature_inclusion_ : ndarray of shape (n_features_in_,)
    Posterior probability that each feature is included.
feature_inclusion_error_ : ndarray of shape (n_features_in_,)
    Its Monte-Carlo standard error (NaN with fewer than four draws).
selected_features_ : ndarray of int
    Features whose inclusion probability is at least ``threshold``.""",
}


def documented(cls: Class) -> Class:
    """Fill in the shared paragraphs of a class's docstring."""
    lines = []
    for line in (cls.__doc__ or "").split("\n"):
        text = line.strip()
        if text.startswith("<<") and text.endswith(">>"):
            indent = line[: len(line) - len(line.lstrip())]
            paragraph = PARAGRAPHS[text[2:-2]].split("\n")
            lines += [indent + part if part else part for part in paragraph]
        else:
            lines.append(line)
    cls.__doc__ = "\n".join(lines)
    return cls
