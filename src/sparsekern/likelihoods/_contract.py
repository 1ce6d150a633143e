"""What every likelihood offers.

A likelihood is one file: a class for prediction and reports, a NamedTuple with the training
responses for compiled code, and compiled functions registered for it (:mod:`._compiled`).
``provides`` lists abilities; an engine compares them with what it ``requires`` and refuses by a
sentence (:func:`sparsekern.model.check_compatible`).

Abilities
---------
"working response"
    Gaussian given auxiliary variables; the functions ``update_working`` and ``draw_working``.
"function moves"
    ``scaled_log_likelihood`` and ``add_site_terms`` serve moves that forget auxiliary variables.
"free latents"
    The working response may be stretched (its law knows its sign only).
"learned noise"
    The variance of the noise is a parameter; the class is a :class:`NoiseLaw` too.
"inner products suffice"
    The working response is the response and the precision is common, so that the data may be
    rotated.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Likelihood(Protocol):
    """The face of a likelihood in prediction, diagnostics and reports."""

    name: ClassVar[str]
    provides: ClassVar[frozenset[str]]

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the expected response at latent values f."""
        ...

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value whose expected response is ``mean``."""
        ...

    def log_likelihood(
        self,
        response: np.ndarray,
        latent: np.ndarray,
        variance: Any = 1.0,
        parameters: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the log-likelihood of each response at each latent value.

        ``variance`` (of the noise) and ``parameters`` (last axis) are those of the draws; only
        likelihoods that have them look at them.
        """
        ...

    def start_parameters(self) -> np.ndarray:
        """Return where a chain starts the likelihood's own parameters; most have none."""
        ...

    def compiled(self, response: np.ndarray, parameters: np.ndarray) -> Any:
        """Return the NamedTuple for compiled code; it may hold on to ``parameters``."""
        ...

    def start_working(self, response: np.ndarray) -> np.ndarray:
        """Return a working response to start from, unit precision."""
        ...


@runtime_checkable
class NoiseLaw(Protocol):
    r"""Law of :math:`y=f+\sigma\varepsilon` for predictive statements.

    ``parameters`` are the likelihood's own, last axis, of every draw (first axis).
    """

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y) of a new response."""
        ...

    def noise_factor(self, parameters: np.ndarray) -> np.ndarray:
        """Return the variance of the noise over sigma^2, infinite where there is none."""
        ...

    def draw_noise(
        self, rng: np.random.Generator, shape: tuple[int, ...], parameters: np.ndarray
    ) -> np.ndarray:
        """Return draws of epsilon, one row for each draw of the parameters."""
        ...
