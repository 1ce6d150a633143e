"""Posteriors as xarray data by the conventions of ArviZ.

Groups: ``posterior`` (unknowns of the model), ``sample_stats`` (the log-likelihood and sizes of
each draw, acceptance rates of each chain), ``log_likelihood`` and ``observed_data`` (both of ``y``,
by row), ``sparse_coefficients`` and the like (draws of changing size, padded), on request
``posterior_predictive`` (of the training rows) or ``predictions`` (of others).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import __version__
from .chain_record import ChainRecord

STATISTICS = ("log_likelihood", "n_active", "n_features", "n_included")  # of a draw, no unknowns


@dataclass
class TreeParts:
    """Variables by group, their dimensions after (chain, draw), and coordinates."""

    groups: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    dims: dict[str, list[str]] = field(default_factory=dict)
    coords: dict[str, Any] = field(default_factory=dict)

    def add(self, group: str, name: str, values: np.ndarray, *dims: str) -> None:
        """Add a variable of shape (chains, draws, ..)."""
        self.groups.setdefault(group, {})[name] = values
        self.dims[name] = list(dims)

    def add_scalars(self, scalars: dict[str, np.ndarray]) -> None:
        """Add what has no index, each in the group where ArviZ looks for it."""
        for name, values in scalars.items():
            if "[" not in name:
                self.add("sample_stats" if name in STATISTICS else "posterior", name, values)


def attributes(record: ChainRecord) -> dict[str, Any]:
    """Return what ArviZ keeps about where draws come from."""
    return {
        "inference_library": "sparsekern",
        "inference_library_version": __version__,
        "tuning_steps": record.tune,
        "thinning": record.thin,
    }


def make_datasets(parts: TreeParts, record: ChainRecord) -> dict[str, Any]:
    """Return a dataset for each group, acceptance rates among the statistics."""
    import xarray as xr
    from arviz_base import from_dict  # heavy: only when asked for

    kept = dict.fromkeys(parts.groups, attributes(record))
    tree = from_dict(parts.groups, coords=parts.coords, dims=parts.dims, attrs=kept)
    datasets = {name: group.to_dataset() for name, group in tree.children.items()}
    moves, rates = record.rates_by_chain()
    if moves:
        rate = xr.DataArray(rates, dims=("chain", "move"), coords={"move": moves})
        datasets["sample_stats"]["acceptance_rate"] = rate
    return datasets


def make_rowwise(
    groups: dict[str, np.ndarray], rows: np.ndarray, record: ChainRecord
) -> dict[str, Any]:
    """Return a dataset with the variable ``y`` for each group, its last dimension the rows."""
    from arviz_base import from_dict

    kept = dict.fromkeys(groups, attributes(record))
    named: dict[str, Any] = {"dims": {"y": ["row"]}, "coords": {"row": rows}}
    named |= {f"pred_{name}": value for name, value in named.items()}
    values = {group: {"y": y} for group, y in groups.items()}
    tree = from_dict(values, attrs=kept, **named)
    return {name: group.to_dataset() for name, group in tree.children.items()}
