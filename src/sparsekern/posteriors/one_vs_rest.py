r"""Posteriors of one-vs-rest models, taken together.

Model c gives :math:`\pi_c=P(y=c)` against all other classes, apart from the other models; a draw's
class probabilities are :math:`\pi_c/\sum_l\pi_l`, draw t of each model beside draw t of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..predictive.class_shares import normalized_shares
from .chain_record import joined_record
from .expansion import ExpansionPosterior
from .names import Names
from .sampled import SampledPosterior


@dataclass(frozen=True)
class OneVsRestPosterior:
    """Draws of one two-class model for each class.

    Attributes
    ----------
    members : tuple of ExpansionPosterior
        In the order of the classes, with the same chains and draws.
    """

    members: tuple[ExpansionPosterior, ...]

    @property
    def decisive(self) -> tuple[str, ...]:
        """Scalars that chains are judged by, besides the usual ones."""
        return self.members[0].decisive

    @property
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.members[0].n_draws

    @property
    def rows(self) -> np.ndarray:
        """Sorted training rows that are active in any draw of any model."""
        return np.unique(np.concatenate([member.rows for member in self.members]))

    def active_probabilities(self, names: Names) -> np.ndarray:
        r"""Return the probability that a row is active in at least one model.

        The models are independent: :math:`1-\prod_c(1-p_c)`.
        """
        absent = [1.0 - member.active_probabilities(names) for member in self.members]
        return 1.0 - np.prod(absent, axis=0)

    def thinned(self, thin: int) -> OneVsRestPosterior:
        """Return every ``thin``-th draw of each chain."""
        return OneVsRestPosterior(tuple(member.thinned(thin) for member in self.members))

    def _blocks(self, features: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, class probabilities of shape (draws, rows, classes))."""
        parts = [member.latent_blocks(features) for member in self.members]
        for together in zip(*parts, strict=True):  # the same draws, hence the same blocks
            each = [
                member.likelihood.mean(latent)
                for member, (_, latent) in zip(self.members, together, strict=True)
            ]
            yield together[0][0], normalized_shares(each)

    def mean_response(self, features: np.ndarray) -> np.ndarray:
        """Return class probabilities at each row, averaged over draws."""
        return np.concatenate([shares.mean(axis=0) for _, shares in self._blocks(features)])

    def response_draws(self, features: np.ndarray) -> np.ndarray:
        """Return the class probabilities of every draw, shape (draws, rows, classes)."""
        return np.concatenate([shares for _, shares in self._blocks(features)], axis=1)

    def pointwise_log_likelihood(self, features: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Return the log probability of each row's class with shape (chains, draws, rows)."""
        out = np.empty((self.n_draws, len(features)))
        labels = np.asarray(response, dtype=np.intp)
        for block, shares in self._blocks(features):
            here = labels[block]
            out[:, block] = np.log(shares[:, np.arange(len(here)), here])
        return out.reshape(*self.members[0].counts.shape, len(features))


@dataclass(frozen=True)
class SampledOneVsRest(SampledPosterior):
    """A posterior made of the posteriors of one two-class model for each class.

    Attributes
    ----------
    members : tuple of SampledPosterior
        In the order of the classes.
    """

    members: tuple[SampledPosterior, ...]

    @classmethod
    def of(cls, members: list[SampledPosterior], names: Names) -> SampledOneVsRest:
        """Take the members together; ``names`` has the classes."""
        first = members[0]
        # the rows that made the likelihood need not be all: take their classes from the members
        codes = np.argmax([member.response for member in members], axis=0)
        return cls(
            draws=OneVsRestPosterior(tuple(member.draws for member in members)),
            names=names,
            record=joined_record([member.record for member in members]),
            features=first.features,
            response=codes.astype(np.float64),
            used_rows=first.used_rows,
            log_likelihood=np.sum([member.log_likelihood for member in members], axis=0),
            monitored_name=first.monitored_name,
            monitored_rows=first.monitored_rows,
            monitored=np.stack([member.monitored for member in members], axis=-1),
            members=tuple(members),
        )

    @cached_property
    def scalars(self) -> dict[str, np.ndarray]:
        """Scalars of all members, the class in their names."""
        assert self.names.classes is not None
        return {
            _with_class(name, label): values
            for label, member in zip(self.names.classes, self.members, strict=True)
            for name, values in member.scalars.items()
        }

    @property
    def acceptance_rates(self) -> dict[str, float]:
        """Share of accepted moves after tuning, by kind: the mean over members."""
        rates = [member.acceptance_rates for member in self.members]
        return {name: float(np.mean([r.get(name, np.nan) for r in rates])) for name in rates[0]}

    def attributes(self) -> dict[str, Any]:
        """Return what an estimator shows of all members together."""
        probabilities = self.draws.active_probabilities(self.names)
        each = [member.draws.attributes(member.names) for member in self.members]
        return {
            "n_draws_": self.n_kept,
            "acceptance_rates_": self.acceptance_rates,
            "traces_": self.record.traces,
            "active_probabilities_": probabilities,
            "active_vectors_": np.flatnonzero(probabilities),
        } | self.members[0].draws.combined_attributes(each)

    def datasets(self) -> dict[str, Any]:
        """Return the groups of all members with the classes as last dimension."""
        import xarray as xr

        parts = [member.datasets() for member in self.members]
        return {
            group: xr.concat(
                [part[group] for part in parts],
                dim=xr.IndexVariable("class", self.names.classes),
                join="outer",
                fill_value={"training_row": -1, "feature": -1, "coefficient": 0.0},
            ).transpose("chain", "draw", ..., "class")
            for group in parts[0]
        }


def _with_class(name: str, label: Any) -> str:
    """Return the name of a scalar of one model: "scale" is "scale[a]", "p[3]" is "p[3, a]"."""
    base, bracket, index = name.partition("[")
    return f"{base}[{index[:-1]}, {label}]" if bracket else f"{base}[{label}]"
