# Start here: `make demo` shows what fleetgate does, `make test` runs the tests, and `make check` runs
# the other checks of CI. The only prerequisite is Python 3.11 or newer (and, for the embedded fleet,
# a network connection, Go or the binaries: see `fleetgate local up --help`).

UV_VERSION := 0.13.8
UV := .uv/bin/uv
BIN := .venv/bin
# Test processes: with four, two can wait while the other two keep two cores busy.
WORKERS ?= 4
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
# Builds only pages that changed; in CI, which sets the variable CI, all of them.
SPHINX := $(BIN)/sphinx-build $(if $(CI),-E) -q -W -j auto docs docs/_build/html
HELM ?= helm
CHARTS := deploy/helm/fleetgate deploy/helm/fleetgate-agent
CHECKS := check-style check-types check-imports check-copies check-language check-packages check-docs

# The first interpreter that works and is new enough; `make PYTHON=...` selects another one.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)
# uv uses the interpreter above and never downloads its own.
export UV_PYTHON_DOWNLOADS := never
# Without cached bytecode, every command compiles all its modules, which takes half of its time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo programs test rings check docs bench soak dist clean $(CHECKS)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.in-step ## Create .venv with exactly the versions in uv.lock

demo: setup ## Roll a change out to a local fleet, step by step
	$(BIN)/fleetgate demo

programs: setup ## Get the programs that tests need, once per machine
	$(BIN)/python -m tests.support.programs

# If programs are missing, the tests that need none run while they are fetched; then the others run.
test: setup ## Run all tests
	$(BIN)/python -m tests.support.programs $(PYTEST) $(ARGS)

rings: programs ## Run all tests in both scopes, including the long ones
	$(PYTEST) --scopes both --long $(ARGS)

soak: programs ## Roll out while servers are killed and requests fail, then check the audit log
	$(BIN)/python -m tests.soak $(ARGS)

bench: programs ## Measure runs of 30, 100 and 1,000 clusters, 10 runs at once, and placement
	$(BIN)/python -m tests.bench $(ARGS)

check: setup ## Run the checks of CI except the tests
	@$(MAKE) --no-print-directory --jobs=4 --keep-going \
		$(if $(filter output-sync,$(.FEATURES)),--output-sync=target) $(CHECKS)

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types:
	$(BIN)/mypy

check-imports:
	$(BIN)/lint-imports

check-copies:
	$(BIN)/python -m api.crds --check deploy/crds
	$(BIN)/python -m deploy.packaging --check
	$(BIN)/python -m docs.generator --check docs/reference

check-language:
	$(BIN)/python -m tests.language

check-packages:
	$(BIN)/python -m tests.audit

check-docs:
	$(SPHINX)

docs: setup ## Build the user documentation
	$(SPHINX)
	@echo "open docs/_build/html/index.html"

dist: setup ## Build wheel, sdist and, if Helm is installed, charts into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(if $(shell command -v $(HELM)),$(HELM) package $(CHARTS) --destination dist,@echo "no charts: $(HELM) is not installed; name it with make dist HELM=/path/to/helm")

clean: ## Stop the local fleet and remove everything that make and its tools created
	@if [ -x $(BIN)/fleetgate ] && [ -d .fleetgate ]; then $(BIN)/fleetgate local down --purge; fi
	rm -rf .venv .uv .fleetgate dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(UV): Makefile
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv --clear .uv
	.uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/.in-step: $(UV) uv.lock pyproject.toml
	$(UV) sync --frozen --quiet --python "$(PYTHON)"
	@touch $@
