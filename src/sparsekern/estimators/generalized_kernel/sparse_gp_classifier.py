"""The sparse Gaussian process classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from ...likelihoods import MultinomialProbit, Probit
from ...likelihoods.multinomial_probit import contrast_matrix
from ...posteriors.integrated_states import KernelStatePosterior
from ...posteriors.names import row_labels
from ..shared.class_face import encode_classes
from ..shared.class_prediction import ClassPrediction
from ..shared.counts import check_count
from ..shared.documentation import documented
from ..shared.validation import validate_rows
from .family import GeneralizedKernelEstimator

_RESIDUAL_STATES = 100  # of each chain that support_residual averages over


@documented
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
    <<kernel parameter>>
    <<length-scale parameters>>
    sparse : bool, default=True
        Whether to learn the active set. With False every row is active (BGKM).
    scale_prior : (float, float), default=(2, 0.05)
        Shape and rate of the gamma prior of g.
    <<prior parameters>>
    <<probit parameters>>
    <<sampling parameters>>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    <<sampling attributes>>
    <<width attributes>>

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
        rows = row_labels(X)
        X, y = validate_rows(self, X, y)
        self.classes_, response = encode_classes(y)
        self._name_data(rows, y)
        several = len(self.classes_) > 2
        likelihood = MultinomialProbit(len(self.classes_)) if several else Probit()
        self._fit_chains(X, response, likelihood, plan)

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
        return self._states.thinned(every).support_residual(features)

    @property
    def _states(self) -> KernelStatePosterior:
        check_is_fitted(self, "n_draws_")
        assert isinstance(self._draws, KernelStatePosterior)
        return self._draws
