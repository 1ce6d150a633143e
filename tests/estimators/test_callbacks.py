"""scikit-learn's callbacks hear about every kind of fit, change nothing, and can end it."""

import warnings

import numpy as np
import pytest
from tiny_estimators import NAMES, ROWS, make, predict, target


class Listener:
    """Count tasks that begin and end; ask for the end after some."""

    def __init__(self, most=np.inf):
        self.begun, self.ended, self.open, self.most = [], 0, False, most

    def setup(self, estimator, context):
        self.open = True

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        return self.ended >= self.most

    def teardown(self, estimator, context):
        self.open = False


@pytest.mark.parametrize("name", NAMES)
def test_every_fit_is_told_about_and_none_is_changed(name):
    listener = Listener()
    model = make(name).set_callbacks(listener).fit(ROWS, target(name))
    assert listener.begun[0] == "fit" and len(listener.begun) > 2
    assert listener.ended == len(listener.begun) and not listener.open
    np.testing.assert_array_equal(predict(model), predict(make(name).fit(ROWS, target(name))))


@pytest.mark.parametrize("name", NAMES)
def test_a_callback_can_end_a_fit(name):
    whole, short = Listener(), Listener(most=1)
    long = {"draws": 2000, "tune": 2000} if "draws" in make(name).get_params() else {}
    make(name).set_callbacks(whole).fit(ROWS, target(name))
    model = make(name, **long).set_callbacks(short)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(ROWS, target(name))
        except RuntimeError as error:  # where there is nothing to keep
            assert str(error).startswith(f"A callback ended {name}")
    assert short.ended < whole.ended and not short.open
