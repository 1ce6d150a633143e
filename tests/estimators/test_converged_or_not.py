"""draws="auto": what is judged, what is said and shown, and the parameters."""

import io
import pickle

import numpy as np
import pytest
from auto_draws import (
    EASY,
    NEVER,
    T,
    Watcher,
    X,
    Y,
    fake_standing,
    make,
    make_rounds_small,
    plan_of,
)  # fmt: skip
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sparsekern import (
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    KernelProjectionClassifier,
    PCVMClassifier,
    SparseGPClassifier,
)
from sparsekern._progress import TextProgress
from sparsekern.inference.chains import runner as chains_module
from sparsekern.settings import GKMPriors, UntilConverged
from sparsekern.settings.until_converged import resolve_draws


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    make_rounds_small(monkeypatch)


# -- what is said ---------------------------------------------------------------------------------


def test_the_warning_names_the_worst_scalars_and_what_to_do():
    model = make(draws__max_draws=40)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    (said,) = [str(w.message) for w in caught if "not converged" in str(w.message)]
    table = model.diagnostics_
    judged = [
        name for name in table.index
        if name.partition("[")[0] in ("log_likelihood", "probability", "n_active")
    ]  # fmt: skip
    short = np.maximum(
        (table["r_hat"] - 1) / 0.01, 400 / table[["ess_bulk", "ess_tail"]].min(axis=1)
    )[judged]
    worst = short.idxmax()
    row = table.loc[worst]
    assert f"({worst}: R-hat {row['r_hat']:.3f}, bulk ESS {row['ess_bulk']:.0f}" in said
    assert "wanted: R-hat at most 1.01, bulk and tail ESS at least 400" in said
    assert "Sampling ended at max_draws=40." in said
    assert "set_params(warm_start=True, draws__max_draws=80)" in said
    model.set_params(warm_start=True, draws__max_draws=80).fit(X, Y)  # what it says works
    assert plan_of(model) == (30, 40, 2)


def test_the_progress_line_shows_r_hat_and_ess(monkeypatch, capsys):
    monkeypatch.setattr("sparsekern._progress._SHOW_AFTER_SECONDS", -1.0)
    make(**NEVER, draws__max_draws=40, progress=True).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert "wanted: R-hat 1.01, ESS 1e+09" in lines[0] and "s left" not in "".join(lines)
    assert "100%" in lines[-1] and "R-hat" in lines[-1] and "ESS" in lines[-1]


def test_the_line_fits_and_goes_on_where_it_was(monkeypatch):
    monkeypatch.setattr("sparsekern._progress._SHOW_AFTER_SECONDS", -1.0)
    stream = io.StringIO()
    progress = TextProgress("KernelProjectionClassifier: 4 chains", 2, stream)
    progress.update(0, 1.0)
    progress.update(1, 1.0)
    progress.note = "R-hat 1.034, ESS 180"
    progress.begin_round(0.5)
    progress.close()
    last = stream.getvalue().splitlines()[-1]
    assert " 50%" in last and "R-hat 1.034, ESS 180" in last and len(last) <= 79


def test_callbacks_hear_a_fraction_that_never_falls(monkeypatch):
    monkeypatch.setattr(chains_module, "_LEG_SECONDS", 0.0)
    watcher = Watcher()
    make(**NEVER, draws__max_draws=160).set_callbacks(watcher).fit(X, Y)
    for chain in (0, 1):
        steps = [step for number, step in watcher.steps if number == chain]
        assert steps == list(range(100))
    early = Watcher()
    make(**EASY, draws__max_draws=160).set_callbacks(early).fit(X, Y)
    assert len(early.steps) == 2 * (100 * 50 // 190)


# -- what is judged -------------------------------------------------------------------------------


def judged_names(monkeypatch, model, y):
    seen = []
    fake_standing(monkeypatch, lambda table: (seen.append(list(table.index)), (1.0, 1e9))[1])
    model.fit(X, y)
    return {name.partition("[")[0] for name in seen[0]}, seen[0]


def test_density_predictions_sizes_and_length_scales_are_judged(monkeypatch):
    names, _ = judged_names(monkeypatch, make(learn_length_scale="shared"), Y)
    assert names == {"log_likelihood", "probability", "n_active", "length_scale"}
    names, _ = judged_names(monkeypatch, make(DoublySparseRegressor), T)
    assert names == {
        "log_likelihood", "mean", "n_active", "n_features", "inverse_length_scale"
    }  # fmt: skip


def test_every_member_of_one_vs_rest_is_judged(monkeypatch):
    classes = np.digitize(T, [-0.5, 0.5])
    model = make(likelihood="logit")
    _, names = judged_names(monkeypatch, model, classes)
    assert names.count("log_likelihood") == names.count("n_active") == 3
    monkeypatch.undo()
    # one that is worse than the others is named
    found = make(likelihood="logit", draws__max_draws=20)
    with pytest.warns(ConvergenceWarning, match=r"R-hat .*\[.*[012]\]"):
        found.fit(X, classes)


@pytest.mark.parametrize(
    ("kind", "y", "options"),
    [
        (GKMRegressor, T, {}),
        (SparseGPClassifier, Y, {}),
        (DoublySparseRegressor, T, {}),
        (KernelProjectionClassifier, Y, {"inference": "polya_gamma", "length_scale": 1.0}),
        (PCVMClassifier, Y, {"inference": "mcmc", "length_scale": 1.0}),
    ],
)
def test_every_sampler_goes_on_as_in_one_piece(kind, y, options):
    """While nothing is thinned out; after that other draws of the coefficients are made."""
    plain = options | {"thin": 1}
    model = make(kind, **plain, **NEVER, draws__max_draws=40).fit(X, y)
    assert plan_of(model) == (30, 40, 1)
    whole = make(kind, **plain, draws=40).fit(X, y)
    assert_alike(model, whole)
    thinned = make(kind, **plain, **NEVER, draws__max_draws=80).fit(X, y)
    assert plan_of(thinned) == (30, 40, 2)
    assert_alike(thinned, whole, lambda values: values[:, :20], lambda values: values[:, 1::2])


def assert_alike(one, two, first=lambda values: values, second=lambda values: values):
    """Compare up to the rounding of a factor that is rebuilt between rounds."""
    these, those = (m.posterior_["posterior"].data_vars for m in (one, two))
    for name in these:
        np.testing.assert_allclose(
            first(these[name].to_numpy()), second(those[name].to_numpy()), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"chains": 1},
        {"tune": 0},
        {"thin": 3},
        {"chains": 1, "tune": 0, "thin": 2, "draws__max_draws": 1},
        {"draws__max_draws": 1},
        {"draws__max_draws": 3},
        {"draws__max_draws": 5},
        {"draws__max_draws": 7},
    ],
    ids=str,
)
def test_odd_sizes(changes):
    model = make(**{"draws__max_draws": 70} | NEVER | changes)
    with pytest.warns(ConvergenceWarning, match=r"set_params\(warm_start=True, draws__max_draws="):
        model.fit(X, Y)
    most, (tune, draws, thin) = model.draws.max_draws, plan_of(model)
    assert tune == model.tune and most * model.thin - thin < draws * thin <= most * model.thin
    assert model.predict(X).shape == (24,)


