"""One multinomial model with one kernel: from training rows to functions and left-out loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...kernels.resolve import Kernel
from .classification import Candidates, Method, open_columns
from .multinomial import fit_multiclass
from .multinomial_expansion import MultinomialExpansion, leave_one_out, mean_softmax


@dataclass(frozen=True)
class FittedMultinomial:
    """One model of several classes."""

    expansion: MultinomialExpansion
    left_out: np.ndarray  # probabilities of all classes at each row, the row left out
    log_left_out: np.ndarray  # logarithm of that of the row's own class
    evidence: float
    path: np.ndarray
    converged: bool

    @property
    def rows(self) -> np.ndarray:
        """Training rows of the columns."""
        return self.expansion.rows

    @property
    def n_columns(self) -> int:
        """Columns whose precisions were chosen."""
        return int((self.expansion.place >= 0).sum())

    def probability(self, features: np.ndarray) -> np.ndarray:
        """Return the probability of every class."""
        return mean_softmax(*self.expansion.moments(features))

    def log_density(self, features: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the log probability of the classes of new rows."""
        own = self.probability(features)[np.arange(len(codes)), codes.astype(np.intp)]
        return np.log(np.maximum(own, np.finfo(np.float64).tiny))


def fit_multinomial(
    kernel: Kernel,
    features: np.ndarray,
    codes: np.ndarray,
    candidates: Candidates,
    method: Method,
    report: Callable[[], None] | None = None,
) -> FittedMultinomial:
    """Fit one model; ``codes`` are the classes 0, 1, .. of the rows."""
    rows = candidates.rows
    codes = codes.astype(np.int64)
    n_classes = int(codes.max()) + 1
    columns = open_columns(kernel, features, rows, np.ones(len(rows)), method.single)
    fitted = fit_multiclass(
        columns,
        codes,
        codes[rows],
        n_classes,
        signed=method.signed,
        rule=method.rule,
        min_gain=method.min_gain,
        bias_precision=method.bias_precision,
        # without a limit of its own every row may be active in every class
        max_active=method.max_active * (n_classes if method.max_active == len(rows) else 1),
        max_steps=method.max_steps,
        report=report,
    )
    state = fitted.state
    machine, size = state.machine, state.size
    members = machine.members[:size].copy()
    inner = members >= 0
    used, place = np.unique(rows[members[inner]], return_inverse=True)
    places = np.full(size, -1)
    places[inner] = place
    owner = [np.empty(0, np.int64)] * len(codes)
    for row in used:
        mine = np.flatnonzero(inner & (np.where(inner, rows[members], -1) == row))
        if not candidates.repeated[members[mine[0]]]:
            owner[row] = mine
    signs = np.ones(size)
    if method.signed:
        signs[inner] = np.where(codes[rows[members[inner]]] == state.of_class[:size][inner], 1, -1)
    expansion = MultinomialExpansion(
        kernel=kernel,
        rows=used,
        vectors=np.empty((len(used), 0)) if kernel.precomputed else features[used].copy(),
        place=places,
        signs=signs,
        of_class=state.of_class[:size].copy(),
        mean=machine.mean[:size].copy(),
        inverse=np.tril(machine.inverse[:size, :size]),
    )
    left_out = leave_one_out(state, owner)
    own = left_out[np.arange(len(codes)), codes]
    return FittedMultinomial(
        expansion=expansion,
        left_out=left_out,
        log_left_out=np.log(np.maximum(own, np.finfo(np.float64).tiny)),
        evidence=float(machine.evidence[0]),
        path=fitted.path,
        converged=fitted.converged,
    )
