"""Chains that fall hopelessly behind in tuning go on from the best one; kept draws stay theirs."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsekern import DoublySparseClassifier, DoublySparseRegressor, GKMClassifier
from sparsekern.inference.chains import regroup
from sparsekern.inference.chains import runner as chains_module
from sparsekern.inference.chains.checkpoint import Checkpoint
from sparsekern.inference.chains.plan import Plan

PLAN = Plan(tune=100, draws=10, thin=1)


class State(NamedTuple):
    sweep: np.ndarray
    place: np.ndarray  # where the chain is; it walks by its own random numbers


class Draws(NamedTuple):
    place: np.ndarray
    place_trace: np.ndarray


class Valley:
    """Chains that start 100 apart and take steps of .01: the density is that of a place."""

    refresh_every = 1
    engine = "valley"
    knows_log_density = True

    def start(self, rng, chain):
        return State(np.zeros(1, np.int64), np.array([100.0 * chain]))

    def allocate(self, plan):
        return Draws(np.zeros(plan.draws), np.zeros(plan.sweeps))

    def open(self, state):
        return None

    def fingerprint_parts(self):
        return ["valley"]

    def log_density(self, state):
        return -abs(float(state.place[0]) - 100.0)

    def advance(self, rngs, state, workspace, draws, stop, plan, fresh):
        while state.sweep[0] < stop:
            sweep = int(state.sweep[0])
            state.place[0] += 0.01 * rngs[0].standard_normal()
            draws.place_trace[sweep] = state.place[0]
            if sweep >= plan.tune:
                draws.place[sweep - plan.tune] = state.place[0]
            state.sweep[0] = sweep + 1


def started(sampler, count=3):
    seeds = np.random.SeedSequence(4).spawn(count)
    return chains_module.start_chains(sampler, PLAN, seeds)


def run(sampler=None, **options):
    sampler = Valley() if sampler is None else sampler
    chains = started(sampler)
    return chains_module.run_chains([sampler] * 3, chains, PLAN, **options)


def test_chains_behind_go_on_from_the_best_after_half_of_tuning():
    done = run()
    assert done.ended == "finished" and done.kept == 10
    traces = np.array([chain.draws.place_trace for chain in done.chains])
    assert_array_equal(np.round(traces[:, 49]), [0, 100, 200])
    assert_array_equal(np.round(traces[:, 50:]), 100)
    assert len(np.unique(traces[:, 50])) == 3  # random streams of their own


def test_number_of_threads_and_length_of_legs_change_nothing(monkeypatch):
    one = run(n_jobs=1)
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    for n_jobs in (1, 2, 3):
        for chain, other in zip(one.chains, run(n_jobs=n_jobs).chains, strict=True):
            assert_array_equal(chain.draws.place_trace, other.draws.place_trace)


def test_who_is_not_hopeless_stays_and_who_cannot_tell_does_not_wait():
    near = Valley()
    near.log_density = lambda state: -0.1 * abs(float(state.place[0]) - 100.0)
    assert_array_equal([np.round(c.state.place[0]) for c in run(near).chains], [0, 100, 200])
    silent = Valley()
    silent.knows_log_density = False
    silent.log_density = None
    assert_array_equal([np.round(c.state.place[0]) for c in run(silent).chains], [0, 100, 200])
    lost = Valley()
    lost.log_density = lambda state: np.nan if state.place[0] < 50 else 0.0
    assert_array_equal([np.round(c.state.place[0]) for c in run(lost).chains], [100, 100, 200])


def test_chains_of_different_models_are_not_compared():
    first, second = Valley(), Valley()
    chains = started(first, 2) + started(second, 2)
    done = chains_module.run_chains([first] * 2 + [second] * 2, chains, PLAN)
    assert_array_equal([np.round(c.state.place[0]) for c in done.chains], [100] * 4)
    states = [State(np.zeros(1, np.int64), np.array([x])) for x in (0.0, 100.0, 0.0)]
    assert regroup.move_those_behind([first, second, second], states) == [2]


@pytest.mark.parametrize("killed_at", [35, 50, 51, 105])
def test_a_killed_run_ends_as_if_it_had_not_been(tmp_path, killed_at, monkeypatch):
    monkeypatch.setattr("sparsekern.inference.chains.checkpoint._SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)  # legs of one sweep

    class Killed(Exception):
        pass

    def checkpoint():
        return Checkpoint(tmp_path, ["valley"], {}, reuse_finished=True)

    def stop(number, fraction):
        if min(chain.sweep for chain in chains) >= killed_at:
            raise Killed
        return False

    sampler, saved = Valley(), checkpoint()
    chains = started(sampler)
    saved.restore(chains, lambda number, plan: None)  # nothing yet
    with pytest.raises(Killed):
        chains_module.run_chains(
            [sampler] * 3, chains, PLAN, report=stop, checkpoint=saved, n_jobs=1
        )
    saved.close(finished=False)
    saved, chains = checkpoint(), started(sampler)
    saved.restore(chains, lambda number, plan: None)
    assert any(chain.sweep > 0 for chain in chains)
    done = chains_module.run_chains([sampler] * 3, chains, PLAN, checkpoint=saved, n_jobs=1)
    for chain, other in zip(done.chains, run(n_jobs=1).chains, strict=True):
        assert_array_equal(chain.draws.place_trace, other.draws.place_trace)


def test_which_estimators_compare_their_chains(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)
    seen = []
    move = chains_module.move_those_behind

    def watched(samplers, states):
        seen.append([sampler.log_density(s) for sampler, s in zip(samplers, states, strict=True)])
        return move(samplers, states)

    monkeypatch.setattr(chains_module, "move_those_behind", watched)
    short = {"draws": 4, "tune": 100, "chains": 2, "random_state": 0, "progress": False}

    def densities(model, y=y):
        seen.clear()
        model.fit(X, y)
        return seen[0] if seen else None

    for model, labels in ((DoublySparseRegressor, y), (DoublySparseClassifier, y > 0)):
        assert np.isfinite(densities(model(**short), labels)).all()
    assert densities(DoublySparseRegressor(noise="student_t", **short)) is None
    tempered = DoublySparseRegressor(**short).set_params(moves__temperatures=(1, 2))
    assert densities(tempered) is None
    assert densities(GKMClassifier(**short), y > 0) is None
