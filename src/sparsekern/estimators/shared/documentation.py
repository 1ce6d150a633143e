"""Paragraphs of documentation that several estimators share.

scikit-learn wants every parameter in the signature and in the docstring of its class. A line
``<<name>>`` in a docstring stands for the paragraph of that name, so that its words are in one
place.
"""

from __future__ import annotations

from typing import TypeVar

from .noise_documentation import NOISE_PARAGRAPHS
from .paragraphs import OTHER_FAMILIES

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
    Threads that run chains; None: one for each core, or one only inside another parallel
    computation such as ``GridSearchCV(n_jobs=2)``; -1 all cores. It never changes a result.
random_state : int, RandomState or None, default=None
    Seed."""

PARAGRAPHS = {
    **OTHER_FAMILIES,
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
    "feature attributes": """\
feature_inclusion_ : ndarray of shape (n_features_in_,)
    Posterior probability that each feature is included.
feature_inclusion_error_ : ndarray of shape (n_features_in_,)
    Its Monte-Carlo standard error (NaN with fewer than four draws).
feature_inclusion_by_chain_ : ndarray of shape (chains, n_features_in_)
    The same probability by each chain alone.
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
