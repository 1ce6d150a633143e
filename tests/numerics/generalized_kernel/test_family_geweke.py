"""Geweke's joint test of the sweep under every likelihood: the joint law must be the prior's."""

import numpy as np
import pytest
from dense_model import batch_error
from family_setup import alternate, from_prior, functionals
from joint_law import report, stack
from speed import slow_except

from sparsekern.likelihoods import Gaussian, Logit, StudentT

FEATURES = np.random.default_rng(8).standard_normal((5, 2))
LIKELIHOODS = {
    "gaussian": Gaussian(), "student_t": StudentT([2.0, 5.0, 30.0]), "logit": Logit(),
}  # fmt: skip


def _scores(likelihood, sweeps, seed, **options):
    names, ours = stack(functionals(alternate(likelihood, FEATURES, sweeps, seed, **options)))
    others = functionals(from_prior(likelihood, FEATURES, 10 * sweeps, seed + 100))
    theirs = np.column_stack([others[name] for name in names])
    ours = ours[sweeps // 100 :]
    error = np.hypot(batch_error(ours, 50), theirs.std(0) / np.sqrt(len(theirs)))
    z = (ours.mean(0) - theirs.mean(0)) / error
    print(report(names, z))
    return dict(zip(names, z, strict=True))


# learned noise, weights of rows and a parameter; logit is in test_row_weights.py, too
@pytest.mark.parametrize("name", slow_except(LIKELIHOODS, ("student_t",)))
def test_joint_law(name):
    z = _scores(LIKELIHOODS[name], 30_000, seed=1)
    assert len(z) > 18
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_joint_law_long(name):
    z = _scores(LIKELIHOODS[name], 400_000, seed=2)
    assert max(map(abs, z.values())) < 4, z
