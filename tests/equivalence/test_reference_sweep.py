"""The compiled sampler and the paper's sweep in plain NumPy sample the same posterior.

They share no line of code and hardly a move: the reference has one active-set move and one scan,
draws the scales given the coefficients and factors dense matrices.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from arviz_stats.base import array_stats
from threadpoolctl import threadpool_limits

from sparsekern import GKMClassifier
from sparsekern.datasets import make_ripley
from sparsekern.settings import GKMPriors

_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reference_sweep.py"
_SCALE_PRIOR, _INTERCEPT_PRIOR, _JITTER = (1.0, 1.0), (0.5, 0.05), 1e-8  # lets 30 rows speak
_LENGTH_SCALE = 0.5
_CHAINS = 4


def _load_reference():
    spec = importlib.util.spec_from_file_location("reference_sweep", _SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _load_reference()


def _compiled_series(features, labels, max_active, draws):
    model = GKMClassifier(
        length_scale=_LENGTH_SCALE, standardize=False,
        priors=GKMPriors(
            max_active=max_active, jitter=_JITTER, scale=_SCALE_PRIOR, intercept=_INTERCEPT_PRIOR
        ),
        draws=draws, tune=1000,
        chains=_CHAINS, progress=False, random_state=3,
    )  # fmt: skip
    model.fit(features, labels)
    posterior = model.posterior_["posterior"]
    rows = posterior["monitored_row"].to_numpy()
    probabilities = posterior["probability"].to_numpy()
    stats = model.posterior_["sample_stats"]
    series = {"k": stats["n_active"].to_numpy(), "log g": np.log(posterior["scale"].to_numpy())}
    series["log-likelihood"] = stats["log_likelihood"].to_numpy()
    return series | {f"p[{row}]": probabilities[..., q] for q, row in enumerate(rows)}, rows


def _reference_series(features, labels, max_active, sweeps, rows, scale_prior=_SCALE_PRIOR):
    square = ((features[:, None] - features[None]) ** 2).sum(axis=-1)
    model = reference.ReferenceModel(
        np.exp(-0.5 * square / _LENGTH_SCALE**2), labels.astype(float), max_active,
        scale_prior, _INTERCEPT_PRIOR, jitter=_JITTER,
    )  # fmt: skip
    traces = []
    for number in range(_CHAINS):
        rng = np.random.default_rng([5, number])
        start = rng.permutation(len(labels))[: 2 * number]
        chain = reference.ReferenceChain(model, rng, start, 0.8 * labels, g=0.5, eta=1.0)
        trace = reference.ReferenceTrace(chain, rows)
        trace.run(sweeps // 5, keep=False)
        trace.run(sweeps)
        traces.append(trace)
    monitored = np.array([trace.monitored for trace in traces])
    series = {
        "k": np.array([trace.size for trace in traces], dtype=float),
        "log g": np.log([trace.scale for trace in traces]),
        "log-likelihood": np.array([trace.log_likelihood for trace in traces]),
    }
    return series | {f"p[{row}]": monitored[..., q] for q, row in enumerate(rows)}


def _differences(left, right):
    """Return the differences of the means in Monte-Carlo standard errors."""
    found = {}
    for name, values in left.items():
        error = np.hypot(*(array_stats.mcse(x, method="mean") for x in (values, right[name])))
        found[name] = float((values.mean() - right[name].mean()) / error)
    return found


def _compare(n_rows, max_active, draws, sweeps, **changed):
    features, labels = make_ripley(n_rows, random_state=0)
    with threadpool_limits(limits=1):
        ours, rows = _compiled_series(features, labels, max_active, draws)
        theirs = _reference_series(features, labels, max_active, sweeps, rows, **changed)
    return _differences(ours, theirs)


def test_both_samplers_agree():
    differences = _compare(n_rows=30, max_active=6, draws=2000, sweeps=2000)
    assert max(abs(z) for z in differences.values()) < 4, differences


@pytest.mark.slow
@pytest.mark.parametrize("max_active", [6, 30])
def test_both_samplers_agree_in_long_runs(max_active):
    differences = _compare(n_rows=30, max_active=max_active, draws=10_000, sweeps=15_000)
    assert max(abs(z) for z in differences.values()) < 4, differences


@pytest.mark.slow
def test_another_prior_is_noticed():
    differences = _compare(30, 6, draws=10_000, sweeps=15_000, scale_prior=(1.0, 0.5))
    assert max(abs(z) for z in differences.values()) > 4, differences
