# Everything a newcomer or a CI machine runs. Needs make and Python 3.11 or later; no compiler.
#
#   make demo     see biela at work
#   make test     the whole gate: format, lint, types, imports, coverage pages, tests
#   make lint     the same without the tests
#   make suite    the tests alone
#   make soak     thousands of random mechanisms, linkages and linear systems against oracles (hours)
#   make bench    measure against peers (installs CasADi and SymPy)
#   make bench-symbolic  only the sizes and times of symbolic derivations
#   make docs     build the site into site/
#   make clean    remove what the above made, but not .venv
#
# Another interpreter:    make test PYTHON=python3.12
# A part of the tests:    make test PYTEST_ARGS="-k atoms"
# A shorter soak:         make soak SOAK_ARGS="--count 200 --seed 500"

PYTHON      ?= python3
PYTEST_ARGS ?=
SOAK_ARGS   ?=

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test suite lint soak bench bench-symbolic docs clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.installed-run
	@$(BIN)/biela demo

test: lint suite

suite: $(VENV)/.installed-test
	$(BIN)/pytest -n 2 --dist worksteal $(PYTEST_ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_coverage.py

soak: $(VENV)/.installed-test $(VENV)/.installed-bench
	@$(BIN)/python -m tests.soak.saddle_systems --count 1000
	@$(BIN)/python -m tests.soak.driven_motion --linkages 33
	@$(BIN)/python -m tests.soak.free_motion --starts 100
	@$(BIN)/python -m tests.soak.killed_commands --kills 50
	@$(BIN)/python -m tests.soak --count 10000 $(SOAK_ARGS)

bench: $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks

bench-symbolic: $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks symbolic

docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf build dist site out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -f $(VENV)/.installed-*
	find src tests tools docs benchmarks examples -type d -name __pycache__ -prune \
	    -exec rm -rf {} + 2>/dev/null || true

# --- environment ----------------------------------------------------------------------------------
# A stamp inside .venv says that the extras it is named after are installed for the present
# pyproject.toml. An environment made by hand is taken as it is and completed.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "biela needs Python 3.11 or later, and '$(PYTHON)' is" \
	         "$$($(PYTHON) --version 2>/dev/null || echo missing)." \
	         "Name another: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' cannot make environments; on Debian or Ubuntu install python3-venv" >&2; \
	    exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

EXTRAS-run   :=
EXTRAS-test  := [test,lint,sympy]
EXTRAS-docs  := [docs]
EXTRAS-bench := [bench]

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo "installing biela$(EXTRAS-$*) into $(VENV)"
	@$(PIP) install --editable ".$(EXTRAS-$*)"
	@touch $@
