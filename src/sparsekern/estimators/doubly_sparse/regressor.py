"""Doubly-sparse kernel regression."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from ...likelihoods._contract import SAMPLED
from ...likelihoods.table import weighing
from ...posteriors.names import row_labels
from ...settings.doubly_sparse import (
    DoublySparseRegressionMoves,
    DoublySparseRegressionPriors,
    DoublySparseSelection,
)
from ...settings.until_converged import UntilConverged
from ..shared.documentation import documented
from ..shared.regressor_face import RegressorFace
from ..shared.sampled import name_data
from ..shared.target import Target, resolve_law
from ..shared.weights import when_to_weigh
from .model import check_parameters, fit_model
from .selector import FeatureSelector


@documented
class DoublySparseRegressor(RegressorFace, RegressorMixin, FeatureSelector):
    r"""Kernel regression that selects features inside the kernel, and a few training rows.

    .. math::
        y=f(x)+\sigma\varepsilon,\qquad f(x)=\beta_0+\sum_{j\in a}k_{\gamma,\eta}(x,x_j)\beta_j,
        \qquad k_{\gamma,\eta}(x,x')=\exp\Big(-\sum_{l\in\gamma}\eta_l(x_l-x'_l)^2\Big)

    with features :math:`\gamma` included independently, :math:`\eta_l=1/(2\ell_l^2)\sim Exp(1)` for
    length scales :math:`\ell_l`, active vectors a chosen independently, :math:`\beta_j\sim
    N(0,\sigma^2\nu_1)` and :math:`\nu_1\sim IG`. Features, length scales, vectors and the slab
    :math:`\nu_1` are sampled with the coefficients (and :math:`\sigma^2`) integrated out. Responses
    are centred and scaled inside, and everything is reported in the units of y.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The Laplacian kernel has :math:`|x_l-x'_l|` in place of the square. The length scale of a
        feature is :math:`\ell_l=1/\sqrt{2\eta_l}` (Laplacian: :math:`1/\eta_l`).
    <<noise parameter>>
    <<feature parameters>>
    priors : DoublySparseRegressionPriors or None, default=None
        Priors; see :class:`sparsekern.settings.DoublySparseRegressionPriors`, whose defaults None
        stands for.
    moves : DoublySparseRegressionMoves or None, default=None
        What a sweep consists of, and what is done about many rows; see
        :class:`sparsekern.settings.DoublySparseRegressionMoves`.
    <<sampling parameters>>

    Attributes
    ----------
    <<feature attributes>>
    <<sampling attributes>>

    References
    ----------
    Duan (2022). Sparse Bayesian kernel learning for high-dimensional regression and
    classification. Dissertation.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsekern import DoublySparseRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (80, 6))
    >>> y = 2 * np.cos(X[:, 0]) + 0.3 * rng.standard_normal(80)
    >>> model = DoublySparseRegressor(draws=300, tune=300, random_state=0).fit(X, y)
    >>> model.selected_features_
    array([0])
    """

    _sampled = "rows"
    _groups: ClassVar = {
        "selection": DoublySparseSelection,
        "priors": DoublySparseRegressionPriors,
        "moves": DoublySparseRegressionMoves,
    }

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        noise: str = "gaussian",
        counts: str | None = None,
        offset: Any = None,
        candidates: Any = None,
        standardize: bool = True,
        selection: DoublySparseSelection | None = None,
        priors: DoublySparseRegressionPriors | None = None,
        moves: DoublySparseRegressionMoves | None = None,
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
        self.candidates = candidates
        self.standardize = standardize
        self.selection = selection
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
        runner, rows, priors = check_parameters(self), row_labels(X), self._group("priors")
        law = resolve_law(self, SAMPLED, priors.degrees_of_freedom)
        weigh = "never" if self._unweighing_option() else when_to_weigh(law)
        X, y = self._training_rows(X, y, sample_weight, weigh, y_numeric=True, ensure_min_samples=2)
        self._target, response = Target.of_law(self, X, y, law)
        law, noise_prior = self._target.law_of_rows(law, X, priors.noise, self._row_weights)
        names = name_data(self, rows, y, self._target.centre[0], self._target.spread[0])
        exposure = self._target.exposure
        fit_model(
            self, runner, X, [response], law, names, noise_prior=noise_prior, exposure=exposure
        )

    def _weighing_laws(self) -> str:
        return self._unweighing_option() or weighing(noise="reals", counts="counts")
