# Every target installs what it needs into .venv first and says how much it downloads; a second run finds it there.
# PYTHON=python3.12 chooses the Python that .venv is made with, CUTAWAY_TORCH=cpu|cuda|keep the build of torch,
# CUTAWAY_BROWSER=/path/to/chrome the browser of the tests; BROWSER=skip leaves those that need one out; WORKERS=2 how
# many processes run tests side by side.
.DEFAULT_GOAL := help
.PHONY: help setup demo ui test check .check-types .check-others test-faults test-all docs check-numbers bench-capture \
	bench-evaluate bench-insights bench-labels bench-population bench-rules bench-studio ui-types screenshots pin clean

PYTHON ?=
WORKERS ?= 4
# Compiled files pay for themselves at the second start, and .venv is installed without them to be ready sooner.
unexport PYTHONDONTWRITEBYTECODE
with_python = @python="$$(PYTHON='$(PYTHON)' sh scripts/find_python.sh)" && "$$python"
install = $(with_python) -m scripts.install
# Before anything that takes minutes: without a browser there is nothing to wait for.
find_browser = $(with_python) -m scripts.find_browser
# Workers that each use every core wait for each other more than they compute.
pytest = OMP_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1 .venv/bin/python -m pytest --numprocesses=$(WORKERS)

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup:  ## Make .venv with everything that tests, checks and benchmarks need
	@PYTHON='$(PYTHON)' sh scripts/find_python.sh git >/dev/null
	$(install) test

demo:  ## Train a small network with the hook attached and show what it saw
	$(install) demo
	@.venv/bin/python -m cutaway demo

ui:  ## Build the studio's page, unless it is built from ui/ as it is
	$(install) ui

test:  ## Find a browser, check, then run the tests (without the slow ones)
	$(find_browser)
	@$(MAKE) --no-print-directory check
	@$(pytest) -m "not slow"

check:  ## Lint, format, types and layers of Python; generated pages; types and tests of the page
	$(install) test
	@$(MAKE) --no-print-directory --jobs=2 .check-types .check-others

.check-types:
	@.venv/bin/mypy

.check-others:
	@.venv/bin/ruff check --quiet .
	@.venv/bin/ruff format --quiet --check .
	@.venv/bin/lint-imports --no-logo
	@.venv/bin/python -m scripts.make_api_types --check
	@.venv/bin/python -m scripts.make_reference --check
	@.venv/bin/python -m scripts.node run --silent check
	@.venv/bin/python -m scripts.node run --silent test

test-faults:  ## Kill writers 200 times, fill disks, flip bits
	$(install) test
	@CUTAWAY_KILLS=200 $(pytest) -m faults

test-all:  ## Find a browser, check, then run every test: slow ones, whole tables, 20 kills each
	$(find_browser)
	@$(MAKE) --no-print-directory check
	@CUTAWAY_EXAMPLES=full CUTAWAY_KILLS=20 $(pytest)

docs:  ## Run the examples in the documentation and look for pages that are missing
	$(install) test
	@$(pytest) tests/docs

# DATA=mnist.npz is a file as Keras has it, SAMPLES=12000 how many of its images are trained on, or `all`.
check-numbers:  ## Hold every number that a session on DATA=mnist.npz shows against plain numpy
	@test -n '$(DATA)' || { echo 'Name the file: make check-numbers DATA=path/to/mnist.npz' >&2; exit 2; }
	$(install) test
	@.venv/bin/python -m scripts.check_numbers '$(DATA)' $(if $(SAMPLES),--samples $(SAMPLES))

bench-capture:  ## Measure what capturing costs, beside its peers
	$(install) test
	@.venv/bin/python -m benchmarks.capture

bench-evaluate:  ## Measure how fast evaluating is beside the bare framework, and its memory
	$(install) test
	@.venv/bin/python -m benchmarks.evaluate

bench-insights:  ## Measure whether insights are true and in the right order, on data that nobody tuned on
	$(install) test
	@.venv/bin/python -m benchmarks.insights

bench-labels:  ## Measure how well wrong labels and weak slices are found, beside cleanlab, and what fixing buys
	$(install) test
	@.venv/bin/python -m benchmarks.labels

bench-population:  ## Measure maps, similar samples and heat maps, beside umap-learn, PaCMAP, faiss and captum
	$(install) test
	@.venv/bin/python -m benchmarks.population

bench-rules:  ## Measure how fast rules look and tell, beside smdebug, and what watching costs
	$(install) test
	@.venv/bin/python -m benchmarks.rules

bench-studio:  ## Measure how fast the studio's pages are there, beside TensorBoard, and the server's memory
	$(install) test
	@.venv/bin/python -m benchmarks.studio

ui-types:  ## Rewrite the page's types after a change of the HTTP API
	$(install) test
	@.venv/bin/python -m scripts.make_api_types

screenshots:  ## Take the pictures of the studio's pages for the documentation
	$(install) test
	@.venv/bin/python -m scripts.screenshots

pin:  ## Rewrite constraints.txt after a change of the dependencies
	$(install) test
	@.venv/bin/python -m scripts.pin

clean:  ## Remove .venv, the benchmarks' peers, caches, the built page and other build output; runs stay
	rm -rf .venv .bench ui/node_modules src/cutaway/studio/static build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
