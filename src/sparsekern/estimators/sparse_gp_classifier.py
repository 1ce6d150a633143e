"""The sparse Gaussian process classifier."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_count
from ..likelihoods import MultinomialProbit, Probit
from ..likelihoods.multinomial_probit import contrast_matrix
from ..posterior_states import KernelStatePosterior
from .class_prediction import ClassPrediction, encode_classes
from .generalized_kernel import GeneralizedKernelEstimator

_RESIDUAL_STATES = 100  # of each chain that support_residual averages over


class SparseGPClassifier(ClassPrediction, ClassifierMixin, GeneralizedKernelEstimator):
    r"""Sparse Gaussian process classifier: generalized kernel model, coefficients integrated out.

    The model is that of :class:`GKMClassifier` with the probit likelihood,

    .. math::
        P(y=1\mid x)=\Phi(f(x)),\qquad f(x)=u+\sum_{j\in\gamma}k(x,x_j)\beta_j,

    and so is the posterior. But each kept state keeps the law of f given the active set, the scales
    and the latent variables, :math:`f(x)\sim N(m_t(x),v_t(x))` with coefficients and intercept
    integrated out, and predictions average :math:`\Phi(m_t/\sqrt{1+v_t})`: the same expectation
    with less Monte-Carlo error (Rao-Blackwell), for more memory, k^2/2 numbers a draw, and slower
    prediction.

    Far from all active vectors the model is sure of the intercept: :math:`v_t` goes to
    :math:`\mathrm{var}(u)`, not to the variance of the prior. Adding what is missing made
    predictions much worse where it was tried, so it is not added; :meth:`support_residual` shows
    which rows are far.

    Parameters
    ----------
    kernel : str, kernel object, callable, "precomputed", or list, default="rbf"
        ``"rbf"``, ``"laplacian"``, ``"matern12"``, ``"matern32"``, ``"matern52"``, ``"linear"``
        (compiled), any other name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, an object
        of :mod:`sklearn.gaussian_process.kernels`, or a callable ``k(A, B)`` that returns the
        matrix between the rows of A and B. With ``"precomputed"`` X is the kernel matrix (at
        prediction: between new and training rows). A list holds several kernels or ``(kernel,
        columns)`` pairs, the columns by index, mask, slice or name.
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
    sparse : bool, default=True
        Whether to learn the active set. With False every row is active (BGKM).
    scale_prior : (float, float), default=(2, 0.05)
        Shape and rate of the gamma prior of g.
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
    active_set_moves : int, default=10
        Birth, death and swap moves in a sweep.
    joint_moves : int, default=30
        Birth, death and swap moves inside one joint move of active set, scales and latent function,
        made every sixth sweep; 0 leaves it out. It is left out, too, for kernels that are not
        compiled on more than about 5,800 rows.
    latent_scans : int, default=3
        Scans of the latent variables in a sweep.
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
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
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
    length_scale_ : ndarray of shape (n_features,) or (n_kernels, n_features), or None
        The kernel's length scales (infinite for features it does not see); the posterior mean where
        they are learned.
    kernel_weights_, kernel_inclusion_ : ndarray of shape (n_kernels,)
        Mean amplitude of each kernel, and the probability that it is not zero. Only with several
        kernels.
    acceptance_rates_ : dict
        Share of accepted moves after tuning, by kind.
    n_draws_ : int
        Kept draws of each chain.

    References
    ----------
    Zhang, Dai and Jordan (2011). Bayesian generalized kernel mixed models. JMLR 12.

    Examples
    --------
    >>> from sparsekern import SparseGPClassifier
    >>> from sparsekern.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = SparseGPClassifier(draws=200, tune=200, random_state=0).fit(X, y)
    >>> mean, std = model.predict_latent([[0.0, 0.5]], return_std=True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "mean_distance",
        learn_length_scale: Any = False,
        length_scale_bounds: tuple[float, float] = (0.1, 10.0),
        max_active: int = 100,
        candidates: Any = None,
        sparse: bool = True,
        scale_prior: tuple[float, float] = (2, 0.05),
        intercept_prior: tuple[float, float] = (0.5, 0.05),
        size_prior: tuple[float, float] = (1, 1),
        amplitude_prior: tuple[float, float] = (2, 0.4),
        zero_probability: float = 0.5,
        standardize: bool = True,
        jitter: float = 1e-8,
        active_set_moves: int = 10,
        joint_moves: int = 30,
        latent_scans: int = 3,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        thin: int = 1,
        warm_start: bool = False,
        checkpoint: Any = None,
        progress: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.learn_length_scale = learn_length_scale
        self.length_scale_bounds = length_scale_bounds
        self.max_active = max_active
        self.candidates = candidates
        self.sparse = sparse
        self.scale_prior = scale_prior
        self.intercept_prior = intercept_prior
        self.size_prior = size_prior
        self.amplitude_prior = amplitude_prior
        self.zero_probability = zero_probability
        self.standardize = standardize
        self.jitter = jitter
        self.active_set_moves = active_set_moves
        self.joint_moves = joint_moves
        self.latent_scans = latent_scans
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
    def fit(self, X: Any, y: Any) -> SparseGPClassifier:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or the kernel matrix (n_samples, n_samples) if precomputed.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : SparseGPClassifier
        """
        with self._all_or_nothing():
            self._fit(X, y)
        return self

    def _sweep_options(self) -> dict[str, Any]:
        return super()._sweep_options() | {
            "joint_moves": check_count("joint_moves", self.joint_moves, lowest=0),
            "scans": check_count("latent_scans", self.latent_scans),
            "keep_states": True,
        }

    def _fit(self, X: Any, y: Any) -> None:
        plan = self._check_sampling_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        self.classes_, response = encode_classes(y)
        several = len(self.classes_) > 2
        likelihood = MultinomialProbit(len(self.classes_)) if several else Probit()
        self._fit_chains(X, response, likelihood, plan)

    def _collect_draws(self, stack: Any, sampler: Any) -> KernelStatePosterior:
        draws = super()._collect_draws(stack, sampler)
        sizes = draws.counts.ravel() * len(draws.kernels) + 1
        packed = stack("packed").reshape(draws.n_draws, -1)
        variances = stack("variances")[..., 1:]
        self._prior_variances = variances.reshape(draws.n_draws, -1)
        shared = {field.name: getattr(draws, field.name) for field in fields(draws)}
        return KernelStatePosterior(
            **shared,
            means=stack("means")[..., : int(sizes.max())],
            packed=tuple(
                row[: size * (size + 1) // 2].copy()
                for row, size in zip(packed, sizes, strict=True)
            ),
            jitter=sampler.basis.jitter,
        )

    def predict_latent(self, X: Any, return_std: bool = False) -> Any:
        """Return the posterior mean of the latent function and, if asked, its deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For more than two classes the functions are centred: they add up to zero.
        std : ndarray of the same shape
            Only if ``return_std``; the spread within and between states together.
        """
        mean, variance = self._states.latent_moments(self._prepare(X))
        if len(self.classes_) == 2:
            mean, variance = mean[:, 0], variance[:, 0]
        else:
            contrasts = contrast_matrix(len(self.classes_))
            mean, variance = mean @ contrasts.T, variance @ (contrasts**2).T
        return (mean, np.sqrt(variance)) if return_std else mean

    def support_residual(self, X: Any) -> np.ndarray:
        """Return how far each row is from the active vectors, from 0 (among them) to 1.

        It is the share of the prior variance of the function there that no active vector sees,
        averaged over states. Near 1 the predicted probability rests on the intercept alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if self._is_precomputed():
            raise ValueError(
                "support_residual needs k(x, x) of the new rows, which kernel='precomputed' does "
                "not give; use a kernel of the features."
            )
        features = self._prepare(X)
        every = max(1, self._states.counts.shape[1] // _RESIDUAL_STATES)
        chains, draws = self._states.counts.shape
        kept = np.arange(chains * draws).reshape(chains, draws)[:, ::every].ravel()
        sizes = [kernel.diagonal(features) for kernel in self._states.kernels]
        return self._states.thinned(every).support_residual(
            features, sizes, self._prior_variances[kept]
        )

    @property
    def _states(self) -> KernelStatePosterior:
        check_is_fitted(self, "n_draws_")
        assert isinstance(self._draws, KernelStatePosterior)
        return self._draws
