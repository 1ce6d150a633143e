# Every target sets up what it needs. PYTHON may name another interpreter (3.11 or newer).
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# each process begins with one half of the tests, in order, so that what a file shares is made once
WORKERS := -n 2 --dist worksteal
# one BLAS thread a process: two processes with two threads each fight for two cores, 3 times as slow
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

.PHONY: setup demo test test-all bench cases lint clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sparsekern needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@echo 'Compiling the samplers, once for this machine (four minutes or so) ...'
	$(BIN)/python -W ignore examples/compile.py
	touch $(STAMP)

demo: setup
	$(BIN)/python examples/demo.py

test: setup
	$(PYTEST) -m "not slow" $(WORKERS)

test-all: setup
	$(PYTEST) $(WORKERS)

bench: setup
	$(BIN)/python benchmarks/run.py

# the simulated designs of the doubly-sparse paper, one after the other (an hour or two)
cases: setup
	$(BIN)/python benchmarks/run.py doubly_sparse_cases

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv .mutations .pytest_cache .ruff_cache .mypy_cache demo-output
