"""How a fitted estimator is shown: by what its fit has set, and nothing is computed for it."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class LightDisplay:
    """Estimators with properties that are built when first asked for, such as ``posterior_``."""

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
