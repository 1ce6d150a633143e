"""Critical-difference diagrams: average ranks of classifiers, and which of them differ."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.axes import Axes

from ..diagnostics import ClassifierComparison
from .figure_parts import CLASS_COLOURS, POOLED_COLOUR, open_axes

# heights from the line of ranks, in rows of names: bars and names below it, the ruler above
_FIRST_BAR = 0.55
_BAR_STEP = 0.5
_RULER = 1.6
_TOP = 2.5
_MOST_TICKS = 12
_OVERHANG = 0.01  # of bars, as a share of the line of ranks: equal ranks have one too


def plot_critical_difference(comparison: ClassifierComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the average ranks of classifiers, the best on the left, and what their test tells apart.

    Where classifiers were compared with a control (Bonferroni-Dunn) a bar reaches one critical
    difference to either side of the control: those beyond it differ from the control and have a
    colour of their own. Where all pairs were compared (Nemenyi) each bar joins classifiers that do
    not differ, and the critical difference is shown above the line. A bar is cut off at the ends
    of the line, since there are no ranks beyond.

    Parameters
    ----------
    comparison : ClassifierComparison
        As :func:`sparsekern.diagnostics.compare_classifiers` returns it.
    ax : Axes, optional
        None: a new figure.

    Returns
    -------
    Axes
    """
    if not isinstance(comparison, ClassifierComparison):
        raise TypeError(
            "comparison must be what sparsekern.diagnostics.compare_classifiers returns, got "
            f"{type(comparison).__name__}."
        )
    n_classifiers = len(comparison.average_ranks)
    bars = _bars(comparison)
    first_name = _FIRST_BAR + _BAR_STEP * (1 + max((level for *_, level in bars), default=-1))
    depth = first_name + (n_classifiers + 1) // 2 - 0.5
    ax = open_axes(ax, 1, 1, figsize=(6.0, 0.4 + 0.26 * (_TOP + depth)))[0, 0]
    # with few data sets the critical difference is longer than the line of ranks
    right = max(n_classifiers, 1 + comparison.critical_difference)
    _draw_line_of_ranks(ax, n_classifiers, right, depth)
    for low, high, level in bars:
        ax.plot(
            [low, high], [-_FIRST_BAR - _BAR_STEP * level] * 2, color="black", linewidth=4,
            solid_capstyle="butt", clip_on=False, gid="bar",
        )  # fmt: skip
    for name, rank, row, side in _places(comparison):
        _draw_name(ax, name, rank, -first_name - row, side, _colour(comparison, name))
    _draw_critical_difference(ax, comparison)
    return ax


def _bars(comparison: ClassifierComparison) -> list[tuple[float, float, int]]:
    """Return from where to where the bars reach, and the level each is drawn on."""
    ranks = comparison.average_ranks
    if comparison.control is not None:
        middle, reach = ranks[comparison.control], comparison.critical_difference
        return [(max(1.0, middle - reach), min(float(len(ranks)), middle + reach), 0)]
    bars: list[tuple[float, float, int]] = []
    ends: list[float] = []  # where the last bar on each level ends
    overhang = _OVERHANG * (len(ranks) - 1)
    for clique in comparison.cliques:
        low, high = ranks[clique[0]] - overhang, ranks[clique[-1]] + overhang
        level = next((q for q, end in enumerate(ends) if end + overhang < low), len(ends))
        ends[level : level + 1] = [high]
        bars.append((low, high, level))
    return bars


def _places(comparison: ClassifierComparison) -> Iterator[tuple[str, float, int, int]]:
    """Yield name, rank, row and side (0: left) of each classifier.

    The better half stands on the left, the best on top; on the right the worst is on top, so that
    no two lines cross.
    """
    ordered = comparison.average_ranks.sort_values(kind="stable")
    left = (len(ordered) + 1) // 2
    for place, (name, rank) in enumerate(ordered.items()):
        side = int(place >= left)
        yield str(name), rank, len(ordered) - 1 - place if side else place, side


def _colour(comparison: ClassifierComparison, name: str) -> str:
    if comparison.control is None:
        return "black"
    if name == comparison.control:
        return CLASS_COLOURS[0]
    return CLASS_COLOURS[1] if comparison.different_from_control[name] else POOLED_COLOUR


def _draw_line_of_ranks(ax: Axes, n_classifiers: int, right: float, depth: float) -> None:
    """Make the upper spine the line of ranks, with room above it for the critical difference."""
    ax.set(xlim=(1, right), ylim=(-depth, _TOP), xlabel="Average rank")
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_position(("data", 0))
    ax.spines["top"].set_bounds(1, n_classifiers)
    ax.set_xticks(range(1, n_classifiers + 1, -(-n_classifiers // _MOST_TICKS)))
    ax.set_yticks([])
    ax.xaxis.set_ticks_position("top")


def _draw_name(ax: Axes, name: str, rank: float, height: float, side: int, colour: str) -> None:
    """Draw a marker at the rank, a line down and outwards from it, and the name at its end."""
    end = ax.get_xlim()[side]
    ax.plot(
        [rank, rank, end], [0, height, height], color=colour, linewidth=1, marker="o",
        markevery=[0], markersize=5, clip_on=False, gid="classifier",
    )  # fmt: skip
    ax.annotate(
        f"{name} ({rank:.2f})", (end, height), xytext=(5 if side else -5, 0),
        textcoords="offset points", ha="left" if side else "right", va="center", color=colour,
        annotation_clip=False,
    )  # fmt: skip


def _draw_critical_difference(ax: Axes, comparison: ClassifierComparison) -> None:
    """Draw a ruler as long as the critical difference, with the name of the test."""
    reach = comparison.critical_difference
    ax.plot(
        [1, 1 + reach], [_RULER, _RULER], color="black", linewidth=1.2, marker="|", markersize=8,
        clip_on=False, gid="critical difference",
    )  # fmt: skip
    ax.annotate(
        f"CD = {reach:.2f} ({comparison.test}, $\\alpha$ = {comparison.alpha:g})", (1, _RULER),
        xytext=(0, 5), textcoords="offset points", va="bottom", fontsize="small",
        annotation_clip=False,
    )  # fmt: skip
