"""Pairs of features that matter only together, with torch; see :mod:`..feature_search.pairs`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..feature_search.pairs import TIED, Block, new_products


def blocks_of_pairs(polynomials: Any, weighted: Any, count: int) -> Block:
    """Return the function that looks for the strongest pairs of a block of features."""

    def look(first: int, last: int) -> list[tuple[np.ndarray, np.ndarray]]:
        rows = polynomials[:, first:last] * weighted
        others = polynomials[:, first + 1 :]
        total = torch.zeros_like(others[0, :, 0]).repeat(last - first, 1)
        found = []
        for degree in range(len(polynomials)):
            for a, b in new_products(degree):
                total += (rows[a] @ others[b].T).square_()
            total[:, : last - first] = total[:, : last - first].triu()
            floor: Any = 0.0
            if len(total) >= count:
                floor = total.amax(dim=1).topk(count).values[-1]
            near = torch.nonzero((total >= floor - TIED).ravel()).ravel()
            found.append((near.cpu().numpy(), total.ravel()[near].cpu().numpy()))
        return found

    return look
