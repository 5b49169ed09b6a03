# Everything a fresh machine with Python 3.11+ and make needs. Each target sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# Tests start hundreds of processes: what one of them has compiled the next need not compile again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test test-more test-costs test-slow test-fuzz test-explore test-services test-spark check format bench bench-full wheels lock clean

help:            ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/'

setup: $(STAMP)  ## the environment in .venv, so that .venv/bin/privet is the command

# uv installs exactly what requirements.lock says (versions and hashes); pip is enough to fetch uv.
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

# uv compiles nothing; what every command loads takes half a second of each run where nobody may write it later.
LOADED := click typer numpy polars _polars_runtime_32 typing_extensions.py

$(STAMP): pyproject.toml requirements.lock $(wildcard src/privet/native/*.[ch]) | $(BIN)/uv
	$(UV) pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(UV) pip install --quiet --no-deps --editable .
	$(BIN)/python -m privet.native
	$(BIN)/python -m compileall -q src/privet $(foreach one,$(LOADED),$(VENV)/lib/python3*/site-packages/$(one))
	touch $(STAMP)

demo: $(STAMP)   ## the main job on built-in sample data
	$(BIN)/privet demo

# What is run before each commit, and what is left of the suite: CI runs both, `pytest` alone runs them as one.
USUAL := not slow and not services

test: $(STAMP)   ## the default test suite
	$(BIN)/pytest -q -n auto --dist worksteal -m "$(USUAL) and not more"

test-more: $(STAMP)      ## what `make test` leaves out because it is dear
	$(BIN)/pytest -q -n auto --dist worksteal -m "$(USUAL) and more"

test-costs: $(STAMP)     ## measures what each test costs, by which the two share them: tests/dear.tsv
	$(BIN)/python -m pytest -q -n auto --dist worksteal -p tests.costs

test-slow: $(STAMP)      ## statistical, soak and large-data tests
	$(BIN)/pytest -q -m slow

SECONDS_OF_FUZZ ?= 180
JOBS_OF_FUZZ ?= 1
test-fuzz: $(STAMP)      ## damaged files through every command; hours with SECONDS_OF_FUZZ=7200, all cores with JOBS_OF_FUZZ=8
	$(BIN)/python -m tests.fuzz.runner --seconds $(SECONDS_OF_FUZZ) --jobs $(JOBS_OF_FUZZ) --start $$(date +%s) --keep

test-explore: $(STAMP)   ## both with new random examples on every run
	PRIVET_HYPOTHESIS=explore $(BIN)/pytest -q -n auto --dist worksteal

test-services: $(STAMP)  ## tests that start a real PostgreSQL or browser
	$(BIN)/pytest -q -n auto --dist loadfile -m "services and not slow"

# Real Spark is large (half a gigabyte) and stands in the way of pyspark-client: an environment of its own.
SPARK := .venv-spark
$(SPARK)/.ready: pyproject.toml requirements.lock | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(SPARK)
	VIRTUAL_ENV=$(SPARK) $(BIN)/uv pip install --quiet "pyspark[connect]>=4.0" "pandas<3" pyarrow hypothesis pytest pytest-xdist -e ".[postgres]"
	$(SPARK)/bin/python -m privet.native
	touch $(SPARK)/.ready

test-spark: $(SPARK)/.ready  ## the engine `spark` on real Spark, local mode; needs Java 17 (Debian: openjdk-17-jre-headless)
	PRIVET_SPARK=local[2] $(SPARK)/bin/pytest -q -n0 -m services tests/engines/test_spark*.py

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

# The loops are built by zig, which builds for other machines too, against systems as old as its wheels may meet.
MACHINES ?= manylinux2014_x86_64 manylinux2014_aarch64 musllinux_1_1_x86_64 macosx_11_0_arm64 macosx_11_0_x86_64 \
	win_amd64 any
BUILDING := .venv-wheels
wheels: | $(BIN)/uv ## a source archive and wheels for every kind of machine, in dist/
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(BUILDING)
	VIRTUAL_ENV=$(BUILDING) $(BIN)/uv pip install --quiet hatchling ziglang
	$(BUILDING)/bin/python -m hatchling build -t sdist
	for machine in $(MACHINES); do PRIVET_WHEEL=$$machine $(BUILDING)/bin/python -m hatchling build -t wheel || exit 1; done

lock: | $(BIN)/uv ## write requirements.lock anew after pyproject.toml changed
	$(UV) pip compile --quiet --upgrade --universal --all-extras --group dev --generate-hashes \
		--override requirements.overrides --no-annotate --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:           ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis bench/out
