"""The sparse Gaussian process classifier."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...likelihoods import MultinomialProbit, Probit
from ...likelihoods.multinomial_probit import contrast_matrix
from ...posteriors.integrated_states import KernelStatePosterior
from ...posteriors.names import row_labels
from ...settings.generalized_kernel import GKMMoves, GKMPriors
from ...settings.until_converged import UntilConverged
from ..shared.class_face import ClassFace, encode_classes
from ..shared.documentation import documented
from ..shared.estimator import Estimator
from ..shared.sampled import name_data
from .model import MOST_DRAWS, check_parameters, fit_model

_RESIDUAL_STATES = 100  # of each chain that support_residual averages over


@documented
class SparseGPClassifier(ClassFace, ClassifierMixin, Estimator):
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
    priors : GKMPriors or None, default=None
        Priors; see :class:`sparsekern.settings.GKMPriors`, whose defaults None stands for.
    moves : GKMMoves or None, default=None
        What a sweep consists of; see :class:`sparsekern.settings.GKMMoves`.
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

    _sampled = "rows"
    _most_draws = MOST_DRAWS
    _groups: ClassVar = {"priors": GKMPriors, "moves": GKMMoves}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        length_scale: Any = "mean_distance",
        learn_length_scale: Any = False,
        candidates: Any = None,
        standardize: bool = True,
        priors: GKMPriors | None = None,
        moves: GKMMoves | None = None,
        draws: int | str | UntilConverged = "auto",
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
        self.candidates = candidates
        self.standardize = standardize
        self.priors = priors
        self.moves = moves
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
        runner, rows = check_parameters(self), row_labels(X)
        X, y = self._training_rows(X, y, sample_weight)
        self.classes_, response = encode_classes(y)
        several = len(self.classes_) > 2
        likelihood = MultinomialProbit(len(self.classes_)) if several else Probit()
        features, names = self._prepare_training(X), name_data(self, rows, y)
        fit_model(self, runner, features, [response], likelihood, names, keep_states=True)

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
        check_is_fitted(self)
        assert isinstance(self._posterior.draws, KernelStatePosterior)
        return self._posterior.draws
