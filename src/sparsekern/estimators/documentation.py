"""Paragraphs of documentation that several estimators share.

scikit-learn wants every parameter in the signature and in the docstring of its class. A line
``<<name>>`` in a docstring stands for the paragraph of that name, so that its words are in one
place.
"""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)

PARAGRAPHS = {
    "sampling parameters": """\
draws : int, default=1000
    Kept draws of each chain.
tune : int, default=1000
    Sweeps before the first kept draw.
chains : int, default=4
    Independent chains, started apart from each other.
thin : int, default=1
    Sweeps for each kept draw.
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
    Seed.""",
    "sampling attributes": """\
n_features_in_ : int
feature_names_in_ : ndarray of shape (n_features_in_,)
    Only if X has string column names.
posterior_ : xarray.DataTree
    Draws of the scalars, sparse coefficients and, unless large, the pointwise
    log-likelihood, ready for ArviZ.
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
expected_features : float, default=1.0
    Prior mean of the number of included features.
expected_vectors : float, default=8.0
    Prior mean of the number of active vectors.
max_features, max_active : int, default=50, 100
    Largest numbers of included features and active vectors.
candidates : None, int or array of int, default=None
    Rows that may become active: all, so many (those nearest to the centres of a k-means
    clustering), or the rows named. None stands for 300 beyond 2,000 rows: a dictionary. All
    rows are used as data in any case.
select_features, select_vectors : bool, default=True
    With False every feature is included (bandwidths are still learned), or every candidate is
    active.
screen : int or None, default=None
    Keep so many features before sampling, by their correlation, and that of their squares,
    with the response. It happens inside ``fit``, so that cross-validation stays honest.
threshold : float, default=0.5
    Inclusion probability from which a feature counts as selected; 0.5 is the median
    probability model. It may be changed after the fit.
standardize : bool, default=True
    Scale inputs to mean 0 and standard deviation 1 inside the estimator. The prior of the
    bandwidths presumes inputs of about that size.
feature_moves : int or None, default=None
    Features drawn at random in a sweep to be toggled; None: ``max(20, n_features / 50)``.
feature_swaps : int, default=2
    Exchanges of an included for an excluded feature in a sweep.
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
