"""What every estimator of the package does the same way, however it is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._memory import require_memory
from ...posteriors.names import row_labels
from ...posteriors.row_map import RowMap
from ...settings.group import Settings, change_group, check_group, is_default
from ...settings.until_converged import UntilConverged
from .inputs import Inputs, validate_rows
from .weights import Weigh, map_rows


def _has_draws(estimator: Any) -> bool:
    """Tell whether the estimator is fitted by chains; where it could be, a sentence says how."""
    estimator._refuse_without_chains()
    return True


def _rests_on_rows(estimator: Any) -> bool:
    return _has_draws(estimator) and estimator._sampled == "rows"


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Fits that succeed or leave no trace, inputs, draws for ArviZ where there are any, display.

    An estimator has its inputs (:class:`.inputs.Inputs`), its response (:class:`.target.Target`)
    and what it was fitted to, a posterior. It defines ``_fit`` and what its face asks for.
    """

    kernel: Any
    standardize: bool
    _inputs: Inputs
    _posterior: Any
    _row_map: RowMap | None = None  # of the last fit
    _sampled = ""  # "rows": fitted by chains, draws rest on training rows; "components"
    _most_draws = 10_000  # of a chain, unless the user says otherwise
    _groups: ClassVar[dict[str, type[Settings]]] = {}  # parameters that are groups

    # parameters

    def _group(self, name: str) -> Any:
        """Return a group of parameters: the one given, or that of the defaults."""
        return check_group(name, getattr(self, name), self._groups[name])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add what is inside groups and kernels, such as ``priors__scale``.

        Returns
        -------
        dict
        """
        found = super().get_params(deep)
        for name, kind in self._all_groups.items() if deep else ():
            if is_default(found[name], kind):
                inside = kind().get_params()
                found |= {f"{name}__{key}": value for key, value in inside.items()}
        return found

    @property
    def _all_groups(self) -> dict[str, type[Settings]]:
        """Parameters that are groups, or can be."""
        own = {"draws": UntilConverged} if hasattr(self, "draws") else {}
        return self._groups | own

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those inside groups by names such as ``priors__scale``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : estimator
        """
        inside: dict[str, dict[str, Any]] = {}
        for key in list(params):
            name, separator, part = key.partition("__")
            if separator and name in self._all_groups:
                inside.setdefault(name, {})[part] = params.pop(key)
        changed = {
            name: change_group(
                name, check_group(name, params.get(name, getattr(self, name)), kind), inside[name]
            )
            for name, kind in self._all_groups.items()
            if name in inside
        }
        return super().set_params(**params | changed)  # all of them, or none

    # fitting

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, or what stands for them with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Responses; where several outputs or labels are supported, one column for each.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: its log-likelihood is multiplied by it. Weights are not
            scaled, twice as large ones are twice as much data. Rows of weight zero have no part.
            Where a model cannot weigh rows it repeats them, which needs whole numbers.

        Returns
        -------
        self : estimator
            If anything goes wrong it is left as it was before.
        """
        with self._all_or_nothing():
            for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
                delattr(self, name)  # of an earlier fit
            self.__dict__.pop("_posterior_tree", None)
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        raise NotImplementedError

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was if the block is left by an exception."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException as error:
            after = dict(self.__dict__)
            self.__dict__.clear()
            self.__dict__.update(before)
            # what scikit-learn needs to take its callbacks down stays
            kept = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
            self.__dict__.update({name: after[name] for name in kept if name in after})
            if isinstance(error, KeyboardInterrupt) and not error.args:
                raise KeyboardInterrupt(
                    f"{type(self).__name__} was interrupted before there was anything to keep."
                ) from None
            raise

    # inputs

    def __sklearn_tags__(self) -> Any:
        """Say that a precomputed kernel is cut by rows and columns in cross-validation."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, weigh: Weigh = "never", **options: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return validated rows and responses that the model is fitted to; remember which.

        ``weigh`` tells when the engine is to weigh rows: it then finds their weights in
        ``_row_weights``. Otherwise rows are repeated as often as they count.
        """
        X, y = validate_rows(self, X, y, **options)
        precomputed = self._is_precomputed()
        self._row_map = None
        if precomputed and X.shape[0] != X.shape[1]:
            return X, y  # refused where kernels are looked at
        self._row_map = map_rows(self, X, y, sample_weight, weigh)
        if self._row_map is None:
            return X, y
        taken = self._row_map.taken
        return X[np.ix_(taken, taken)] if precomputed else X[taken], y[taken]

    @property
    def _row_weights(self) -> np.ndarray | None:
        """How often each row of the model counts; None: once."""
        return None if self._row_map is None else self._row_map.weights

    def _user_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers among the user's rows of rows of the model, sorted."""
        return rows if self._row_map is None else np.unique(self._row_map.taken[rows])

    def _weighing_laws(self) -> str:
        """Return in words what lets weights be fractions."""
        if is_classifier(self):
            return "GKMClassifier with likelihood='logit'"
        return "GKMRegressor with noise='gaussian'"

    def _prepare_training(self, X: np.ndarray, exposure: int | None = None) -> np.ndarray:
        """Return the rows as the kernel sees them, in memory that the caller has no part in.

        They stand by feature (Fortran order), as compiled kernels read the training rows.
        """
        precomputed = self._is_precomputed()
        if precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs the square kernel matrix of the training rows as "
                f"X; got the shape {X.shape}."
            )
        standardize = self.standardize and not precomputed
        self._inputs = Inputs(X, standardize, exposure, self._row_weights)
        rows = self._inputs(X, "F")
        if precomputed and self._row_map is not None:
            self._inputs.columns = self._row_map.taken
        return rows.copy(order="F") if np.may_share_memory(rows, X) else rows

    def _prepare(self, X: Any, order: Literal["C", "F"] = "C") -> np.ndarray:
        """Return new rows as the kernel sees them, by row or (``"F"``) by feature."""
        check_is_fitted(self)
        return self._inputs(validate_rows(self, X, order=order, reset=False), order)

    # draws, of estimators that are fitted by chains

    def _refuse_without_chains(self) -> None:
        """Raise AttributeError where this estimator makes no draws."""
        if not self._sampled:
            raise AttributeError(f"{type(self).__name__} is not fitted by chains; it has no draws.")

    def _offset_at(self, X: Any) -> np.ndarray | float:
        """Return what is added to the function at new rows."""
        return 0.0

    @property
    def posterior_(self) -> Any:
        """Draws as an xarray.DataTree for ArviZ; built when first asked for."""
        self._refuse_without_chains()
        check_is_fitted(self)
        if "_posterior_tree" not in self.__dict__:
            self._posterior_tree = self._posterior.to_datatree()
        return self._posterior_tree

    @available_if(_has_draws)
    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return the log-likelihood of every training row under every draw.

        Returns
        -------
        ndarray of shape (chains, draws, n_samples)
            Part of ``posterior_`` unless it holds over 2e7 numbers; then it is made only here.
            It is that of one response, whatever ``sample_weight`` says; rows of weight zero are
            left out.
        """
        check_is_fitted(self)
        return self._posterior.pointwise_log_likelihood()

    @available_if(_rests_on_rows)
    def is_fitted_to(self, X: Any, y: Any) -> bool:
        """Tell whether these are the rows and responses of the fit, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        bool
            Figures ask this before they mark ``active_vectors_`` among rows.
        """
        return self._posterior.is_of(self._prepare(X), y)

    @available_if(_has_draws)
    def add_posterior_predictive(self, X: Any = None, *, random_state: Any = None) -> Any:
        """Draw new responses and add them to ``posterior_``, where ArviZ looks for them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            None: the training rows, in the group ``posterior_predictive``, to be compared with
            ``observed_data``. Otherwise the group is ``predictions``.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        xarray.DataTree
            ``posterior_`` with the group: ``y`` by (chain, draw, row), one response of every draw,
            in the units, or of the class labels, of the training data. A stored or copied estimator
            does not keep it.
        """
        tree, posterior = self.posterior_, self._posterior
        features = None if X is None else self._prepare(X)
        offset = 0.0 if X is None else self._offset_at(X)
        n_rows = len(posterior.response if features is None else features)
        require_memory(
            3 * 8.0 * posterior.log_likelihood.size * n_rows,
            type(self).__name__,
            f"responses of {posterior.log_likelihood.size} draws at {n_rows} rows",
            "give fewer rows at a time",
        )
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        group, dataset = posterior.predictive_dataset(features, row_labels(X), rng, offset)
        tree[group] = type(tree)(dataset)
        return tree

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be built again on demand."""
        state = super().__getstate__().copy()
        state.pop("_posterior_tree", None)
        return state

    # display

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Return the table of fitted attributes for scikit-learn's HTML display.

        scikit-learn reads every attribute that an estimator has, properties too, each of which
        would be computed, or would raise, for a picture. A stand-in has those that fit has set.
        """
        stand_in = BaseEstimator()
        stand_in.__dict__.update(
            {name: value for name, value in vars(self).items() if not name.startswith("_")}
        )
        table = stand_in._get_fitted_attr_html(doc_link)
        table.estimator_class = type(self)
        return table
