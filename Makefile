# One command each: `make run` shows your history, `make test` proves the rest. Everything is set up on the way.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test web-assets lint compat soak bench docs prices clean

run: $(STAMP)
	@$(BIN)/recollect overview --or-demo

test: $(STAMP) lint web-assets
	$(BIN)/python -m pytest -q -n auto -m "not compat and not browser" tests
	$(BIN)/python -m pytest -q -n auto -m browser tests/browser

web-assets: $(STAMP)
	$(BIN)/python hatch_build.py --for-tests
	@$(BIN)/python -m tests.browser.chromium

compat: $(STAMP)
	$(BIN)/python -m pytest -q -m compat tests/compat

soak: $(STAMP)
	RECOLLECT_SOAK=1 $(BIN)/python -m pytest -q -n auto --timeout=0 tests/faults

lint: $(STAMP)
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m bench

docs: $(STAMP)
	$(BIN)/python -m recollect.cli.reference docs
	$(BIN)/python -m tests.house.console_samples --write

prices: $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade genai-prices
	$(BIN)/python -m recollect.analysis.prices.refresh
	@echo "then pin the version that table.json names in pyproject.toml"

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -q --disable-pip-version-check -e . --group dev --group compat
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist .cache .mypy_cache .ruff_cache .hypothesis
