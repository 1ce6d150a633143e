"""Short fits with ``draws="auto"``, and what two of them have in common."""

import numpy as np
from numpy.testing import assert_array_equal

from sparsekern import GKMClassifier
from sparsekern.estimators.shared import sampled as fit_module
from sparsekern.inference.chains import rounds as rounds_module

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 2))
T = np.sin(X[:, 0]) + 0.2 * RNG.standard_normal(24)
Y = (T > 0).astype(int)
SHORT = {"tune": 30, "chains": 2, "random_state": 3, "progress": False}
NEVER = {"draws__ess": 1e9}
EASY = {"draws__ess": 2, "draws__r_hat": 100.0}


def make_rounds_small(monkeypatch):
    """Rounds of 20, 40, 80, .. draws, of which 40 are held."""
    monkeypatch.setattr(rounds_module, "_FIRST", 20)
    monkeypatch.setattr(rounds_module, "_STEP", 10)
    monkeypatch.setattr(rounds_module, "_MOST_HELD", 40)
    monkeypatch.setattr(rounds_module, "_LEAST_IN_TIME", 5)


def make(kind=GKMClassifier, **changes):
    return kind(draws="auto", **SHORT).set_params(**changes)


def numbers_of(model):
    """Everything that was sampled, and how it was thinned."""
    tree = model.posterior_
    groups = [tree[name] for name in ("posterior", "sample_stats", "sparse_coefficients")]
    found = {name: g[name].to_numpy() for g in groups for name in g.data_vars}
    found |= {f"trace of chain {c}": t for c, t in enumerate(model.traces_["n_active"])}
    return found | {"plan": np.array([model._posterior.record.tune, model._posterior.record.thin])}


def assert_same(one, two):
    first, second = numbers_of(one), numbers_of(two)
    assert first.keys() == second.keys()
    for name in first:
        assert_array_equal(first[name], second[name], err_msg=name)


def plan_of(model):
    record = model._posterior.record
    return record.tune, model.n_draws_, record.thin


class Watcher:
    """A callback that hears fractions and does something at one of them."""

    def __init__(self, at=None, action=None):
        self.steps, self._at, self._action = [], at, action

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "percent":
            self.steps.append((context.parent.task_id, context.task_id))
            if self._at is not None and len(self.steps) >= self._at:
                self._at = None
                return self._action()
        return None

    def teardown(self, estimator, context):
        pass


def fake_standing(monkeypatch, standing_of):
    """Let ``standing_of(scalars)`` judge."""
    monkeypatch.setattr(fit_module, "worst_standing", standing_of)
