"""What the chains of a model leave: draws that predict, scalars to judge them by, and a record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .chain_record import ChainRecord
from .datatree import TreeParts, make_datasets, make_rowwise
from .names import Names

# what chains that run until they have converged are judged by, too
_SIZES = ("n_active", "n_features", "n_included", "length_scale", "inverse_length_scale")
_MOST_POINTWISE = 20_000_000  # numbers; beyond, the pointwise log-likelihood is made on demand


@dataclass(frozen=True)
class SampledPosterior:
    """Draws of one model, and everything that is reported about them.

    Attributes
    ----------
    draws : ExpansionPosterior or ProjectionPosterior
        What predicts.
    names : Names
    record : ChainRecord
    features : ndarray of shape (m, p) or None
        The rows that made the likelihood, as predictions see them; None: ``draws`` has them.
    response : ndarray of shape (m,)
        Their responses, as the model sees them.
    used_rows : ndarray of shape (m,)
        Their numbers among the training rows.
    log_likelihood : ndarray of shape (chains, draws)
        As the model sees it.
    monitored_name : str
        What is followed at a few rows: ``"mean"`` or ``"probability"``.
    monitored_rows : ndarray of shape (q,)
        Their numbers among the training rows.
    monitored : ndarray of shape (chains, draws, q)
        As the model sees it.
    """

    draws: Any
    names: Names
    record: ChainRecord
    features: np.ndarray | None
    response: np.ndarray
    used_rows: np.ndarray
    log_likelihood: np.ndarray
    monitored_name: str
    monitored_rows: np.ndarray
    monitored: np.ndarray

    @cached_property
    def scalars(self) -> dict[str, np.ndarray]:
        """Scalars to judge the chains by, in the user's units, each of shape (chains, draws).

        What is followed at rows is ``"mean[3]"``, with the row's label.
        """
        names = self.names
        # a density is per unit of y
        shift = names.count_responses(self.used_rows) * np.log(names.spread)
        scalars = {"log_likelihood": self.log_likelihood - shift}
        for place, row in enumerate(self._followed_labels):
            scalars[f"{self.monitored_name}[{row}]"] = self._followed[..., place]
        return scalars | self.draws.scalars(names)

    @cached_property
    def _followed_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the rows, and their places: of a row that is repeated, the first."""
        numbers = self.names.row_numbers(self.monitored_rows)
        places = np.sort(np.unique(numbers, return_index=True)[1])
        return numbers[places], places

    @property
    def _followed_labels(self) -> np.ndarray:
        """Labels of the rows, or their numbers where labels are not unique."""
        numbers, _ = self._followed_rows
        labels = self.names.row_labels(numbers)
        return labels if len(np.unique(labels)) == len(labels) else numbers

    @property
    def _followed(self) -> np.ndarray:
        _, places = self._followed_rows
        return self.names.centre + self.names.spread * self.monitored[:, :, places]

    @property
    def n_kept(self) -> int:
        """Draws of each chain."""
        return self.log_likelihood.shape[1]

    @property
    def acceptance_rates(self) -> dict[str, float]:
        """Share of accepted moves after tuning, by kind."""
        return self.record.acceptance_rates

    def attributes(self) -> dict[str, Any]:
        """Return what an estimator shows of the posterior, as fitted attributes."""
        record = self.record
        traces = {"traces_": record.traces, "limits_": record.limits} if record.traces else {}
        return {
            "n_draws_": self.n_kept,
            "acceptance_rates_": self.acceptance_rates,
            **traces,
            **self.draws.attributes(self.names),
        }

    def judged_scalars(self, sizes: bool) -> dict[str, np.ndarray]:
        """Return the scalars that chains are judged by: density, predictions, and sizes if asked.

        Sizes are numbers of active vectors and features, and length scales.
        """
        chosen = {"log_likelihood", self.monitored_name, *self.draws.decisive}
        if sizes:
            chosen |= set(_SIZES)
        return {
            name: values
            for name, values in self.scalars.items()
            if name.partition("[")[0] in chosen
        }

    def is_of(self, features: np.ndarray, y: Any) -> bool:
        """Tell whether these are the rows and responses that made the likelihood, in order."""
        known, given, places = self.features, self.names.response, self._places
        if known is None or known.shape[1] != features.shape[1]:
            return False
        if isinstance(places, slice):
            given = given[self.used_rows]
        elif len(features) == len(given):  # nothing is known of the others, of weight zero
            known, features = known[places], features[self._seen]
        if known.shape != features.shape:
            return False
        return np.allclose(features, known) and np.array_equal(np.asarray(y), given)

    @property
    def _seen(self) -> np.ndarray:
        """Numbers of the training rows that the rows which made the likelihood stand for."""
        return self.names.seen_rows(self.used_rows)[0]

    @property
    def _places(self) -> np.ndarray | slice:
        """Where, among the rows which made the likelihood, each of these training rows is."""
        return self.names.seen_rows(self.used_rows)[1]

    def pointwise_log_likelihood(self) -> np.ndarray:
        """Return log p(y_i | draw) in the units of y, shape (chains, draws, rows).

        It is that of one response, however often the row counts; rows of weight zero are left out.
        """
        scaled = self.draws.pointwise_log_likelihood(self.features, self.response)
        return scaled[..., self._places] - np.log(self.names.spread)

    def sample_responses(
        self,
        features: np.ndarray | None,
        rng: np.random.Generator,
        offset: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return a response of every draw at each row, shape (chains, draws, rows).

        They are class labels, or numbers in the units of y; no ``features``: at the training rows.
        ``offset`` is what is added to the function at other rows.
        """
        rows = self.features if features is None else features
        places = self._places if features is None else slice(None)
        names, shape = self.names, self.log_likelihood.shape
        if names.classes is None:
            added = self.draws.training_offset if features is None else offset
            added = added[places] if isinstance(added, np.ndarray) else added
            assert rows is not None
            drawn = self.draws.sample_responses(rows[places], rng, added)
            drawn = names.centre + names.spread * drawn
        else:
            found = self.draws.response_draws(rows)[:, places]
            drawn = _sample_classes(found, names.classes, rng)
        return drawn.reshape(*shape, -1)

    def to_datatree(self) -> Any:
        """Return all as an xarray.DataTree that follows ArviZ's conventions."""
        import xarray as xr

        rowwise = {"observed_data": self.names.response[self._seen]}
        if self.log_likelihood.size * len(self.response) <= _MOST_POINTWISE:
            rowwise["log_likelihood"] = self.pointwise_log_likelihood()
        rows = self.names.row_labels(self._seen)
        return xr.DataTree.from_dict(self.datasets() | make_rowwise(rowwise, rows, self.record))

    def predictive_dataset(
        self,
        features: np.ndarray | None,
        rows: np.ndarray | None,
        rng: np.random.Generator,
        offset: np.ndarray | float = 0.0,
    ) -> tuple[str, Any]:
        """Return ArviZ's name of the group of new responses, and the group.

        Parameters
        ----------
        features : ndarray or None
            None: the training rows.
        rows : ndarray or None
            Labels of the rows of ``features``; None: 0, 1, ..
        rng : Generator
        offset : ndarray or float
            What is added to the function there.
        """
        drawn = self.sample_responses(features, rng, offset)
        group = "predictions"
        if features is None:
            group, rows = "posterior_predictive", self.names.row_labels(self._seen)
        elif rows is None:
            rows = np.arange(drawn.shape[-1])
        return group, make_rowwise({group: drawn}, rows, self.record)[group]

    def datasets(self) -> dict[str, Any]:
        """Return the groups of the tree that do not go by row."""
        parts = TreeParts()
        parts.add_scalars(self.scalars)
        parts.add("posterior", self.monitored_name, self._followed, "monitored_row")
        parts.coords["monitored_row"] = self._followed_labels
        self.draws.add_to(parts, self.names)
        datasets = make_datasets(parts, self.record)
        if "sparse_coefficients" in datasets and self.names.classes is None:
            units = {"response_centre": self.names.centre, "response_spread": self.names.spread}
            datasets["sparse_coefficients"].attrs |= units
        return datasets


def _sample_classes(
    probabilities: np.ndarray, classes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return classes drawn by the probabilities of the second, or of all (last axis)."""
    if probabilities.ndim == 2:
        return classes[(rng.random(probabilities.shape) < probabilities).astype(np.intp)]
    bounds = np.cumsum(probabilities[..., :-1], axis=-1)
    return classes[(rng.random(bounds.shape[:2])[..., None] >= bounds).sum(axis=-1)]
