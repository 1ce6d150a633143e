"""What engines ask of a basis: names found by the type of its NamedTuple."""

from __future__ import annotations

from .._dispatch import generic
from .._dispatch import register as register

# (basis, factor, length_scale, row, column): log Bayes factor of adding training row ``row``, whose
# columns are left behind the last ones of the factor; ``column`` is scratch memory
value_newcomer = generic("value_newcomer")
