"""draws="auto": chains go on until they have converged, or until a limit ends them."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from auto_draws import (
    EASY,
    NEVER,
    Watcher,
    X,
    Y,
    assert_same,
    fake_standing,
    make,
    make_rounds_small,
    numbers_of,
    plan_of,
)  # fmt: skip
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsekern.inference.chains import checkpoint as checkpoint_module
from sparsekern.inference.chains import rounds as rounds_module
from sparsekern.inference.chains import runner as chains_module
from sparsekern.inference.chains.rounds import Rounds, Standing
from sparsekern.settings import UntilConverged


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    make_rounds_small(monkeypatch)


# -- rounds ---------------------------------------------------------------------------------------


def test_a_fit_that_meets_the_goal_stops_after_the_first_round(recwarn):
    model = make(**EASY).fit(X, Y)
    assert plan_of(model) == (30, 20, 1)
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]
    assert_same(model, make(draws=20).fit(X, Y))
    assert model._kept_chains is None


def test_a_fit_that_does_not_goes_on_and_holds_no_more_than_it_may():
    model = make(**NEVER, draws__max_draws=150).fit(X, Y)
    assert plan_of(model) == (30, 37, 4)  # 148 sweeps after tuning
    assert all(len(trace) == 30 + 148 for trace in model.traces_["n_active"])
    tree = model.posterior_["posterior"]
    assert tree.attrs["tuning_steps"] == 30 and tree.attrs["thinning"] == 4
    sizes = model.posterior_["sample_stats"]["n_active"].to_numpy()
    for kept, trace in zip(sizes, model.traces_["n_active"], strict=True):
        assert_array_equal(kept, trace[30 + 3 :: 4])  # evenly: every fourth sweep


def test_plans_of_rounds():
    rounds = Rounds(30, 3, UntilConverged(max_draws=150), 20)
    assert rounds.first == rounds_module.Plan(30, 20, 3)
    plan, ends = rounds.first, []
    while plan is not None:
        ends.append((plan.draws, plan.thin))
        assert plan.draws <= 40
        plan = rounds.longer(plan, Standing(np.inf, 0.0))
    assert ends == [(20, 3), (40, 3), (40, 6), (37, 12)]
    assert rounds.largest.draws == 40 and rounds.largest.sweeps >= 30 + 450
    # as much as seems to be missing
    assert rounds.longer(rounds.first, Standing(1.015, 399.0)).draws == 30
    assert rounds.longer(rounds.first, Standing(1.0, 390.0)).draws == 30  # a quarter at least
    assert rounds.longer(rounds.first, Standing(1.5, 400.0)).draws == 40  # twice at most
    # the first half left out counts, too
    late = rounds_module.Plan(60, 10, 3)
    assert rounds.longer(late, Standing(1.5, 400.0)) == rounds_module.Plan(60, 30, 3)
    assert rounds.longer(rounds_module.Plan(480, 0, 3), Standing(1.5, 1.0)) is None


def test_the_first_half_goes_where_tuning_was_too_short(monkeypatch):
    """Half of the draws pass and all of them do not."""
    whole = make(draws=40).fit(X, Y)
    seen = []

    def judge(table):
        seen.append(table)
        return (1.0, 1e3) if len(seen) == 4 else (1.5, 300.0)

    fake_standing(monkeypatch, judge)
    model = make().fit(X, Y)
    assert plan_of(model) == (50, 20, 1)
    tree = model.posterior_["posterior"]
    assert tree.attrs["tuning_steps"] == 50
    assert_array_equal(
        model.posterior_["sample_stats"]["n_active"].to_numpy(),
        np.stack([trace[50:70] for trace in whole.traces_["n_active"]]),
    )
    assert model.diagnostics_.loc["n_active", "mean"] == np.mean(
        model.posterior_["sample_stats"]["n_active"]
    )
    # the judge looked at these draws
    n_active = seen[-1].loc["n_active", "mean"]
    assert n_active == model.diagnostics_.loc["n_active", "mean"]
    # a longer run from here counts what was left out
    seen.clear()
    model.set_params(warm_start=True, draws__max_draws=60)
    model._kept_chains = None
    fake_standing(monkeypatch, lambda table: (1.5, 300.0))
    model.fit(X, Y)
    assert plan_of(model) == (30, 30, 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(monkeypatch, n_jobs):
    one = make(**NEVER, draws__max_draws=100, n_jobs=1).fit(X, Y)
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    assert_same(one, make(**NEVER, draws__max_draws=100, n_jobs=n_jobs).fit(X, Y))


@pytest.mark.parametrize("sweep", [45, 70, 100, 130])
def test_a_checkpoint_resumes_in_the_middle_of_a_round_and_between_rounds(
    tmp_path, monkeypatch, sweep
):
    """Rounds end at sweeps 50, 70, 110 and 130; a factor is rebuilt at multiples of 50."""
    options = NEVER | {"draws__max_draws": 100}
    whole = make(**options).fit(X, Y)
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_module, "_SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoint_module, "_SHARE_OF_TIME", 1e9)
    save = checkpoint_module.Checkpoint.save

    class Killed(BaseException):
        pass

    def save_and_die(self, number, chain, plan, every):
        save(self, number, chain, plan, every)
        if number == 0 and chain.sweep >= sweep:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint_module.Checkpoint, "save", save_and_die)
        with pytest.raises(Killed):
            make(**options, checkpoint=tmp_path, n_jobs=1).fit(X, Y)
    resumed = make(**options, checkpoint=tmp_path).fit(X, Y)
    assert_same(whole, resumed)
    assert_same(whole, make(**options, checkpoint=tmp_path).fit(X, Y))  # read back


# -- limits and warm starts -----------------------------------------------------------------------


def test_time_ends_a_fit_with_a_word_and_warm_start_goes_on(monkeypatch):
    whole = make(**NEVER, draws__max_draws=100).fit(X, Y)
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    clock = iter(np.arange(0.0, 1e6))
    monkeypatch.setattr(rounds_module.time, "monotonic", lambda: next(clock))
    model = make(**NEVER, draws__max_draws=100, draws__max_seconds=2.0)
    wanted = r"Sampling ended after max_seconds=2\. To go on from here, call set_params\(warm_st"
    with pytest.warns(ConvergenceWarning, match=wanted):
        model.fit(X, Y)
    assert 5 <= model.n_draws_ < 20
    assert model.predict_proba(X).shape == (24, 2)
    first = numbers_of(model)["n_active"]
    monkeypatch.undo()
    assert_array_equal(
        first, [trace[30 : 30 + model.n_draws_] for trace in whole.traces_["n_active"]]
    )


def test_time_that_is_long_enough_changes_nothing():
    plain = make(**NEVER, draws__max_draws=60).fit(X, Y)
    assert_same(plain, make(**NEVER, draws__max_draws=60, draws__max_seconds=1e6).fit(X, Y))


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C raise KeyboardInterrupt even where the shell has the tests ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
    time.sleep(0.05)


def test_ctrl_c_in_a_later_round_keeps_the_draws(monkeypatch, ctrl_c):
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    model = make(**NEVER, draws__max_draws=200).set_callbacks(Watcher(90, press))
    with pytest.warns(UserWarning, match=r"Sampling was interrupted after \d+ draws in each of 2"):
        model.fit(X, Y)
    tune, kept, thin = plan_of(model)
    assert 20 < kept * thin < 200 and tune == 30
    assert model.posterior_["posterior"].sizes["draw"] == kept
    before = numbers_of(model)["n_active"]
    model.set_callbacks().set_params(warm_start=True).fit(X, Y)
    _, draws, apart = plan_of(model)
    assert draws * apart == 200
    together = kept * thin // apart
    after = numbers_of(model)["n_active"][:, :together]
    assert_array_equal(after, before[:, apart // thin - 1 :: apart // thin][:, :together])


def test_ctrl_c_while_chains_are_judged_keeps_the_draws(monkeypatch):
    def pressed(table):
        raise KeyboardInterrupt

    fake_standing(monkeypatch, pressed)
    model = make()
    with pytest.warns(UserWarning, match="Sampling was interrupted after 20 draws"):
        model.fit(X, Y)
    assert_same(model, make(draws=20).fit(X, Y))


def test_a_callback_that_ends_sampling_at_the_end_of_a_round_is_heard(monkeypatch):
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    # two chains of 50 sweeps among 130: the last step of the round is the 76th
    watcher = Watcher(76, lambda: True)
    model = make(**NEVER, draws__max_draws=100, n_jobs=1).set_callbacks(watcher)
    with pytest.warns(UserWarning, match="Sampling was stopped after 20 draws"):
        model.fit(X, Y)


@pytest.mark.parametrize("first", [20, 80])
def test_warm_start_with_more_draws_is_the_long_run(first):
    """From the end of a round that the long run has, too."""
    whole = make(**NEVER, draws__max_draws=160).fit(X, Y)
    model = make(**NEVER, draws__max_draws=first).fit(X, Y)  # chains that fell short are kept
    copy = pickle.loads(pickle.dumps(model))
    copy.set_params(warm_start=True, draws__max_draws=160).fit(X, Y)
    assert_same(whole, copy)


def test_warm_start_between_numbers_and_auto():
    model = make(draws=20, warm_start=True).fit(X, Y)
    model.set_params(draws="auto").set_params(**NEVER, draws__max_draws=80).fit(X, Y)
    assert_same(model, make(**NEVER, draws__max_draws=80).fit(X, Y))
    assert plan_of(model) == (30, 40, 2)
    model.set_params(draws=50).fit(X, Y)  # those to come are as far apart
    assert plan_of(model) == (30, 50, 2)
    with pytest.raises(ValueError, match="draws=45 is fewer than the 50 of the last fit"):
        model.set_params(draws=45).fit(X, Y)
    done = make(**EASY, warm_start=True).fit(X, Y)
    before = numbers_of(done)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done.fit(X, Y)  # nothing is left to do
    assert_array_equal(before["n_active"], numbers_of(done)["n_active"])
