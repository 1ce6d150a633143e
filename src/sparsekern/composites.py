"""Estimators inside others: what a pipeline or a search does around a model of this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


@dataclass(frozen=True)
class Composite:
    """A fitted estimator taken apart.

    Attributes
    ----------
    whole : estimator
        As the user fitted it.
    final : estimator
        The model at its end, which has the posterior.
    before : tuple of transformers
        What its inputs pass through, in this order.
    responses : tuple of transformers
        What turns its responses back into the units of the user, in this order.
    """

    whole: Any
    final: Any
    before: tuple[Any, ...]
    responses: tuple[Any, ...]

    def inputs(self, X: Any) -> Any:
        """Return rows of the user as the model at the end sees them."""
        for step in self.before:
            X = step.transform(X)
        return X

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Return responses of the model at the end in the units of the user.

        They have the shape (rows, quantiles) or (draws, rows), with several outputs one axis more.
        """
        n_outputs = values.shape[2] if values.ndim == 3 else 1
        for transformer in self.responses:
            table = transformer.inverse_transform(values.reshape(-1, n_outputs))
            values = np.reshape(table, values.shape)
        return values

    def feature_names(self) -> np.ndarray | None:
        """Return names of the features that the model at the end sees, where there are any."""
        names = getattr(self.final, "feature_names_in_", None)
        if names is not None or not self.before:
            return names
        names = getattr(self.whole, "feature_names_in_", None)
        for step in self.before:
            if not hasattr(step, "get_feature_names_out"):
                return None
            names = step.get_feature_names_out(names)
        return names


def take_apart(model: Any) -> Composite:
    """Return the parts of a fitted estimator, pipeline, search, or any of these in another.

    Parameters
    ----------
    model : estimator
        Known are Pipeline, GridSearchCV and other searches of scikit-learn,
        TransformedTargetRegressor and FrozenEstimator; anything else is a model itself.
    """
    whole = model
    before: list[Any] = []
    responses: list[Any] = []
    while True:
        if isinstance(model, Pipeline):
            check_is_fitted(model)
            before += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, (GridSearchCV, RandomizedSearchCV)):
            check_is_fitted(model)
            raise ValueError(
                f"model is a {type(model).__name__} fitted with refit={model.refit!r}, which keeps "
                "no estimator; fit it with refit=True."
            )
        elif isinstance(model, TransformedTargetRegressor):
            check_is_fitted(model)
            responses.insert(0, model.transformer_)
            model = model.regressor_
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        else:
            return Composite(whole, model, tuple(before), tuple(responses))


def final_estimator(model: Any) -> Any:
    """Return the model at the end of a pipeline or in a search; others as they are."""
    return take_apart(model).final


def predict_quantiles(model: Any, X: Any, quantiles: Any = (0.025, 0.5, 0.975)) -> np.ndarray:
    """Return quantiles of a new response, by a regressor or a pipeline that ends in one.

    scikit-learn's pipelines and searches pass on few methods of what they hold. This function asks
    the regressor at the end for its ``predict_quantiles``, through the steps before it.

    Parameters
    ----------
    model : fitted regressor of this package, Pipeline, GridSearchCV or TransformedTargetRegressor
        They may hold each other.
    X : array-like of shape (n_samples, n_features)
        As ``model.predict`` takes it.
    quantiles : array-like of shape (n_quantiles,), default=(0.025, 0.5, 0.975)

    Returns
    -------
    ndarray of shape (n_samples, n_quantiles) or (n_samples, n_quantiles, n_outputs)
        In the units of the response that ``model`` was fitted to.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sparsekern import RVMRegressor, predict_quantiles
    >>> X = np.linspace(0, 10, 50)[:, None]
    >>> model = make_pipeline(StandardScaler(), RVMRegressor()).fit(X, np.sin(X[:, 0]))
    >>> predict_quantiles(model, X, [0.05, 0.95]).shape
    (50, 2)
    """
    parts = take_apart(model)
    if not hasattr(parts.final, "predict_quantiles"):
        inside = "" if parts.final is model else f", whose last step is {_name(parts.final)}"
        raise TypeError(
            "model must be a regressor with predict_quantiles, or a pipeline that ends in one; got "
            f"{_name(model)}{inside}."
        )
    rows = parts.inputs(X)
    found = parts.in_units(parts.final.predict_quantiles(rows, quantiles))
    if not parts.responses:
        return found
    # a transform of the response may turn the order round, and low quantiles into high ones
    ends = parts.in_units(parts.final.predict_quantiles(rows, (0.25, 0.75)))
    turned = parts.in_units(parts.final.predict_quantiles(rows, 1.0 - np.asarray(quantiles)))
    return np.where(ends[:, [0]] <= ends[:, [1]], found, turned)


def _name(model: Any) -> str:
    return repr(model) if isinstance(model, str) else type(model).__name__
