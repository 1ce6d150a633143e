"""What the vector machines fitted by evidence share: parameters, candidates, fits side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._checks import check_choice, check_count, check_flag, check_positive
from .._jit import mark_compiled
from ..inference.mcmc.blas_threads import single_blas_thread
from ..inference.mcmc.chains import count_workers
from ..inference.vector_machine.classification import BLOCK_SIZE, Candidates, find_candidates
from ..inference.vector_machine.columns import HELD_NUMBERS
from ..inference.vector_machine.weights import model_weights
from .all_or_nothing import AllOrNothing
from .candidates import resolve_candidates
from .kernel_inputs import KernelInputs
from .kernel_widths import KernelWidths
from .progress import TextProgress, announce_compilation, wants_text
from .sampling import warn_caller

Task = Callable[[Callable[[], None]], Any]
_ENGINE = "vector_machine"
_LEAST_CANDIDATES = 1000


class VectorMachine(AllOrNothing, KernelWidths, KernelInputs, BaseEstimator):
    """Base of the estimators; subclasses say what is fitted at each width and how it predicts."""

    min_gain: float | None
    bias_precision: float
    candidates: Any
    max_active: int | None
    max_steps: int
    kernel_precision: str
    progress: Any
    n_jobs: int | None
    random_state: Any

    _mark_of_a_fit = "active_vectors_"

    def _check_machine_parameters(self) -> None:
        self._check_widths()
        check_flag("standardize", self.standardize)
        if self.min_gain is not None:
            check_positive("min_gain", self.min_gain)
        check_positive("bias_precision", self.bias_precision)
        if self.max_active is not None:
            check_count("max_active", self.max_active)
        check_count("max_steps", self.max_steps)
        check_choice("kernel_precision", self.kernel_precision, ("double", "single"))
        check_choice("progress", self.progress, ("auto", True, False))
        if self.n_jobs is not None and check_count("n_jobs", self.n_jobs, -(10**6)) == 0:
            raise ValueError("n_jobs must not be 0; use None or 1 for one thread, -1 for all.")

    def _find_candidates(self, features: np.ndarray, labels: np.ndarray | None) -> Candidates:
        """Return the rows that may become active, in the order in which they are looked at."""
        rng = check_random_state(self.random_state)
        rows = resolve_candidates(self.candidates, features, self._is_precomputed(), rng)
        if rows is None:
            # so many that their columns can be held
            count = max(_LEAST_CANDIDATES, HELD_NUMBERS // len(features))
            rows = np.arange(len(features))
            if self.candidates is None and count < len(rows):
                rows = np.sort(rng.choice(rows, count, replace=False))
        # a precomputed matrix holds columns of the design as its columns
        table = features.T if self._is_precomputed() else features
        found = find_candidates(table, labels, rows)
        if len(found.rows) > BLOCK_SIZE:  # blocks of neighbours would be poor samples of all rows
            order = rng.permutation(len(found.rows))
            found = found.reordered(order)
        return found

    def _largest_model(self, n_candidates: int) -> int:
        return n_candidates if self.max_active is None else min(self.max_active, n_candidates)

    def _run(self, tasks: list[Task]) -> list[Any]:
        """Carry out independent fits, ``n_jobs`` at a time; Ctrl-C ends them all."""
        name, ended = type(self).__name__, threading.Event()
        text = None
        if wants_text(self.progress, False):
            text = TextProgress(f"{name}: {len(tasks)} fits", len(tasks))
        if self.progress is not False:
            announce_compilation(name, [_ENGINE])

        def check() -> None:
            if ended.is_set():
                raise KeyboardInterrupt

        def carry_out(number: int) -> Any:
            found = tasks[number](check)
            if text is not None:
                text.update(number, 1.0)
            return found

        workers = count_workers(self.n_jobs, len(tasks))
        try:
            with single_blas_thread():
                if workers == 1:
                    results = [carry_out(number) for number in range(len(tasks))]
                else:
                    with ThreadPoolExecutor(workers) as pool:
                        futures = [pool.submit(carry_out, number) for number in range(len(tasks))]
                        try:
                            wait(futures, return_when=FIRST_EXCEPTION)
                        finally:
                            ended.set()
                        results = [future.result() for future in futures]
        finally:
            if text is not None:
                text.close()
        mark_compiled(_ENGINE)
        return results

    def _weigh(self, fits: list[Any], held_out: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Return the weight of each width."""
        if len(fits) == 1:
            return np.ones(1)
        if self.length_scale == "evidence":
            return np.eye(len(fits))[int(np.argmax([fit.evidence for fit in fits]))]
        left_out = np.stack([fit.log_left_out for fit in fits])
        if self.length_scale == "loo":
            return np.eye(len(fits))[int(np.argmax(left_out.mean(axis=1)))]
        if self.length_scale == "cv":  # every choice was made without the rows held out
            for number, (held, log_density) in enumerate(held_out):
                left_out[number % len(fits), held] = log_density
            return model_weights(left_out, np.zeros(len(fits)))
        return model_weights(left_out, np.array([fit.n_columns for fit in fits]))

    def _warn_unless_finished(self, converged: list[bool]) -> None:
        missed = converged.count(False)
        if missed:
            warn_caller(
                f"{missed} of {len(converged)} fits ended after max_steps={self.max_steps} steps, "
                "while there was still something to gain; raise max_steps, raise min_gain, or "
                "narrow length_scale_range from below.",
                ConvergenceWarning,
            )
