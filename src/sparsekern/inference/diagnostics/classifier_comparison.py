"""What a comparison of classifiers by ranks has found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierComparison:
    """Average ranks of classifiers, tests that they are alike, and which of them differ.

    Printed it is a readable table. Read :attr:`different_from_control` where there is a control,
    :attr:`different_pairs` and :attr:`cliques` where all pairs were compared.

    Attributes
    ----------
    average_ranks : Series
        By classifier, in the order given; 1 is best.
    n_data_sets : int
    friedman_statistic, friedman_pvalue : float
    iman_davenport_statistic, iman_davenport_pvalue : float
        Infinite, with the exact p-value, where all data sets order the classifiers alike.
    test : {"Bonferroni-Dunn", "Nemenyi"}
        Which differences the critical difference judges: those from a control, or all pairs.
    alpha : float
        Level of the test.
    critical_difference : float
        Average ranks that differ by so much or more are different.
    control : str or None
    """

    average_ranks: pd.Series
    n_data_sets: int
    friedman_statistic: float
    friedman_pvalue: float
    iman_davenport_statistic: float
    iman_davenport_pvalue: float
    test: str
    alpha: float
    critical_difference: float
    control: str | None

    @property
    def different_from_control(self) -> pd.Series:
        """Return, for every classifier but the control, whether it differs from the control."""
        if self.control is None:
            raise ValueError(
                "different_from_control needs a control: use compare_classifiers(..., "
                "control=name), or different_pairs."
            )
        others = self.average_ranks.drop(self.control)
        distance = (others - self.average_ranks[self.control]).abs()
        return (distance >= self.critical_difference).rename(f"differs from {self.control}")

    @property
    def different_pairs(self) -> pd.DataFrame:
        """Return, for every pair of classifiers, whether the two differ."""
        self._need_all_pairs("different_pairs")
        ranks = self.average_ranks.to_numpy()
        differ = np.abs(ranks[:, None] - ranks) >= self.critical_difference
        return pd.DataFrame(differ, self.average_ranks.index, self.average_ranks.index.rename(None))

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """Return the largest groups of two or more classifiers of which no two differ.

        Groups and their members are ordered by rank; a classifier may be in several groups.
        """
        self._need_all_pairs("cliques")
        ordered = self.average_ranks.sort_values(kind="stable")
        ranks, names = ordered.to_numpy(), list(ordered.index)
        found: list[tuple[str, ...]] = []
        reached = 0
        for first in range(len(ranks)):
            last = first
            while last + 1 < len(ranks) and ranks[last + 1] - ranks[first] < (
                self.critical_difference
            ):
                last += 1
            if last > max(first, reached):  # otherwise a part of the group before
                found.append(tuple(names[first : last + 1]))
                reached = last
        return tuple(found)

    def _need_all_pairs(self, attribute: str) -> None:
        if self.control is not None:
            raise ValueError(
                f"{attribute} needs a comparison of all pairs: use compare_classifiers(..., "
                "control=None), or different_from_control."
            )

    def __repr__(self) -> str:
        j, sets = len(self.average_ranks), self.n_data_sets
        ordered = self.average_ranks.sort_values(kind="stable")
        width = max(len(name) for name in ordered.index)
        lines = [f"Average ranks of {j} classifiers on {sets} data sets (1 is best):"]
        lines += [f"  {name:<{width}}  {rank:.2f}" for name, rank in ordered.items()]
        lines += [
            f"Friedman chi-square {self.friedman_statistic:.4g} ({j - 1} degrees of freedom), "
            f"p = {self.friedman_pvalue:.2g}",
            f"Iman-Davenport F {self.iman_davenport_statistic:.4g} ({j - 1} and "
            f"{(j - 1) * (sets - 1)} degrees of freedom), p = {self.iman_davenport_pvalue:.2g}",
            f"{self.test} critical difference {self.critical_difference:.4g} "
            f"(alpha = {self.alpha:g})",
            f"  {self._verdict()}",
        ]
        return "\n".join(lines)

    def _verdict(self) -> str:
        """Return in words which classifiers differ."""
        if self.iman_davenport_pvalue >= self.alpha:
            return "not to be read: the Iman-Davenport test does not reject that all are alike"
        if self.control is not None:
            differ = self.different_from_control
            named = ", ".join(differ.index[differ]) or "none"
            return f"different from {self.control}: {named}"
        groups = "; ".join(", ".join(group) for group in self.cliques) or "none"
        return f"not told apart: {groups}"
