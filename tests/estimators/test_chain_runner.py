"""Chains in parallel, watched, stopped, extended, saved and resumed."""

import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tiny_estimators import NAMES, ROWS, make, predict, target

from sparsekern import (
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    KernelProjectionClassifier,
)
from sparsekern._progress import TextProgress
from sparsekern.estimators.shared import runner as fit_module
from sparsekern.estimators.shared.estimator import Estimator
from sparsekern.inference.chains import checkpoint as checkpoint_module
from sparsekern.inference.chains import runner as chains_module
from sparsekern.inference.chains.aside import aside
from sparsekern.inference.chains.collected import expansion_parts
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.generalized_kernel.sampler import GeneralizedKernelSampler
from sparsekern.inference.kernel_projection import projections
from sparsekern.settings import GKMPriors


class State(NamedTuple):
    """The state of a chain that only counts."""

    sweep: np.ndarray


def refuse(self, smallest):
    raise FloatingPointError


def draws_of(model):
    """Everything that was sampled."""
    tree = model.posterior_
    groups = [tree[name] for name in ("posterior", "sample_stats", "sparse_coefficients")]
    return {
        name: group[name].to_numpy()
        for group in groups
        for name in group.data_vars
        if "draw" in group[name].dims
    }


def assert_same_draws(one, two):
    first, second = draws_of(one), draws_of(two)
    assert first.keys() == second.keys()
    for name in first:
        assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize("learn", [False, "per_feature"])
def test_threads_and_length_of_legs_change_nothing(two_classes, monkeypatch, learn):
    X, y = two_classes
    settings = {"draws": 130, "tune": 70, "chains": 3, "random_state": 5, "thin": 2}
    base = GKMClassifier(learn_length_scale=learn, **settings).fit(X, y)
    assert_same_draws(
        base, GKMClassifier(learn_length_scale=learn, n_jobs=-1, **settings).fit(X, y)
    )
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    assert_same_draws(base, GKMClassifier(learn_length_scale=learn, **settings).fit(X, y))


def test_chains_differ_from_each_other(two_classes, short):
    model = GKMClassifier(**short).fit(*two_classes)
    scale = model.posterior_["posterior"]["scale"].to_numpy()
    assert not np.any(scale[0] == scale[1])


def test_chains_differ_in_all_their_random_numbers():
    """Starts may differ and hide chains that draw the same numbers: look at the streams."""

    class Nothing:
        def start(self, rng, chain):
            return None

        def allocate(self, plan):
            return None

    seeds = np.random.SeedSequence(0).spawn(6)
    chains = chains_module.start_chains(Nothing(), Plan(0, 1, 1), seeds)
    first = [rng.random() for chain in chains for rng in chain.rngs]
    assert len(set(first)) == 12


def test_thinning_keeps_every_other_draw(two_classes, short):
    """Thinned chains are the long chains at every second sweep, but for the coefficients drawn."""
    X, y = two_classes
    every = GKMClassifier(**short | {"draws": 40}).fit(X, y)
    second = GKMClassifier(**short | {"draws": 20, "thin": 2}).fit(X, y)
    assert second.n_draws_ == 20
    assert len(second.traces_["n_active"][0]) == len(every.traces_["n_active"][0]) == 90
    assert_array_equal(second.traces_["n_active"][0][:50], every.traces_["n_active"][0][:50])


class Watcher:
    """A callback that counts events and can ask for the end."""

    def __init__(self, stop_after=None):
        self.events, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name))
        done = sum(event == ("end", "percent") for event in self.events)
        return self.stop_after is not None and done >= self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_progress_goes_through_scikit_learn_callbacks(two_classes, short):
    watcher = Watcher()
    GKMClassifier(**short).set_callbacks(watcher).fit(*two_classes)
    assert watcher.events[0] == "setup"
    assert watcher.events[-1] == "teardown"
    assert watcher.events.count(("end", "percent")) == 200
    assert watcher.events.count(("end", "chain")) == 2


