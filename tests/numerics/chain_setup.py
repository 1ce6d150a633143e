"""Set up the compiled pieces by hand, and recompile them with a deliberate mistake."""

import types

import numba
import numpy as np

from sparsekern.bases.kernel_columns import KernelColumns, rebuild
from sparsekern.inference.generalized_kernel.sweep import (
    ChainState,
    Draws,
    Settings,
    open_workspace,
)
from sparsekern.kernels.evaluate import RBF, TABLE
from sparsekern.likelihoods.probit import ProbitData
from sparsekern.linalg.whitened_factor import empty_factor
from sparsekern.priors.model_size import beta_binomial_log_weights

NO_CANDIDATES = np.zeros((0, 0), np.int64)


def rbf_basis(features, jitter):
    n = len(features)
    empty = np.zeros((1, 0, n)), np.zeros(0, np.int64)
    columns = np.ascontiguousarray(features.T)
    return KernelColumns(
        columns, np.array([RBF]), np.ones(1), np.ones((1, n)), *empty, np.array([jitter])
    )


def table_basis(kernel, jitter):
    """Return a basis that reads the same columns from a table."""
    n = len(kernel)
    table = np.ascontiguousarray(kernel)[None]
    diagonal = np.diag(kernel)[None].copy()
    return KernelColumns(
        np.zeros((1, n)), np.array([TABLE]), np.ones(1), diagonal, table, np.arange(n),
        np.array([jitter]),
    )  # fmt: skip


def factor_at(basis, length_scale, rows, response, g, eta, largest, precision=None):
    """Return a whitened factor of the given active rows, built from scratch."""
    response = np.atleast_2d(np.asarray(response, dtype=float)).copy()
    factor = empty_factor(response.shape[1], largest, len(response))
    factor.response[:] = response
    factor.variances[:] = 1.0 / eta, 1.0 / g
    if precision is not None:
        factor.precision[:] = precision
    factor.n_active[0] = len(rows)
    factor.rows[: len(rows)] = rows
    rebuild(factor, basis, np.atleast_2d(np.asarray(length_scale, dtype=float)))
    return factor


def open_chain(basis, side, largest, rows, g, eta, length_scale, mode=0, **options):
    """Return (state, workspace, settings, draws) of a chain that has done no sweep."""
    p, n = basis.columns.shape
    sweeps = options.get("sweeps", 1)
    kept = options.get("kept", sweeps)
    state = ChainState(
        sweep=np.zeros(1, np.int64),
        n_active=np.array([len(rows)]),
        rows=np.zeros(largest + 1, np.int64),
        response=(0.8 * np.asarray(side, dtype=float))[None].copy(),
        precision=np.ones(n),
        noise=np.array([0.0, 0.0, 1.0, 0.0, 0.0]),
        parameters=np.zeros(0),
        variances=np.array([1.0 / eta, 1.0 / g]),
        length_scale=np.broadcast_to(np.asarray(length_scale, dtype=float), (1, p)).copy(),
        slice_width=np.array([1.0, 1.0, 0.3, 1.0]),
        log_step=np.array([options.get("log_step", -1.0)]),
        sites=np.vstack([np.linspace(-1.0, 1.0, n), np.linspace(0.2, 0.6, n)]),
        site_sums=np.zeros((3, n)),
        site_counts=np.array([0, 1]),
        tallies=np.zeros((7, 2), np.int64),
        function=np.zeros(0),
    )
    state.rows[: len(rows)] = rows
    monitored = np.asarray(options.get("monitored", []), dtype=np.int64)
    box = np.tile(np.asarray(options.get("box", (0.1, 10.0)), dtype=float), (1, p, 1))
    settings = Settings(
        log_weights=beta_binomial_log_weights(n, largest, options.get("shapes", (1.0, 1.0))),
        candidates=np.arange(n),
        box=box,
        monitored_rows=monitored,
        moves=options.get("moves", 3),
        blocks=options.get("blocks", 1),
        scans=options.get("scans", 2),
        directions=np.arange(3),
        function_moves=True,
        joint_moves=options.get("joint_moves", 4),
        width_mode=mode,
    )
    draws = Draws(
        n_active=np.zeros(kept, np.int32),
        rows=np.zeros((kept, largest), np.int32),
        coefficients=np.zeros((kept, 1, largest)),
        intercept=np.zeros((kept, 1)),
        variances=np.zeros((kept, 2)),
        length_scale=np.zeros((kept, 1 if mode else 0, p)),
        noise_variance=np.zeros(kept),
        parameters=np.zeros((kept, 0)),
        log_likelihood=np.zeros(kept),
        monitored=np.zeros((kept, len(monitored))),
        means=np.zeros((kept, 1, 0)),
        packed=np.zeros((kept, 0)),
        size_trace=np.zeros(sweeps, np.int32),
    )
    data = ProbitData(np.asarray(side, dtype=float).copy())
    return state, open_workspace(state, settings, data), settings, draws


def recompiled(function, **replacements):
    """Compile a compiled function again with some of the names it uses replaced.

    This is how a test shows that it would notice a mistake: the same code, one piece wrong.
    Nothing is cached on disk.
    """
    source = function.py_func
    missing = set(replacements) - set(source.__globals__)
    assert not missing, f"{source.__name__} does not use {missing}"
    altered = types.FunctionType(
        source.__code__, {**source.__globals__, **replacements}, source.__name__
    )
    return numba.njit(error_model="numpy")(altered)
