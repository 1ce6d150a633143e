"""Columns that are no numbers, and names that are not unique, are named in the message."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from tiny_estimators import NAMES, ROWS, make, predict, target

N = len(ROWS)
DAYS = pd.date_range("2020-01-01", periods=N)
TEXT = [f"town {i}" for i in range(N)]
PANDAS = {
    "dates": (DAYS, "dates or times"),
    "dates of a zone": (DAYS.tz_localize("UTC"), "dates or times"),
    "durations": (pd.to_timedelta(np.arange(N), unit="s"), "dates or times"),
    "texts": (TEXT, "no numbers"),
    "strings": (pd.array(TEXT, dtype="string"), "no numbers"),
    "categories": (pd.Categorical(TEXT), "no numbers"),
    "objects": ([{}] * N, "no numbers"),
    "periods": (pd.period_range("2020", periods=N), "no numbers"),
    "complex": (np.arange(N) + 1j, "complex numbers.*Complex data not supported"),
}
POLARS = {
    "dates": ([day.date() for day in DAYS], "dates or times"),
    "moments": (list(DAYS.to_pydatetime()), "dates or times"),
    "durations": ([datetime.timedelta(i) for i in range(N)], "dates or times"),
    "clock times": ([datetime.time(i % 24) for i in range(N)], "no numbers"),
    "texts": (TEXT, "no numbers"),
    "categories": (pl.Series(TEXT, dtype=pl.Categorical), "no numbers"),
    "lists": ([[1.0]] * N, "no numbers"),
}


def frame_with(library, values, alone=False):
    columns = {"when": values} if alone else {"a": ROWS[:, 0], "when": values, "b": ROWS[:, 1]}
    return library.DataFrame(columns)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("library", "kind"), [(pd, kind) for kind in PANDAS] + [(pl, kind) for kind in POLARS]
)
def test_columns_that_are_no_numbers(library, kind, alone):
    values, words = (PANDAS if library is pd else POLARS)[kind]
    with pytest.raises(ValueError, match=r"X holds .* in the columns 'when'; ") as found:
        make("RVMRegressor").fit(frame_with(library, values, alone), target("RVMRegressor"))
    found.match(words)


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_names_the_columns(name):
    y = target(name)
    with pytest.raises(ValueError, match=r"X holds dates or times in the columns 'when'"):
        make(name).fit(frame_with(pd, DAYS), y)
    with pytest.raises(ValueError, match=r"X holds values that are no numbers in the columns"):
        make(name).fit(frame_with(pl, TEXT), y)
    twice = pd.DataFrame(ROWS, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="X has more than one column of the name 'a'; give"):
        make(name).fit(twice, y)
    with pytest.raises(ValueError, match=r"X holds dates or times \(datetime64"):
        make(name).fit(DAYS.to_numpy()[:, None], y)
    model = make(name).fit(pd.DataFrame(ROWS, columns=["a", "b", "c"]), y)
    with pytest.raises(ValueError, match=r"X holds dates or times in the columns 'when'"):
        model.predict(frame_with(pd, DAYS))
    with pytest.raises(ValueError, match="X has more than one column of the name 'a'"):
        model.predict(twice)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Regressor")])
def test_responses_that_are_dates(name):
    for y in (DAYS, DAYS - DAYS[0], DAYS.to_numpy(), pd.Series(DAYS)):
        with pytest.raises(ValueError, match="y holds dates or times"):
            make(name).fit(ROWS, y)


def test_all_columns_at_fault_are_named_up_to_ten():
    frame = pd.DataFrame({f"t{i}": TEXT for i in range(12)})
    with pytest.raises(ValueError, match=r"'t0', .*'t9' and 2 more;"):
        make("RVMRegressor").fit(frame, target("RVMRegressor"))
    both = pd.DataFrame(np.ones((N, 5)), columns=["a", "b", "b", "a", "c"])
    with pytest.raises(ValueError, match="'a', 'b'; give"):
        make("RVMRegressor").fit(both, target("RVMRegressor"))


def test_columns_that_can_be_read_as_numbers_are_read():
    whole = np.arange(N) % 5
    plain = make("RVMRegressor").fit(
        np.column_stack([whole, whole > 2, ROWS[:, 0]]), target("RVMRegressor")
    )
    frames = [
        pd.DataFrame({"a": whole, "b": whole > 2, "c": ROWS[:, 0]}),
        pd.DataFrame(
            {
                "a": pd.Categorical(whole),
                "b": pd.array(whole > 2, dtype="boolean"),
                "c": ROWS[:, 0].astype(object),
            }
        ),
        pd.DataFrame({"a": pd.array(whole, dtype="Int64"), "b": whole > 2, "c": ROWS[:, 0]}),
        pl.DataFrame({"a": [str(v) for v in whole], "b": whole > 2, "c": ROWS[:, 0]}),
    ]
    for frame in frames:
        model = make("RVMRegressor").fit(frame, target("RVMRegressor"))
        assert_array_equal(predict(model, frame), plain.predict(np.asarray(frames[0], float)))
