"""One small fit of one estimator in this process: what it compiled, and how long that took."""

from __future__ import annotations

import json
import sys
import time
import warnings

from numba.core import event

_COMPILE = "numba:compile"


class Compilations(event.Listener):
    """Processor seconds of every compilation, those it waits for taken out."""

    def __init__(self) -> None:
        self.seconds: list[tuple[float, str]] = []
        self._waiting: list[list[float]] = []

    def on_start(self, event):
        """Note the time."""
        self._waiting.append([time.process_time(), 0.0])

    def on_end(self, event):
        """Count what was spent on this function alone."""
        begin, inside = self._waiting.pop()
        spent = time.process_time() - begin
        if self._waiting:
            self._waiting[-1][1] += spent
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.seconds.append((spent - inside, name))


def main(name: str) -> None:
    import numpy as np

    import sparsekern

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=20)
    kind = getattr(sparsekern, name)
    short = {"draws": 2, "tune": 2, "chains": 1, "progress": False, "random_state": 0}
    model = kind()
    model.set_params(**{key: value for key, value in short.items() if key in model.get_params()})
    found = Compilations()
    event.register(_COMPILE, found)
    begin = time.process_time()
    model.fit(X, (y > 0).astype(int) if name.endswith("Classifier") else y).predict(X)
    spent = time.process_time() - begin
    slowest = sorted(found.seconds, reverse=True)[:3]
    print(json.dumps({"seconds": spent, "compiled": len(found.seconds), "slowest": slowest}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
