# Everything a fresh machine with Python 3.11+ and make needs. Each target sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: help setup demo test test-slow test-explore test-services check format bench bench-full lock clean

help:            ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/'

setup: $(STAMP)  ## the environment in .venv, so that .venv/bin/privet is the command

# uv installs exactly what requirements.lock says (versions and hashes); pip is enough to fetch uv.
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

$(STAMP): pyproject.toml requirements.lock | $(BIN)/uv
	$(UV) pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(UV) pip install --quiet --no-deps --editable .
	$(BIN)/python -m privet.native
	$(BIN)/python -m compileall -q src/privet
	touch $(STAMP)

demo: $(STAMP)   ## the main job on built-in sample data
	$(BIN)/privet demo

test: $(STAMP)   ## the default test suite
	$(BIN)/pytest -q -n auto

test-slow: $(STAMP)      ## statistical, soak and large-data tests
	$(BIN)/pytest -q -m slow

test-explore: $(STAMP)   ## the default suite with new random examples on every run
	PRIVET_HYPOTHESIS=explore $(BIN)/pytest -q -n auto

test-services: $(STAMP)  ## tests that start a real PostgreSQL or browser
	$(BIN)/pytest -q -m services

check: $(STAMP)  ## format, lint, strict types, import arrows
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_rooms.py

format: $(STAMP) ## rewrite the code as the formatter wants it
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .

bench: $(STAMP)  ## a short form of every benchmark and experiment
	$(BIN)/python -m bench

bench-full: $(STAMP)     ## the whole of every benchmark and experiment
	$(BIN)/python -m bench --full

lock: | $(BIN)/uv ## write requirements.lock anew after pyproject.toml changed
	$(UV) pip compile --quiet --upgrade --universal --all-extras --group dev --generate-hashes \
		--override requirements.overrides --no-annotate --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:           ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis bench/out
