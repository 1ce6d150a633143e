"""Which likelihood serves how many classes."""

from __future__ import annotations

from typing import Any

from ...likelihoods._contract import Likelihood
from ...likelihoods.table import TABLE, Requires, find_law, offered, suits

_COMPARABLE = frozenset({"probabilities"})


def choose_likelihood(
    name: Any, n_classes: int, requires: Requires, engine: str
) -> tuple[Likelihood, bool]:
    """Return the likelihood, and whether it stands for one-vs-rest models.

    ``requires`` is what the engine needs, ``engine`` the name of the estimator.
    """
    law = find_law("likelihood", name, ("labels",), requires, engine)
    if n_classes == 2:
        return law(), False
    several = TABLE.get(f"multinomial_{law.name}")
    if several is not None and suits(several, requires):
        return several(n_classes), False
    if not suits(law, (_COMPARABLE,)):
        comparable = tuple(need | _COMPARABLE for need in requires)
        others = " or ".join(repr(other) for other in offered(("labels",), comparable))
        raise ValueError(
            f"Only binary classification is supported with likelihood={law.name!r}. The type of "
            f"the target is multiclass, with {n_classes} classes; use likelihood={others}, "
            "or wrap the estimator in sklearn.multiclass.OneVsRestClassifier."
        )
    return law(), True