def test_a_callback_can_end_sampling(two_classes, monkeypatch):
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    X, y = two_classes
    model = GKMClassifier(draws=1000, tune=0, chains=2, random_state=0)
    model.set_callbacks(Watcher(stop_after=40))
    with pytest.warns(UserWarning, match="Sampling was stopped after .* draws in each of 2 chains"):
        model.fit(X, y)
    assert 100 < model.n_draws_ < 500
    assert model.posterior_["posterior"].sizes["draw"] == model.n_draws_
    assert model.predict_proba(X).shape == (80, 2)


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C raise KeyboardInterrupt even where the shell has the tests ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_when(model, fraction):
    """Send Ctrl-C to this process once sampling is under way."""

    class Interrupter(Watcher):
        def on_fit_task_end(self, estimator, context):
            super().on_fit_task_end(estimator, context)
            done = self.events.count(("end", "percent"))
            if "sent" not in self.events and done >= 100 * fraction * estimator.chains:
                self.events.append("sent")
                threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
                time.sleep(0.05)

    return model.set_callbacks(Interrupter())


def test_ctrl_c_keeps_the_draws_and_warm_start_goes_on(two_classes, ctrl_c):
    X, y = two_classes
    settings = {"draws": 1500, "tune": 100, "chains": 2, "random_state": 0}
    model = interrupt_when(GKMClassifier(**settings), 0.3)
    with pytest.warns(UserWarning, match=r"interrupted after \d+ of 1500 draws"):
        model.fit(X, y)
    kept = model.n_draws_
    assert 0 < kept < 1500
    model.set_callbacks()
    shorter = pickle.loads(pickle.dumps(model)).set_params(warm_start=True, draws=1490)
    assert shorter.fit(X, y).n_draws_ == 1490
    assert model.predict_proba(X).shape == (80, 2)
    before = draws_of(model)["scale"]
    model.set_params(warm_start=True).fit(X, y)
    assert model.n_draws_ == 1500
    assert_array_equal(draws_of(model)["scale"][:, :kept], before)


class EndlessLegs:
    """Legs that go beyond sweep 50 get stuck half-way; once all are, somebody presses Ctrl-C."""

    def __init__(self, count):
        self.released, self.stuck = threading.Event(), []
        self._count, self._advance = count, GeneralizedKernelSampler.advance

    def advance(self, sampler, rngs, state, workspace, draws, stop, *others):
        if stop > 50 and not self.released.is_set():
            self._advance(sampler, rngs, state, workspace, draws, 60, *others)
            self.stuck.append(state)
            if len(self.stuck) == self._count:
                os.kill(os.getpid(), signal.SIGINT)
            self.released.wait(10)
            self.stuck.pop()
        self._advance(sampler, rngs, state, workspace, draws, stop, *others)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nobody_waits_for_a_leg_that_does_not_end(
    two_classes, tmp_path, monkeypatch, ctrl_c, n_jobs
):
    """It is as if it had never begun: for warm starts, for checkpoints, and for later writing."""
    X, y = two_classes
    settings = {"draws": 180, "tune": 20, "chains": 2, "random_state": 0, "n_jobs": n_jobs}
    whole = GKMClassifier(**settings).fit(X, y)
    legs = EndlessLegs(n_jobs)
    monkeypatch.setattr(
        GeneralizedKernelSampler, "advance", lambda *arguments: legs.advance(*arguments)
    )
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 1e3)  # legs end at sweeps 1, 5, 21, 50, ...
    monkeypatch.setattr(chains_module, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(checkpoint_module, "_SECONDS_BETWEEN", 0.0)
    model = GKMClassifier(checkpoint=tmp_path, **settings)
    with pytest.warns(UserWarning, match="interrupted after 30 of 180 draws"):
        model.fit(X, y)
    assert len(legs.stuck) == n_jobs
    before = {name: values.copy() for name, values in draws_of(model).items()}
    legs.released.set()  # the threads write on
    model.set_params(warm_start=True, checkpoint=None).fit(X, y)
    resumed = GKMClassifier(checkpoint=tmp_path, **settings).fit(X, y)
    assert_same_draws(whole, model)
    assert_same_draws(whole, resumed)
    for name, values in before.items():
        assert values.shape[1] == 30
        later = draws_of(whole)[name][:, :30]
        if values.ndim > 2:  # places for vectors are as many as the largest draw has
            assert np.isin(later[..., values.shape[2] :], [-1, 0]).all()
            later = later[..., : values.shape[2]]
        assert_array_equal(values, later, err_msg=name)


def be_deaf(released):
    """Do as compiled code does: hear of Ctrl-C only when it is over."""
    end = time.monotonic() + 10.0
    while not released.is_set() and time.monotonic() < end:
        with contextlib.suppress(KeyboardInterrupt):
            released.wait(end - time.monotonic())


def interrupt_soon():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_nobody_waits_for_a_start_that_does_not_end(two_classes, monkeypatch, ctrl_c):
    """Looking for a good start can take as long as many sweeps."""
    released = threading.Event()
    monkeypatch.setattr(GeneralizedKernelSampler, "start", lambda *parts: be_deaf(released))
    interrupt_soon()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match="before there was anything to keep"):
        GKMClassifier(draws=10, tune=10, random_state=0).fit(*two_classes)
    released.set()
    assert time.monotonic() - begin < 5.0


