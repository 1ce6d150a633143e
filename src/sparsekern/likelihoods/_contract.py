"""What every likelihood offers.

A likelihood is one file: a class for prediction and reports, a NamedTuple with the training
responses for compiled code, and compiled functions registered for it (:mod:`._compiled`).
``provides`` lists abilities; an engine states what it ``REQUIRES`` of them, and a likelihood that
is refused gets a sentence (:mod:`.table`).

Abilities
---------
"working response"
    Gaussian given auxiliary variables; the functions ``update_working`` and ``draw_working``.
"function moves"
    ``scaled_log_likelihood`` and ``add_site_terms`` serve moves that forget auxiliary variables.
"free latents"
    The working response may be stretched (its law knows its sign only).
"learned noise"
    The variance of the noise is a parameter.
"law"
    The law of a new response given its latent value; the class is a :class:`ResponseLaw` too.
"normal noise"
    The law is normal around f, so that a normal f is integrated out by adding variances.
"averaged mean"
    ``averaged_mean(means, variances)``: the mean of a response whose latent value is normal.
"averaged argument"
    ``averaged_argument(means, variances)``: the latent value whose mean that is, or nearly.
"probabilities"
    The likelihoods of all labels add up to one, so that one-vs-rest models can be compared.
"terms"
    Log density, slope and curvature in f of one response (:mod:`.terms`).
"concave terms"
    They are log-concave in f, so that Newton's method finds the one mode of a function; samplers
    can do without auxiliary variables then. A law without derivatives may lend smooth ones.
"stand-in"
    Samplers reach the law by its terms, through a Gaussian stand-in (:mod:`._by_terms`).
"truncated latents"
    The label is the region of a normal latent value; ``truncated_start`` and ``truncated_shift``.
"heavy tails"
    Gross errors are part of the law: responses are scaled by their median deviation.
"degrees of freedom"
    They are the one argument of the class.
"row weights"
    The class takes ``weights``: the log-likelihood of a row is multiplied by its own.
"weighted form"
    ``weighted(weights)``: the same law by its terms, with "row weights" in place of a working
    response.
"inner products suffice"
    The working response is the response and the precision is common but for weights of rows, so
    that the data may be rotated.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

WORKING = (frozenset({"working response"}),)  # what samplers of Gaussian working responses require
SAMPLED = (*WORKING, frozenset({"stand-in"}))  # the same, where sweeps can be corrected


@runtime_checkable
class Likelihood(Protocol):
    """The face of a likelihood in prediction, diagnostics and reports."""

    name: ClassVar[str]
    support: ClassVar[str]  # of responses: "labels" (-1, 1), "classes", "reals" or "counts"
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
class ResponseLaw(Protocol):
    r"""Law of a new response given its latent value f: what predictions are made of.

    ``variance`` is that of the noise, where the likelihood has one, ``parameters`` are the
    likelihood's own (last axis); everything broadcasts.
    """

    support: ClassVar[str]
    provides: ClassVar[frozenset[str]]
    last_parameter: ClassVar[str | None]  # name of the number that ``read_last`` is about

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return E[y | f]; the centre of the law where it has no mean."""
        ...

    def read_last(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return noise variance and parameters that the logarithm of one number stands for.

        It is the last parameter of a model whose likelihood has one number to learn: the variance
        of the noise, or the dispersion of counts.
        """
        ...

    def response_variance(
        self, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return Var[y | f], infinite where there is none."""
        ...

    def distribution(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return P(Y <= y | f)."""
        ...

    def log_likelihood(
        self, response: np.ndarray, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return the log density, or probability, of y given f."""
        ...

    def sample(
        self, rng: np.random.Generator, latent: np.ndarray, variance: Any, parameters: np.ndarray
    ) -> np.ndarray:
        """Return a new response for each latent value."""
        ...
