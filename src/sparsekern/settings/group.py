"""Parameters of an estimator that belong together, such as its priors: small frozen groups.

A constructor takes a group, or None (``"auto"`` for ``draws``) for its defaults. scikit-learn
reaches what is inside by two underscores: ``set_params(priors__scale=(2, 0.1))``, or
``"moves__active_set"`` in a grid search.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from .._checks import check_choice, check_flag, check_pair, check_positive, check_share
from .limits import IN_A_SWEEP, check_count

SHAPE_RATE = "(shape, rate)"
_MOVES_TIMES_ROWS = 2 * 10**7  # in one sweep; a rough guard, not a promise of seconds


def in_a_sweep(default: Any, most: int, lowest: int = 1) -> Any:
    """Return the field of a number of moves or scans that every sweep makes."""
    return field(default=default, metadata={"most": most, "lowest": lowest})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of the groups: a value that cannot be is refused when a group is made."""

    stands_for_defaults: ClassVar[str | None] = None  # what a constructor takes instead

    def __post_init__(self) -> None:
        """Check every value; subclasses add what goes beyond numbers of moves."""
        for part in fields(self):
            value = getattr(self, part.name)
            if "most" in part.metadata and value is not None:
                bounds = part.metadata["lowest"], part.metadata["most"]
                self._keep(
                    part.name, check_count(self._spoken(part.name), value, *bounds, IN_A_SWEEP)
                )

    def _spoken(self, name: str) -> str:
        return f"{type(self).__name__}.{name}"

    def _keep(self, name: str, value: Any) -> None:
        """Keep a value as it was checked: as plain numbers and tuples, which nobody can change."""
        object.__setattr__(self, name, value)

    def _check_pairs(self, *names: str, meaning: str = SHAPE_RATE) -> None:
        for name in names:
            given = getattr(self, name)
            ordered = given if isinstance(given, (tuple, list, np.ndarray)) else None
            if ordered is None:
                raise ValueError(f"{self._spoken(name)} must be a pair {meaning}, got {given!r}.")
            self._keep(name, check_pair(self._spoken(name), ordered, meaning))

    def _check_positive(self, *names: str) -> None:
        for name in names:
            self._keep(name, check_positive(self._spoken(name), getattr(self, name)))

    def _check_shares(self, *names: str) -> None:
        for name in names:
            self._keep(name, check_share(self._spoken(name), getattr(self, name)))

    def _check_flags(self, *names: str) -> None:
        for name in names:
            self._keep(name, check_flag(self._spoken(name), getattr(self, name)))

    def _check_counts(self, *names: str, lowest: int = 1, most: int | None = None, why: str = ""):
        for name in names:
            spoken, value = self._spoken(name), getattr(self, name)
            self._keep(name, check_count(spoken, value, lowest, most, why))

    def _check_choice(self, name: str, *choices: Any) -> None:
        self._keep(name, check_choice(self._spoken(name), getattr(self, name), choices))

    def _check_degrees_of_freedom(self) -> None:
        value = self.degrees_of_freedom  # type: ignore[attr-defined]
        name = self._spoken("degrees_of_freedom")
        if isinstance(value, str):
            self._check_choice("degrees_of_freedom", "learned")
        elif isinstance(value, (tuple, list, np.ndarray)) and np.ndim(value) == 1 and len(value):
            self._keep("degrees_of_freedom", tuple(check_positive(name, v) for v in value))
        elif isinstance(value, Real):
            self._check_positive("degrees_of_freedom")
        else:
            raise ValueError(
                f"{name} must be a positive number, some of them or 'learned', got {value!r}."
            )

    def check_moves(self, n_rows: int) -> None:
        """Refuse a sweep of very many moves; each looks at every row.

        Ctrl-C does not wait for a sweep, but draws, checkpoints and the end of the process do.
        """
        most = max(100, _MOVES_TIMES_ROWS // max(1, n_rows))
        for part in fields(self):
            value = getattr(self, part.name)
            if "most" in part.metadata and value is not None and value > most:
                raise ValueError(
                    f"{self._spoken(part.name)} must be at most {most} with {n_rows} rows, got "
                    f"{value!r}: {IN_A_SWEEP}."
                )

    # what scikit-learn asks of whatever is inside an estimator

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the values by name.

        Parameters
        ----------
        deep : bool, default=True
            Nothing is deeper.

        Returns
        -------
        dict
        """
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __sklearn_clone__(self) -> Self:
        return self  # nothing in it can be changed


def is_default(given: Any, kind: type[Settings]) -> bool:
    """Tell whether a parameter stands for the defaults of its group."""
    word = kind.stands_for_defaults
    return given is None if word is None else isinstance(given, str) and given == word


def check_group(name: str, given: Any, kind: type[Settings]) -> Any:
    """Return a group of parameters: the one given, or that of the defaults."""
    if is_default(given, kind):
        return kind()
    if type(given) is not kind:  # a group with more in it would be half ignored
        word = kind.stands_for_defaults
        whole = "" if word is None else f"{name}={word!r}, "
        raise TypeError(
            f"{name} must be a sparsekern.settings.{kind.__name__} or {word!r}, got {given!r} of "
            f"type {type(given).__name__}. Write {name}={kind.__name__}(...), or change single "
            f"values by set_params({whole}{name}__{fields(kind)[0].name}=...)."
        )
    return given


def change_group(name: str, group: Settings, changes: dict[str, Any]) -> Settings:
    """Return the group with some values changed."""
    known = sorted(group.get_params())
    unknown = sorted(set(changes) - set(known))
    if unknown:
        raise ValueError(
            f"Invalid parameter {unknown[0]!r} of {name}, a {type(group).__name__}. Valid "
            f"parameters are: {known!r}."
        )
    return replace(group, **changes)