def test_nobody_waits_for_components(two_classes, monkeypatch, ctrl_c):
    released = threading.Event()
    monkeypatch.setattr(projections, "symmetric_eigen", lambda *parts: be_deaf(released))
    interrupt_soon()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match="before there was anything to keep"):
        KernelProjectionClassifier(random_state=0).fit(*two_classes)
    released.set()
    assert time.monotonic() - begin < 5.0


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_before_anything_is_kept_is_answered_by_a_sentence(name, monkeypatch):
    """Between two steps that listen for it Ctrl-C comes as Python raises it, without a word."""

    def pressed(*parts, **options):
        raise KeyboardInterrupt

    model = make(name).fit(ROWS, target(name))
    before = predict(model)
    monkeypatch.setattr(Estimator, "_prepare_training", pressed)
    with pytest.raises(KeyboardInterrupt, match=f"{name} was interrupted before there was"):
        model.fit(ROWS[::-1], target(name))
    monkeypatch.undo()
    assert_array_equal(predict(model), before)


def test_what_fails_aside_fails_here_and_with_the_same_error_handling():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        aside(np.divide, np.ones(1), np.zeros(1))
    assert aside(max, 3, 4) == 4


class Kept(NamedTuple):
    """Kept draws of a chain, as expansions have them."""

    n_active: np.ndarray
    coefficients: np.ndarray
    intercept: np.ndarray
    noise_variance: np.ndarray
    parameters: np.ndarray


def run_of(counts, width):
    draws = len(counts)
    empty = np.zeros((draws, 1))
    kept = Kept(counts, np.zeros((draws, 1, width)), empty[:, 0], empty[:, 0], empty)
    chain = chains_module.Chain(None, kept, (None, None))
    return chains_module.ChainRun([chain], draws, "interrupted")


def test_slots_name_the_rows_of_active_vectors():
    """What is beyond a draw's number of vectors is left from earlier and names nothing."""
    rows = np.array([[[7, 3, 5], [3, 9, 9], [8, 8, 8]]])
    parts = expansion_parts(run_of(np.array([2, 1, 0]), 3), rows)
    assert_array_equal(parts["rows"], [3, 7])
    assert_array_equal(parts["slots"], [[[1, 0], [0, 0], [0, 0]]])
    nothing = expansion_parts(run_of(np.array([0, 0]), 1), np.zeros((1, 2, 1), np.int64))
    assert len(nothing["rows"]) == 0 and not nothing["slots"].any()


