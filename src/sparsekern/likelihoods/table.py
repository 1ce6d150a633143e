"""One table of likelihoods by name, and who may use which.

An engine states what it ``REQUIRES``: sets of abilities, any one of which is enough. Whoever offers
a choice of likelihoods asks the table, and knows no name.
"""

from __future__ import annotations

from typing import Any

from .._checks import check_choice
from .gaussian import Gaussian
from .hinge import Hinge
from .laplace import Laplace
from .logit import Logit
from .multinomial_probit import MultinomialProbit
from .negative_binomial import NegativeBinomial
from .poisson import Poisson
from .probit import Probit
from .scaled_logit import ScaledLogit
from .student import StudentT

Requires = tuple[frozenset[str], ...]

TABLE: dict[str, Any] = {
    law.name: law
    for law in (
        Gaussian, StudentT, Laplace, Poisson, NegativeBinomial, Probit, Logit, Hinge, ScaledLogit,
        MultinomialProbit,
    )
}  # fmt: skip


def suits(law: Any, requires: Requires) -> bool:
    """Tell whether a likelihood provides one of the sets of abilities."""
    return any(abilities <= law.provides for abilities in requires)


def offered(supports: tuple[str, ...], requires: Requires) -> tuple[str, ...]:
    """Return the names of the likelihoods of such responses that an engine can use."""
    return tuple(
        name for name, law in TABLE.items() if law.support in supports and suits(law, requires)
    )


def weighing(**supports: str) -> str:
    """Return in words which laws can weigh rows; ``supports`` by the parameter that names a law."""
    abilities = (frozenset({"row weights"}), frozenset({"weighted form"}))
    return " or ".join(
        f"{parameter}={name!r}"
        for parameter, support in supports.items()
        for name in offered((support,), abilities)
    )


def lacking(law: Any, requires: Requires) -> str:
    """Return in words what a likelihood lacks, by the set that it comes closest to."""
    missing = min((abilities - law.provides for abilities in requires), key=len)
    return ", ".join(sorted(missing))


def find_law(
    parameter: str, value: Any, supports: tuple[str, ...], requires: Requires, engine: str
) -> Any:
    """Return the class of the likelihood that ``parameter`` names, or refuse it by a sentence.

    The sentence names what, with what, what is missing and what to use instead.
    """
    names = offered(supports, requires)
    law = TABLE.get(value) if isinstance(value, str) else None
    if law is None or value in names:
        return TABLE[check_choice(parameter, value, names)]
    if law.support in supports:
        reason = f"the likelihood lacks: {lacking(law, requires)}"
    else:
        reason = f"it is for {law.support}, not for {' or '.join(supports)}"
    raise ValueError(
        f"{parameter}={value!r} cannot be used with {engine}: {reason}; use "
        f"{' or '.join(f'{parameter}={name!r}' for name in names)}."
    )
