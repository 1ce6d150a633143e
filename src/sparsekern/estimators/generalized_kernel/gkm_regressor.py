"""The generalized kernel model for real responses and counts."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from ...likelihoods._contract import SAMPLED
from ...likelihoods.table import weighing
from ...posteriors.names import row_labels
from ...settings.generalized_kernel import GKMRegressionPriors
from ...settings.until_converged import UntilConverged
from ..shared.documentation import documented
from ..shared.estimator import Estimator
from ..shared.regressor_face import RegressorFace
from ..shared.sampled import name_data
from ..shared.target import Target, resolve_law
from ..shared.weights import when_to_weigh
from .model import check_parameters, fit_model

_MOVES, _BLOCKS = 20, 4  # of the active set in a sweep


@documented
class GKMRegressor(RegressorFace, RegressorMixin, Estimator):
    r"""Sparse Bayesian kernel regression: the generalized kernel model.

    A function that rests on a few *active* training rows, and noise,

    .. math::
        y=f(x)+\sigma\varepsilon,\qquad f(x)=u+\sum_{j\in\gamma}k(x,x_j)\beta_j,

    with :math:`\beta_\gamma\sim N(0,\sigma^2g^{-1}K_{\gamma\gamma}^{-1})`, :math:`u\sim
    N(0,\sigma^2\eta^{-1})`, :math:`\sigma^{-2}\sim Ga(a,b)` and a prior on the active set
    :math:`\gamma` whose size is uniform up to ``priors.max_active``. Responses are centred and
    scaled inside, and everything is reported in the units of y. Where the noise is Gaussian,
    :math:`\sigma^2` is integrated out while the active set moves, and with fixed kernels and few
    ``candidates`` the cost of a sweep does not depend on the number of rows.

    Parameters
    ----------
    <<kernel parameter>>
    <<noise parameter>>
    <<length-scale parameters>>
    priors : GKMRegressionPriors or None, default=None
        Priors; see :class:`sparsekern.settings.GKMRegressionPriors`, whose defaults None stands
        for.
    <<sampling parameters>>

    Attributes
    ----------
    <<sampling attributes>>
    <<width attributes>>

    References
    ----------
    Zhang, Dai and Jordan (2011). Bayesian generalized kernel mixed models. JMLR 12.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsekern import GKMRegressor
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(80)
    >>> model = GKMRegressor(draws=200, tune=200, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    """

    _sampled = "rows"
    _groups: ClassVar = {"priors": GKMRegressionPriors}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        noise: str = "gaussian",
        counts: str | None = None,
        offset: Any = None,
        length_scale: Any = "mean_distance",
        learn_length_scale: Any = False,
        candidates: Any = None,
        standardize: bool = True,
        priors: GKMRegressionPriors | None = None,
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
        self.noise = noise
        self.counts = counts
        self.offset = offset
        self.length_scale = length_scale
        self.learn_length_scale = learn_length_scale
        self.candidates = candidates
        self.standardize = standardize
        self.priors = priors
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
        runner, rows, priors = check_parameters(self), row_labels(X), self._group("priors")
        law = resolve_law(self, SAMPLED, priors.degrees_of_freedom)
        X, y = self._training_rows(
            X, y, sample_weight, when_to_weigh(law), y_numeric=True, ensure_min_samples=2
        )
        self._target, response = Target.of_law(self, X, y, law)
        law, noise_prior = self._target.law_of_rows(law, X, priors.noise, self._row_weights)
        names = name_data(self, rows, y, self._target.centre[0], self._target.spread[0])
        features = self._prepare_training(X, self._target.exposure)
        options = {"noise_prior": noise_prior, "moves": _MOVES, "blocks": _BLOCKS}
        fit_model(self, runner, features, [response], law, names, **options)

    def _weighing_laws(self) -> str:
        return weighing(noise="reals", counts="counts")
