r"""Posteriors of one-vs-rest models, taken together.

Model c gives :math:`\pi_c=P(y=c)` against all other classes, apart from the other models; a draw's
class probabilities are :math:`\pi_c/\sum_l\pi_l`, draw t of each model beside draw t of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..predictive.class_shares import normalized_shares
from .expansion import ExpansionPosterior


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
    def n_draws(self) -> int:
        """Draws over all chains."""
        return self.members[0].n_draws

    @property
    def rows(self) -> np.ndarray:
        """Sorted training rows that are active in any draw of any model."""
        return np.unique(np.concatenate([member.rows for member in self.members]))

    def active_probabilities(self, n: int) -> np.ndarray:
        r"""Return the probability that a row is active in at least one model.

        The models are independent: :math:`1-\prod_c(1-p_c)`.
        """
        absent = [1.0 - member.active_probabilities(n) for member in self.members]
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
