"""What engines ask of a basis: names found by the type of its NamedTuple."""

from __future__ import annotations

from .._dispatch import generic
from .._dispatch import register as register

# (basis, factor, length_scale, row, column): log Bayes factor of adding training row ``row``, whose
# columns are left behind the last ones of the factor; ``column`` is scratch memory
value_newcomer = generic("value_newcomer")

# (basis, factor, sums): log evidence of the active rows of the factor, whose kernel sums are given;
# the whole factor is made anew for it
load_from_sums = generic("load_from_sums")

# (basis, rng, factor, spare, sums, evidence, ratio): load a proposal with the same active rows into
# the spare factor; return its log evidence and the log of the probability to take it, above zero
# included, where ``evidence`` is that of ``factor`` and ``ratio`` that of priors and proposals
judge_proposal = generic("judge_proposal")