def test_after_ctrl_c_nobody_waits_until_millions_of_numbers_are_sorted():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 500, (1, 6000, 500))
    run = run_of(np.full(6000, 500), 500)
    begin = time.process_time()
    np.unique(rows, return_inverse=True)
    sorting, begin = time.process_time() - begin, time.process_time()
    parts = expansion_parts(run, rows)
    assert time.process_time() - begin < 0.7 * sorting
    assert_array_equal(parts["rows"][parts["slots"]], rows)


def test_a_leg_that_takes_long_is_reported(two_classes, monkeypatch):
    monkeypatch.setattr(chains_module, "_BEAT_SECONDS", 0.01)
    heard = threading.Event()

    class Slow:
        refresh_every = 1

        def start(self, rng, chain):
            return State(np.zeros(1, np.int64))

        def allocate(self, plan):
            return ()

        def open(self, state):
            return None

        def advance(self, rngs, state, workspace, draws, stop, plan, fresh):
            assert heard.wait(10)
            state.sweep[0] = stop

    def report(number, fraction):
        heard.set()
        return False

    plan = Plan(0, 1, 1)
    chains = chains_module.start_chains(Slow(), plan, np.random.SeedSequence(0).spawn(1))
    run = chains_module.run_chains([Slow()], chains, plan, report=report)
    assert run.ended == "finished" and run.kept == 1


def test_a_longer_run_leaves_the_chain_it_began_with(two_classes, short, monkeypatch):
    """A warm start that fails must not have moved the chains of the fit before."""
    X, y = two_classes
    model = GKMClassifier(**short, warm_start=True).fit(X, y)
    longer = short | {"draws": 2 * short["draws"]}
    whole = pickle.loads(pickle.dumps(model)).set_params(**longer).fit(X, y)
    with monkeypatch.context() as patched:
        patched.setattr(GeneralizedKernelSampler, "_check_pivot", refuse)
        with pytest.raises(FloatingPointError):
            model.set_params(**longer).fit(X, y)
    assert_same_draws(whole, model.fit(X, y))


def test_ctrl_c_while_tuning_is_a_keyboard_interrupt(two_classes, ctrl_c):
    model = interrupt_when(GKMClassifier(draws=10, tune=5000, chains=2, random_state=0), 0.2)
    with pytest.raises(KeyboardInterrupt, match="before any draw was kept"):
        model.fit(*two_classes)


def test_warm_start_extends_the_chains(two_classes):
    """From a sweep at which the factor is rebuilt anyway, extending is bitwise one long run."""
    X, y = two_classes
    settings = {"tune": 50, "chains": 2, "random_state": 0}
    long = GKMClassifier(draws=150, **settings).fit(X, y)
    model = GKMClassifier(draws=100, warm_start=True, **settings).fit(X, y)
    model.set_params(draws=150).fit(X, y)
    assert_same_draws(long, model)
    with pytest.warns(UserWarning, match="without a larger draws"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="is fewer than the 150 of the last fit"):
        model.set_params(draws=20).fit(X, y)
    with pytest.raises(ValueError, match="the data or the parameters have changed"):
        model.set_params(draws=200).fit(X + 1e-3 * X**2, y)
    with pytest.raises(ValueError, match="the data or the parameters have changed"):
        model.set_params(draws=200, priors__max_active=5).fit(X, y)


KILLED = textwrap.dedent(
    """
    import sys
    import numpy as np
    from sparsekern import GKMClassifier
    from sparsekern.datasets import make_ripley
    from sparsekern.inference.chains import checkpoint
    checkpoint._SECONDS_BETWEEN = 0.05  # that the first is written long before the end
    X, y = make_ripley(80, random_state=3)
    print("begin", flush=True)
    GKMClassifier(draws=3000, tune=100, chains=2, thin=1, random_state=7, checkpoint=sys.argv[1],
                  n_jobs=2, progress=False).fit(X, y)
    print("end", flush=True)
    """
)


