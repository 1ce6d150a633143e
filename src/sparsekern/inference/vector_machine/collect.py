"""Chains over the kernel columns of given candidates, and the posterior that they sample."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...kernels.resolve import Kernel
from ...likelihoods import Probit
from ...posteriors.kernel_expansion import KernelExpansionPosterior
from ...posteriors.names import Names
from ...posteriors.sampled import SampledPosterior
from ..chains.collected import expansion_parts, make_record, stacked
from ..chains.plan import Plan
from ..chains.runner import ChainRun
from .classification import open_columns
from .gibbs import GibbsSampler


class KernelSampler(GibbsSampler):
    """A sampler that knows the kernel and the rows its columns are made of.

    Parameters
    ----------
    kernel : Kernel
    features : ndarray of shape (n, p)
        Training rows, or their kernel matrix.
    rows : ndarray of shape (m,)
        Candidates.
    labels : ndarray of shape (n,)
        -1.0 and +1.0.
    precision_prior : (float, float)
    bias_precision : float
    """

    limits: ClassVar[dict[str, int]] = {}  # any number of candidates may be active

    def __init__(
        self,
        kernel: Kernel,
        features: np.ndarray,
        rows: np.ndarray,
        labels: np.ndarray,
        precision_prior: tuple[float, float],
        bias_precision: float,
    ) -> None:
        self.kernel, self.features, self.rows = kernel, features, rows
        signs = labels[rows]
        columns = open_columns(kernel, features, rows, signs, single=False)
        design = np.ones((len(rows) + 1, len(labels)))
        for number in range(columns.n_blocks):
            chosen, table = columns.block(number)
            design[1:][chosen] = signs[chosen, None] * table
        super().__init__(design, signs, labels, precision_prior, bias_precision)


def collect(run: ChainRun, plan: Plan, sampler: KernelSampler, names: Names) -> SampledPosterior:
    """Return the posterior that a run has sampled.

    Parameters
    ----------
    run : ChainRun
    plan : Plan
    sampler : KernelSampler
    names : Names
        Of the training data and its two classes.
    """
    shared = expansion_parts(run, sampler.rows[stacked(run, "rows")])
    vectors = sampler.features[shared["rows"]]
    draws = KernelExpansionPosterior(
        likelihood=Probit(),
        vectors=vectors[:, :0] if sampler.kernel.precomputed else vectors,
        **shared,
        kernels=(sampler.kernel,),
        length_scales=None,
        shared_width=False,
        prior_variances=None,
    )
    return SampledPosterior(
        draws=draws,
        names=names,
        record=make_record(run, plan, (), sampler.limits),
        features=sampler.features,
        response=sampler.response,
        used_rows=np.arange(len(sampler.response)),
        log_likelihood=stacked(run, "log_likelihood"),
        monitored_name="probability",
        monitored_rows=sampler.monitored_rows,
        monitored=stacked(run, "monitored"),
    )
