"""One fit in a process of its own, for :mod:`many_rows` and :mod:`interrupts`.

``python many_rows_fit.py ESTIMATOR ROWS OPTIONS``: prints a line of JSON before the fit and one
after it. The options, JSON too, are parameters that are not at their defaults.
"""

from __future__ import annotations

import json
import signal
import sys
import warnings
from typing import Any

import numpy as np
from memory_fit import peak_megabytes

import sparsekern

_FEATURES, _FEW = 10, 150


def make_data(name: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth function of three features with noise, or its sign."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((rows, _FEATURES))
    noisy = np.sin(2.0 * features[:, 0]) + features[:, 1] * features[:, 2]
    noisy += 0.5 * rng.standard_normal(rows)
    return features, noisy if name.endswith("Regressor") else (noisy > 0.0).astype(int)


def compile_first(name: str, options: dict[str, Any]) -> None:
    """Fit a few rows, so that the compiler has no part in what is measured."""
    # names and flags choose what is compiled, numbers how long it runs
    chosen = {key: value for key, value in options.items() if isinstance(value, (str, bool))}
    model = getattr(sparsekern, name)(random_state=0, progress=False).set_params(**chosen)
    short = {"draws": 20, "tune": 20, "chains": 1}
    model.set_params(**{key: short[key] for key in short.keys() & model.get_params().keys()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*make_data(name, _FEW))


def main(name: str, rows: int, options: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    compile_first(name, options)
    features, target = make_data(name, rows)
    model = getattr(sparsekern, name)(random_state=0).set_params(**options)
    print(json.dumps({"event": "begin"}), flush=True)
    try:
        model.fit(features, target)
        kept = getattr(model, "n_draws_", None)
        wanted = getattr(model, "draws", None)
        of = f" of {wanted}" if isinstance(wanted, int) else ""
        outcome = "returned" if kept is None else f"returned with {kept}{of} draws"
    except KeyboardInterrupt as error:
        outcome = f"KeyboardInterrupt {error}".strip()
    except (ValueError, MemoryError, RuntimeError, FloatingPointError) as error:
        outcome = f"{type(error).__name__}: {error}"
    end = {"event": "end", "outcome": outcome, "MB": peak_megabytes() * 2.0**20 / 1e6}
    print(json.dumps(end), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
