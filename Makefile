# One command each: `make run` shows your history, `make test` proves the rest. Everything is set up on the way.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check

.PHONY: run test quick web-assets lint coverage mutants compat soak bench docs prices release clean

run: $(RUNS)
	@$(BIN)/recollect overview --or-demo

test: $(STAMP) lint web-assets
	$(BIN)/python -m pytest -q -n auto -m "not compat and not browser" tests
	$(BIN)/python -m pytest -q -n auto -m browser tests/browser

quick: $(STAMP)
	$(BIN)/python -m tests.house.quick

coverage: $(STAMP)
	$(BIN)/python -m tests.house.coverage_held

mutants: $(STAMP)
	$(BIN)/python -m tests.house.mutants

web-assets: $(STAMP)
	$(BIN)/python hatch_build.py --for-tests
	@$(BIN)/python -m tests.browser.chromium

compat: $(STAMP)
	$(BIN)/python -m pytest -q -m compat tests/compat

soak: $(STAMP)
	RECOLLECT_SOAK=1 $(BIN)/python -m pytest -q -n auto --timeout=0 tests/faults tests/web/test_web_request_fuzz.py \
		tests/vault/test_verify.py tests/vault/test_clocks_and_growth.py tests/cli/test_clocks.py

lint: $(STAMP)
	$(BIN)/ruff check src tests bench tools
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m bench

docs: $(STAMP)
	$(BIN)/python -m tools.reference docs
	$(BIN)/python -m tests.house.console_samples --write

prices: $(STAMP)
	$(PIP) --upgrade genai-prices
	$(BIN)/python -m recollect.analysis.prices.refresh
	@echo "then pin the version that table.json names in pyproject.toml"

# What running needs; the tools of the tests come on top of it, into the same folder.
$(RUNS): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('Recollect needs Python 3.11 or later, and $(PYTHON) is %d.%d: say make PYTHON=python3.11' % sys.version_info[:2])"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $(RUNS)

$(STAMP): $(RUNS)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --group dev --group compat
	touch $(STAMP)

release: $(STAMP)
	$(BIN)/python -m tests.house.release $(VERSION)

clean:
	rm -rf $(VENV) build dist .cache .mypy_cache .ruff_cache .hypothesis
