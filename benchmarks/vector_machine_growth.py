"""One default PCVM fit in a process of its own: ``python vector_machine_growth.py ROWS``."""

from __future__ import annotations

import json
import sys
import warnings

from measuring import seconds
from memory_fit import peak_megabytes
from threadpoolctl import threadpool_limits

from sparsekern import PCVMClassifier
from sparsekern.datasets import make_ringnorm


def main() -> int:
    n = int(sys.argv[1])
    X, y = make_ringnorm(n + 5000, random_state=0)
    model = PCVMClassifier(progress=False, random_state=0)
    small = PCVMClassifier(progress=False)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small.fit(X[:60], y[:60])
        spent = seconds(lambda: model.fit(X[:n], y[:n]))
        error = 100.0 * float((model.predict(X[n:]) != y[n:]).mean())
    print(json.dumps({
        "time": spent, "MB": peak_megabytes(), "error": error,
        "vectors": len(model.active_vectors_),
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
