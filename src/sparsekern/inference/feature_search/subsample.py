r"""Rows that stand for very many: a subset of data spread over the values of the response.

Targets on a grid over y, and for each in turn the rows not yet taken whose responses are nearest.
A grid of equal steps in y ("value") has more extreme responses than a random subset, which shows
effects better; "winsorized" does so between the .1 and 99.9 % quantiles, beyond which responses
count as equal, so that a few outliers do not stretch the grid; one of equal probabilities
("probability") is safe against many. The noise of a
subset chosen by y is biased: its parameters are for finding features, never for prediction.
"""

from __future__ import annotations

import numpy as np

_TAILS = (0.001, 0.999)


def spread_over_response(
    response: np.ndarray, targets: int, each: int = 1, grid: str = "value"
) -> np.ndarray:
    """Return ``min(targets * each, n)`` rows, sorted.

    Parameters
    ----------
    response : ndarray of shape (n,)
    targets : int
        Points of the grid.
    each : int
        Rows for each point.
    grid : {"value", "winsorized", "probability"}
    """
    n = len(response)
    if targets * each >= n:
        return np.arange(n)
    if grid == "winsorized":
        response = np.clip(response, *np.quantile(response, _TAILS))
    order = np.lexsort((np.arange(n), response))
    values = response[order]
    if grid != "probability":
        points = np.linspace(values[0], values[-1], targets)
    else:
        points = np.quantile(values, np.linspace(0.0, 1.0, targets))
    up, down = np.arange(n + 1), np.arange(n + 1)  # see _free; n above and 0 below: none is left
    taken = []
    for point in points:
        middle = int(np.searchsorted(values, point))
        for _ in range(each):
            right, left = _free(up, middle), _free(down, middle) - 1
            if left >= 0:  # of equal responses the first row
                left = _free(up, int(np.searchsorted(values, values[left])))
            if right == n or left < 0:
                chosen = left if right == n else right
            else:
                further = (values[right] - point) - (point - values[left])
                chosen = left if (further, order[right] > order[left]) > (0.0, False) else right
            taken.append(chosen)
            up[chosen] = chosen + 1
            down[chosen + 1] = chosen
    return np.sort(order[taken])


def spread_over_classes(labels: np.ndarray, count: int, least: float) -> np.ndarray:
    """Return ``count`` rows, sorted, the first ones of each class.

    Classes keep their shares, but a class rarer than ``least`` keeps up to that share of the rows.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    count : int
        Fewer than n.
    least : float
        At most 1 / number of classes.
    """
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    wanted = count * sizes / len(labels)
    floor = np.minimum(sizes, np.ceil(least * count))
    rare = wanted < floor
    if rare.any():  # what they gain the others lose in proportion
        others = count - floor[rare].sum()
        wanted = np.where(rare, floor, others * sizes / sizes[~rare].sum())
    take = np.floor(wanted).astype(np.int64)
    for place in np.argsort(take - wanted, kind="stable")[: count - take.sum()]:
        take[place] += 1
    chosen = [np.flatnonzero(codes == place)[:size] for place, size in enumerate(take)]
    return np.sort(np.concatenate(chosen))


def _free(table: np.ndarray, place: int) -> int:
    """Follow a table of pointers to the place that points at itself, and shorten the way.

    ``up[i]`` leads to the first free place from i on; ``down[i]`` to one more than the last free
    place before i.
    """
    root = place
    while table[root] != root:
        root = int(table[root])
    while place != root:
        table[place], place = root, int(table[place])
    return root


def spread_rows(response: np.ndarray, count: int, chance: np.random.RandomState) -> np.ndarray:
    """Return ``count`` rows, sorted, spread evenly over the order of their responses.

    Classes keep their shares, real responses their quantiles; which row stands for its stretch is
    left to chance.
    """
    order = np.lexsort((chance.permutation(len(response)), response))
    edges = np.linspace(0, len(order), count + 1).astype(np.intp)
    return np.sort(order[chance.randint(edges[:-1], edges[1:])])
