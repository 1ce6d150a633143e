"""Moves and scans per sweep: effective samples per second against the default.

Every setting samples the same posteriors (500 rows, at most 100 active vectors) with 4
chains on one thread; the settings take turns, and each gets the same processor time for kept
draws. The figures are effective samples per second relative to the default (10 active-set moves, 3
latent scans, 30 moves inside a joint move): of the
log-likelihood, of five predicted probabilities (geometric mean) and of the slowest of these six.
`R-hat` is the worst of them. The rows of `all` are geometric means over the data sets.
"""

from __future__ import annotations

import itertools

import numpy as np
from measuring import effective_samples, geometric_mean, r_hats
from our_sampler import OurChains, make_sampler
from problems import GENERATORS, generate
from tables import Row

DEFAULT = (10, 3, 30)
# active-set moves, latent scans, moves inside a joint move (0: no joint move)
SETTINGS = [
    DEFAULT, (5, 3, 30), (20, 3, 30), (10, 1, 30), (10, 6, 30), (10, 3, 0), (20, 3, 0), (10, 3, 15),
    (10, 3, 60),
]  # fmt: skip
_CHAINS = 4
_SLICES = 10
_COLUMNS = ("log-likelihood", "probabilities", "slowest")
Setting = tuple[int, int, int]


def _named(setting: Setting) -> Row:
    return dict(zip(("moves", "scans", "joint moves"), setting, strict=True))


def _rates(chains: OurChains) -> tuple[dict[str, float], float]:
    """Return effective samples per second by kind, and the worst R-hat."""
    series = chains.series()
    rates = {name: ess / chains.seconds for name, ess in effective_samples(series).items()}
    likelihood, *probabilities = rates.values()
    values = (likelihood, geometric_mean(probabilities), min(rates.values()))
    return dict(zip(_COLUMNS, values, strict=True)), max(r_hats(series).values())


def _open(features: np.ndarray, side: np.ndarray, setting: Setting, tune: int, budget: float):
    """Return tuned chains whose plan takes about ``budget`` processor seconds."""
    sampler = make_sampler(
        features, side, moves=setting[0], scans=setting[1], joint_moves=setting[2]
    )
    trial = OurChains(sampler, tune, 100, _CHAINS, seed=2)
    for number in range(_CHAINS):
        trial.run(number, 100)
    draws = int(budget / (trial.seconds / 100)) // _SLICES * _SLICES
    return OurChains(sampler, tune, max(draws, 10 * _SLICES), _CHAINS, seed=2)


def _compare(name: str, settings: list[Setting], n_rows: int, tune: int, budget: float):
    data = generate(name, n_rows)
    runs = {setting: _open(*data, setting, tune, budget) for setting in settings}
    for _ in range(_SLICES):
        for number, chains in itertools.product(range(_CHAINS), runs.values()):
            chains.run(number, chains.plan.draws // _SLICES)
    found = {setting: _rates(chains) for setting, chains in runs.items()}
    default = found[DEFAULT][0]
    rows: list[Row] = []
    for setting, (rates, r_hat) in found.items():
        relative = {column: rates[column] / default[column] for column in _COLUMNS}
        rows.append({"data": name, **_named(setting), **relative, "R-hat": r_hat})
    return rows


def measure(quick: bool, sets: tuple[str, ...] = tuple(GENERATORS)) -> list[Row]:
    if quick:
        return _compare(sets[0], SETTINGS[:2], n_rows=100, tune=100, budget=1.0)
    rows: list[Row] = []
    for name in sets:
        rows += _compare(name, SETTINGS, n_rows=500, tune=1000, budget=15.0)
    single = list(rows)
    for setting in SETTINGS:
        same = [row for row in single if _named(setting).items() <= row.items()]
        means: Row = {column: geometric_mean(row[column] for row in same) for column in _COLUMNS}
        worst = max(row["R-hat"] for row in same)
        rows.append({"data": "all", **_named(setting), **means, "R-hat": worst})
    return rows
