"""Which likelihood serves how many classes."""

from __future__ import annotations

from typing import Any

from ..._checks import check_choice
from ...likelihoods import Hinge, Logit, MultinomialProbit, Probit
from ...likelihoods._contract import Likelihood

_LIKELIHOODS: dict[str, type[Likelihood]] = {"probit": Probit, "logit": Logit, "hinge": Hinge}


def choose_likelihood(name: Any, n_classes: int) -> tuple[Likelihood, bool]:
    """Return the likelihood, and whether it stands for one-vs-rest models."""
    name = check_choice("likelihood", name, tuple(_LIKELIHOODS))
    if n_classes > 2 and name == "hinge":
        raise ValueError(
            "Only binary classification is supported with likelihood='hinge'. The type of the "
            f"target is multiclass, with {n_classes} classes; use likelihood='probit' or 'logit', "
            "or wrap the estimator in sklearn.multiclass.OneVsRestClassifier."
        )
    if n_classes > 2 and name == "probit":
        return MultinomialProbit(n_classes), False
    return _LIKELIHOODS[name](), n_classes > 2
