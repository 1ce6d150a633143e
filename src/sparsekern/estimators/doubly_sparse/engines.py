"""Which sampler runs a doubly-sparse model: the plain one, a tempered one, the active subset."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from ..._checks import check_positive
from ...inference.doubly_sparse.active_subset import ActiveSubsetSampler
from ...inference.doubly_sparse.sampler import DoublySparseSampler
from ...inference.doubly_sparse.tempering import TemperedSampler
from ...likelihoods._contract import Likelihood

_SUBSET_SPIKE = 1e-3


def choose_sampler(
    likelihood: Likelihood, options: dict[str, Any], temperatures: Any, subset: bool
) -> Callable[..., DoublySparseSampler]:
    """Return what makes the sampler.

    Parameters
    ----------
    likelihood : Likelihood
    options : dict
        Of the model; the active subset has its spike taken out.
    temperatures : sequence of float or None
    subset : bool
        Whether the active vectors are to be the only data.
    """
    if temperatures is not None:
        ladder = _check_temperatures(temperatures)
        _check_plain(f"temperatures={temperatures!r}", likelihood, options)
        if options["spike_variance"] is not None or subset:
            raise ValueError(
                f"temperatures={temperatures!r} cannot be combined with spike_variance or with "
                "large_n='active_subset'; leave one of them out."
            )
        return partial(TemperedSampler, temperatures=ladder)
    if subset:
        _check_plain("large_n='active_subset'", likelihood, options)
        spike = options["spike_variance"]
        options["spike_variance"] = None
        return partial(ActiveSubsetSampler, spike=_SUBSET_SPIKE if spike is None else spike)
    return DoublySparseSampler


def _check_plain(what: str, likelihood: Likelihood, options: dict[str, Any]) -> None:
    """Refuse all but Gaussian noise and selected vectors."""
    if "inner products suffice" not in likelihood.provides:
        raise ValueError(
            f"{what} is for Gaussian noise, not for the {likelihood.name} likelihood; use "
            "DoublySparseRegressor with noise='gaussian', or leave it at its default."
        )
    if not options["select_vectors"]:
        raise ValueError(f"{what} needs select_vectors=True.")


def _check_temperatures(temperatures: Any) -> tuple[float, ...]:
    try:
        ladder = tuple(check_positive("temperatures", value) for value in temperatures)
    except TypeError:
        ladder = ()
    rising = all(low < high for low, high in pairwise(ladder))
    if len(ladder) < 2 or ladder[0] != 1.0 or not rising:
        raise ValueError(
            "temperatures must be None or at least two rising numbers of which the first is 1, "
            f"such as (1, 1.5, 2.5, 5); got {temperatures!r}."
        )
    return ladder