def test_kill_and_resume_gives_the_uninterrupted_draws(two_classes, tmp_path):
    X, y = two_classes
    settings = {"draws": 3000, "tune": 100, "chains": 2, "random_state": 7}
    folder = tmp_path / "saved"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while len(list(folder.glob("run-*/chain-*.npz"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()  # SIGKILL: nothing can be tidied up
    printed, _ = process.communicate()
    assert "end" not in printed
    (saved,) = folder.glob("run-*/chain-0.npz")
    done = int(np.load(saved)["state.sweep"][0])
    assert 0 < done < 3100
    other = GKMClassifier(**settings | {"draws": 100}, checkpoint=folder)
    with pytest.warns(UserWarning, match=r"unfinished run of other data or parameters \(draws"):
        other.fit(X, y)
    resumed = GKMClassifier(**settings, checkpoint=folder).fit(X, y)
    assert_same_draws(GKMClassifier(**settings).fit(X, y), resumed)


@pytest.fixture
def finished(two_classes, short, tmp_path):
    model = GKMClassifier(**short, checkpoint=tmp_path).fit(*two_classes)
    (path,) = tmp_path.glob("run-*/chain-0.npz")
    return model, path


def test_a_finished_run_is_read_back(two_classes, short, tmp_path, finished):
    model, path = finished
    stamp = path.stat().st_mtime_ns
    again = GKMClassifier(**short, checkpoint=tmp_path).fit(*two_classes)
    assert_same_draws(model, again)
    assert path.stat().st_mtime_ns == stamp
    unseeded = short | {"random_state": None}
    one = GKMClassifier(**unseeded, checkpoint=tmp_path).fit(*two_classes)
    two = GKMClassifier(**unseeded, checkpoint=tmp_path).fit(*two_classes)
    assert not np.array_equal(draws_of(one)["scale"], draws_of(two)["scale"])


def test_other_data_and_parameters_have_their_own_files(two_classes, short, tmp_path, finished):
    X, y = two_classes
    GKMClassifier(**short, checkpoint=tmp_path).fit(X + 1.0, y)  # the same once standardised
    GKMClassifier(**short, checkpoint=tmp_path).fit(X, -y)
    GKMClassifier(**short | {"draws": 51}, checkpoint=tmp_path).fit(X, y)
    assert len(list(tmp_path.glob("run-*"))) >= 3


@pytest.mark.parametrize("damage", ["cut", "flip", "swap", "about"])
def test_damaged_checkpoints_are_refused(two_classes, short, tmp_path, finished, damage):
    _, path = finished
    content = path.read_bytes()
    words = "is damaged"
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
    elif damage == "swap":  # the file of another run under this run's name
        other = GKMClassifier(**short, priors=GKMPriors(max_active=7), checkpoint=tmp_path / "b")
        other.fit(*two_classes)
        (other,) = (tmp_path / "b").glob("run-*/chain-0.npz")
        path.write_bytes(other.read_bytes())
        words = "other data or parameters"
    else:
        (path.parent / "run.json").write_text("{")
        words = "missing or damaged"
    with pytest.raises(ValueError, match=words):
        GKMClassifier(**short, checkpoint=tmp_path).fit(*two_classes)


def test_trouble_with_the_disk_does_not_end_sampling(two_classes, tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(UserWarning, match=r"cannot be written \(No space left on device\)"):
        model = GKMClassifier(
            draws=60, tune=60, chains=2, random_state=0, checkpoint=tmp_path / "a"
        ).fit(*two_classes)
    assert model.n_draws_ == 60


def test_damaged_runs_of_others_are_left_alone(two_classes, short, tmp_path):
    (tmp_path / "run-0123456789abcdef").mkdir()
    (tmp_path / "run-0123456789abcdef" / "run.json").write_text("{")
    GKMClassifier(**short, checkpoint=tmp_path).fit(*two_classes)


def test_a_callback_that_ends_tuning_is_no_keyboard_interrupt(two_classes):
    model = GKMClassifier(draws=10, tune=5000, chains=2, random_state=0)
    with pytest.raises(RuntimeError, match="before any draw was kept"):
        model.set_callbacks(Watcher(stop_after=3)).fit(*two_classes)
    assert not hasattr(model, "classes_")


def test_text_progress_waits_two_seconds(monkeypatch):
    clock = iter([0.0, 1.0, 3.0, 9.0, 9.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    progress = TextProgress("model", 2, stream)
    progress.update(0, 0.2)
    assert stream.getvalue() == ""
    progress.update(0, 0.5)
    progress.update(1, 1.0)
    progress.close()
    lines = stream.getvalue().splitlines()
    assert "25%" in lines[0]
    assert "75%" in lines[-1]


DIGEST = textwrap.dedent(
    """
    import hashlib, warnings
    warnings.simplefilter("ignore")
    from sparsekern import GKMClassifier
    from sparsekern.datasets import make_ripley
    X, y = make_ripley(80, random_state=3)
    model = GKMClassifier(draws=200, tune=100, chains=2, random_state=7, progress=False).fit(X, y)
    print(hashlib.sha256(model._posterior.draws.coefficients.tobytes()).hexdigest())
    """
)


@pytest.mark.slow
def test_fresh_and_cached_binaries_give_the_same_draws(tmp_path):
    """A process that compiles and one that reads the cache agree to the last digit."""
    printed = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"SPARSEKERN_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(printed) == 1


def opened_chain(model, X, y, monkeypatch):
    """Return sampler and first chain of a fit, as they are before its first leg."""
    caught = []

    def catch(samplers, chains, plan, **options):
        caught.append((samplers[0], chains[0], plan))
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module, "run_chains", catch)
    with contextlib.suppress(KeyboardInterrupt):
        model.fit(X, y)
    return caught[0]


@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(draws=4, tune=0, chains=1),
        DoublySparseRegressor(draws=4, tune=0, chains=1),
        DoublySparseRegressor(counts="poisson", draws=4, tune=0, chains=1),
        DoublySparseClassifier(draws=4, tune=0, chains=1),
        DoublySparseRegressor(draws=4, tune=0, chains=1).set_params(moves__temperatures=(1.0, 2.0)),
    ],
    ids=["GKM", "gaussian", "counts", "classes", "tempered"],
)
def test_an_abandoned_sweep_makes_no_more_moves(two_classes, monkeypatch, model):
    """Nothing can stop a sweep of ten thousand moves from outside, unless it looks."""
    X, y = two_classes
    sampler, chain, plan = opened_chain(model, X, (y > 0).astype(float), monkeypatch)
    abandoned = chains_module._Runner(chain.snapshot(), sampler, plan)
    abandoned.leave(0.0)
    sampler.advance(
        abandoned.chain.rngs, abandoned.chain.state, abandoned.workspace, abandoned.chain.draws, 1,
        plan, True,
    )  # fmt: skip
    free = chains_module._Runner(chain.snapshot(), sampler, plan)
    free.leg()
    moves = sampler.settings.moves
    assert free.chain.state.tallies[:3, 0].sum() == moves
    assert abandoned.chain.state.tallies[:3, 0].sum() == 0
    if len(free.chain.state.tallies) > 8:  # features
        walked = [3, 4, 5, 6, 7, 10]
        assert free.chain.state.tallies[walked, 0].sum() > 0
        assert abandoned.chain.state.tallies[walked, 0].sum() == 0


def test_a_leg_that_is_cut_short_is_not_kept(two_classes, monkeypatch):
    """The chain that is left is that of the last whole leg, whatever ends in the meantime."""
    model = GKMClassifier(draws=4, tune=0, chains=1)
    sampler, chain, plan = opened_chain(model, *two_classes, monkeypatch)
    runner = chains_module._Runner(chain, sampler, plan)
    monkeypatch.setattr(chains_module, "_abandon", lambda workspace: runner_ends(runner))

    def runner_ends(runner):
        runner._whole = None

    assert runner.leave(0.0) is not None