def test_what_never_moves_is_judged_as_converged():
    """A prior that keeps every row active: the number of vectors is constant."""
    model = make(priors=GKMPriors(sparse=False), **EASY)
    model.fit(X, Y)
    assert np.isnan(model.diagnostics_.loc["n_active", "r_hat"])
    assert plan_of(model) == (30, 20, 1)


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "kind", "words"),
    [
        ("many", ValueError, "draws must be a whole number, 'auto' or a .*UntilConverged, got 'ma"),
        (
            None,
            TypeError,
            "draws must be a whole number, 'auto' or a .*, got None of type NoneType",
        ),
        (2.5, TypeError, "draws must be a whole number, 'auto' or a .*, got 2.5 of type float"),
        (True, TypeError, "draws must be a whole number, 'auto' or a .*, got True of type bool"),
        (0, ValueError, "draws must be at least 1, got 0"),
        (GKMPriors(), TypeError, "draws must be a sparsekern.settings.UntilConverged or 'auto', g"),
    ],
)
def test_draws_that_cannot_be_are_refused(draws, kind, words):
    for model in (make(draws=draws), KernelProjectionClassifier(draws=draws)):
        with pytest.raises(kind, match=words):
            model.fit(X, Y)


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ({"r_hat": 1.0}, ValueError, "UntilConverged.r_hat must be larger than 1, got 1.0"),
        ({"r_hat": "1.1"}, TypeError, "UntilConverged.r_hat must be a positive number"),
        ({"max_draws": 0}, ValueError, "UntilConverged.max_draws must be at least 1, got 0"),
        ({"max_draws": 10.5}, TypeError, "UntilConverged.max_draws must be a whole number"),
        ({"max_seconds": -1}, ValueError, "UntilConverged.max_seconds must be positive"),
        ({"ess": np.nan}, ValueError, "UntilConverged.ess must be positive and finite"),
    ],
)
def test_limits_that_cannot_be_are_refused(values, kind, words):
    with pytest.raises(kind, match=words):
        UntilConverged(**values)
    with pytest.raises(kind, match=words):
        make(**{f"draws__{name}": value for name, value in values.items()})


def test_limits_are_parameters():
    model = make(draws__max_draws=50)
    assert model.draws == UntilConverged(max_draws=50)
    assert model.get_params()["draws__max_draws"] == 50
    assert clone(model).draws == model.draws == pickle.loads(pickle.dumps(model)).draws
    assert GKMClassifier().get_params()["draws__ess"] == 400.0
    assert "draws__ess" not in GKMClassifier(draws=5).get_params()
    assert resolve_draws("auto") == UntilConverged() and resolve_draws(np.int64(7)) == 7
    with pytest.raises(TypeError, match=r"set_params\(draws='auto', draws__max_draws=\.\.\.\)"):
        GKMClassifier(draws=5).set_params(draws__ess=100)
    assert GKMClassifier(draws=5).set_params(draws="auto", draws__ess=9).draws.ess == 9.0


def test_a_grid_search_over_what_is_wanted():
    grid = {"draws__ess": [2.0, 3.0], "draws__max_draws": [20]}
    search = GridSearchCV(make(draws__r_hat=100.0), grid, cv=2).fit(X, Y)
    assert search.best_estimator_.draws.max_draws == 20
    assert search.best_estimator_.n_draws_ == 20
