"""Searches on small data sets."""

import numpy as np

from sparsekern.inference.feature_search.graph import correlation_graph
from sparsekern.inference.hybrid.cpu import CpuBackend
from sparsekern.inference.hybrid.evidence import ParameterPrior
from sparsekern.inference.hybrid.scoring import SearchSettings
from sparsekern.inference.hybrid.search import HybridSearch
from sparsekern.kernels.feature_sums import FEATURE_KERNELS

PRIOR = ParameterPrior((1.0, 1.0), (1.0, 1.0), (1.0, 0.1))


def standardized(values):
    return (values - values.mean(0)) / values.std(0)


def strong(seed, n=50, p=6):
    """Three effects that cannot be missed: odd, even and linear."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(-np.pi, np.pi, (n, p))
    f = 2 * np.sin(features[:, 0]) + features[:, 1] ** 2 / 2 + features[:, 2]
    return standardized(features), standardized(f + 0.5 * rng.standard_normal(n))


def vague(seed, n=30, p=6):
    """Correlated features and much noise: many models are about as good."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, 1))
    features = 0.8 * common + 0.6 * rng.standard_normal((n, p))
    response = features[:, 0] + 0.5 * features[:, 1] ** 2 + rng.standard_normal(n)
    return standardized(features), standardized(response)


def open_search(
    data, kind="rbf", shared=True, seed=0, neighbors=0, backend=None, report=None, prior=PRIOR,
    **settings,
):  # fmt: skip
    features, response = data
    columns = np.ascontiguousarray(features.T)
    return HybridSearch(
        backend or CpuBackend(), columns, np.array(response), FEATURE_KERNELS[kind], shared,
        SearchSettings(prior=prior, **settings), correlation_graph(columns, neighbors),
        np.random.default_rng(seed), report,
    )  # fmt: skip


def run_search(data, starts=((0,),), **options):
    search = open_search(data, **options)
    search.run(list(starts))
    return search
