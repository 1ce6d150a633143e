"""How long chains run: a number of draws, or until there are enough."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from .group import Settings, check_group, is_default
from .limits import check_count


@dataclass(frozen=True, kw_only=True)
class UntilConverged(Settings):
    """Sampling goes on until R-hat and effective sample sizes say that there are enough draws.

    Chains run in rounds of growing length, the first of 500 draws, and are judged after each. At
    most 1000 draws of a chain are kept, evenly spread over its way; where the first half of them
    shows that tuning was too short, it is left out.

    Parameters
    ----------
    max_draws : int or None, default=None
        Most draws of a chain, those that are not kept included; each takes ``thin`` sweeps. None:
        10,000, and 50,000 for ``GKMClassifier`` and ``SparseGPClassifier``, whose sweeps take
        little time.
    max_seconds : float or None, default=None
        Ends sampling after this time, once each chain has 100 draws. What a fit returns then
        depends on the speed of the machine.
    r_hat : float, default=1.01
        Largest R-hat that will do. Judged are the log-likelihood, predictions at some training
        rows, the numbers of active vectors and features, and length scales.
    ess : float, default=400
        Smallest effective sample size that will do, in the bulk and in the tails, over all chains.
        For a number of vectors or features, a Monte-Carlo error of .05 will do as well.
    """

    stands_for_defaults: ClassVar[str | None] = "auto"

    max_draws: int | None = None
    max_seconds: float | None = None
    r_hat: float = 1.01
    ess: float = 400.0

    def __post_init__(self) -> None:
        """Refuse limits that no chain can meet."""
        if self.max_draws is not None:
            self._check_counts("max_draws")
        if self.max_seconds is not None:
            self._check_positive("max_seconds")
        self._check_positive("r_hat", "ess")
        if not self.r_hat > 1:
            raise ValueError(f"{self._spoken('r_hat')} must be larger than 1, got {self.r_hat!r}.")


def resolve_draws(draws: Any) -> int | UntilConverged:
    """Return the number of draws, or what tells when there are enough."""
    if is_default(draws, UntilConverged) or isinstance(draws, Settings):
        return check_group("draws", draws, UntilConverged)
    if isinstance(draws, Integral) and not isinstance(draws, bool):
        return check_count("draws", draws)
    kind = ValueError if isinstance(draws, str) else TypeError
    raise kind(
        "draws must be a whole number, 'auto' or a sparsekern.settings.UntilConverged, got "
        f"{draws!r} of type {type(draws).__name__}."
    )
