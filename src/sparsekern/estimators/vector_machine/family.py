"""What the vector machines fitted by evidence share: parameters, candidates, fits side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, check_positive
from ..._jit import mark_compiled
from ..._threads import count_workers, single_blas_thread
from ...inference.feature_search.subsample import spread_rows
from ...inference.vector_machine.classification import BLOCK_SIZE, Candidates, find_candidates
from ...inference.vector_machine.columns import HELD_NUMBERS
from ..shared.candidates import resolve_candidates
from ..shared.counts import check_count, check_jobs
from ..shared.estimator import Estimator
from ..shared.kernel_widths import check_widths
from ..shared.memory_guard import require_memory
from ..shared.progress import TextProgress, announce_compilation, wants_text
from ..shared.sampling import warn_caller

Task = Callable[[Callable[[], None]], Any]
_ENGINE = "vector_machine"
_USUAL_MODEL = 200  # vectors
_USUAL_STEPS = 300  # of a fit; of so many, half of it is taken to be done


class VectorMachine(Estimator):
    """Base of the estimators; subclasses say what is fitted at each width and how it predicts."""

    length_scale: Any
    n_length_scales: int
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
    # candidates=None: so many at least, and at most this many numbers in their columns
    _candidate_numbers = (1000, HELD_NUMBERS)

    def _check_machine_parameters(self) -> None:
        check_widths(self)
        check_flag("standardize", self.standardize)
        if self.min_gain is not None:
            check_positive("min_gain", self.min_gain)
        check_positive("bias_precision", self.bias_precision)
        if self.max_active is not None:
            check_count("max_active", self.max_active)
        check_count("max_steps", self.max_steps)
        check_choice("kernel_precision", self.kernel_precision, ("double", "single"))
        check_choice("progress", self.progress, ("auto", True, False))
        check_jobs(self.n_jobs)

    def _count_candidates(self, n: int) -> int:
        """Return how many rows ``candidates=None`` looks at: their columns can be held."""
        least, numbers = self._candidate_numbers
        return min(n, max(least, numbers // n))

    def _find_candidates(
        self, features: np.ndarray, response: np.ndarray, signed: bool
    ) -> Candidates:
        """Return the rows that may become active, in the order in which they are looked at."""
        rng = check_random_state(self.random_state)
        rows = resolve_candidates(self.candidates, features, self._is_precomputed(), rng)
        if rows is None:
            count = self._count_candidates(len(features))
            rows = np.arange(len(features))
            if self.candidates is None and count < len(rows):
                rows = spread_rows(response, count, rng)
        # a precomputed matrix holds columns of the design as its columns
        table = features.T if self._is_precomputed() else features
        found = find_candidates(table, response if signed else None, rows)
        if len(found.rows) > BLOCK_SIZE:  # blocks of neighbours would be poor samples of all rows
            order = rng.permutation(len(found.rows))
            found = found.reordered(order)
        return found

    def _say_sample(self, n: int) -> None:
        """Say so where only some of many rows may become active."""
        count = self._count_candidates(n)
        if self.candidates is None and count < n:
            warn_caller(
                f"{type(self).__name__} lets {count} of the {n} rows become active, a random "
                "sample spread over y, to save time and memory. Set candidates, "
                f"for example candidates={count // 2} to be quicker, or fit to fewer rows."
            )

    def _require_room(self, n: int, candidates: int) -> None:
        """Refuse columns that cannot be held."""
        workers = count_workers(self.n_jobs, self.n_length_scales)
        require_memory(
            workers * self._bytes_of_a_fit(n, candidates),
            type(self).__name__,
            f"{candidates} columns of {n} rows in each of {workers} fits at a time",
            f"use candidates={max(1, candidates // 4)}, fewer n_jobs or a sample of the rows",
        )

    def _bytes_of_a_fit(self, n: int, candidates: int) -> float:
        """Return what a fit holds at its peak: columns outside the model, and those inside."""
        size = 4 if self.kernel_precision == "single" else 8
        block = min(candidates, BLOCK_SIZE) * n
        inside = 8.0 * 3 * min(self._largest_model(candidates), _USUAL_MODEL) * n
        if candidates * n > HELD_NUMBERS:  # blocks are made again and again
            return size * 3 * block + inside
        return size * candidates * n + max(8 * 2 * block, inside)  # made once, then the fit

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

        def carry_out(number: int) -> Any:
            steps = 0

            def report() -> None:
                nonlocal steps
                steps += 1
                if ended.is_set():
                    raise KeyboardInterrupt
                if text is not None:  # nobody knows how many steps there will be
                    text.update(number, steps / (steps + _USUAL_STEPS))

            found = tasks[number](report)
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

    def _warn_unless_finished(self, converged: list[bool]) -> None:
        missed = converged.count(False)
        if missed:
            warn_caller(
                f"{missed} of {len(converged)} fits ended after max_steps={self.max_steps} steps, "
                "while there was still something to gain; raise max_steps, raise min_gain, or "
                "narrow length_scale_range from below.",
                ConvergenceWarning,
            )
