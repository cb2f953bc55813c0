# Everything a person does with a checkout. Each target sets up .venv from the lock first; once that is done it works offline,
# and nothing is written outside the checkout.

VENV := .venv
PY := $(VENV)/bin/python
BIND ?= 127.0.0.1:8000
WORKERS ?= 2
ARGS ?=

# pytest, browsers and downloads keep their files here instead of in the user's home folder.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_CACHE_DIR := 1
export PYTEST_DEBUG_TEMPROOT := $(CURDIR)/var/test
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/var/test/hypothesis

.PHONY: help serve demo test check bench coverage-map format semantic lock clean
.DEFAULT_GOAL := help

help:
	@echo "make serve         run the product with a demo tenant (BIND=$(BIND)); Ctrl-C stops it"
	@echo "make demo          walk the main job on the demo tenant and print each answer"
	@echo "make test          the whole test suite (ARGS='-k word' narrows it)"
	@echo "make check         style, types, import contracts, migrations, schema, translations"
	@echo "make bench         benchmarks (ARGS='--scope 10000 --foreign 0' makes it quick)"
	@echo "make coverage-map  which requirement is proved by which test"
	@echo "make format        let ruff format the code"
	@echo "make semantic      install what recall by meaning needs (it stays off until it is named)"
	@echo "make lock          resolve the dependencies anew"

serve: $(VENV)/.run-installed
	@exec $(PY) manage.py serve --demo --bind $(BIND)

demo: $(VENV)/.run-installed
	@$(PY) manage.py demo

test: $(VENV)/.dev-installed
	@mkdir -p $(PYTEST_DEBUG_TEMPROOT)
	@if .ci/chromium; then only=""; else only="not browser"; fi; \
	  $(PY) -m pytest -n $(WORKERS) -m "$$only" $(ARGS)

check: $(VENV)/.dev-installed
	@PY=$(PY) .ci/check

bench: $(VENV)/.dev-installed
	@$(PY) -m tests.benchmarks $(ARGS)

coverage-map: $(VENV)/.dev-installed
	@$(PY) -m tests.coverage_map $(ARGS)

format: $(VENV)/.dev-installed
	@$(PY) -m ruff check --fix --select I .
	@$(PY) -m ruff format .

# -- set-up ----------------------------------------------------------------------------------------------------------

$(VENV)/.made:
	@.ci/venv $(VENV)
	@touch $@

# What the product needs to run, and what developing it needs on top. A stamp is written only after a whole installation.
$(VENV)/.run-installed: requirements/base.txt $(VENV)/.made
	@$(call install,requirements/base.txt)
	@touch $@

$(VENV)/.dev-installed: requirements/dev.txt $(VENV)/.made
	@$(call install,requirements/dev.txt)
	@touch $@ $(VENV)/.run-installed

define install
echo "installing $(1) ..."; \
$(PY) -m pip install --quiet --require-hashes --requirement $(1) || { \
  echo "The packages of $(1) could not be installed. This step needs a package index once; afterwards everything works offline." >&2; \
  exit 1; }
endef

# -- the lock --------------------------------------------------------------------------------------------------------

COMPILE_ALONE = $(PY) -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-annotate --no-header \
  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options $(ARGS)
COMPILE = $(COMPILE_ALONE) --extra embedded
SEMANTIC_EXTRA = $(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["semantic"], sep="\n")'
DEV_GROUP = $(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")'

lock: $(VENV)/.dev-installed
	@$(COMPILE) --output-file requirements/base.txt pyproject.toml
	@$(DEV_GROUP) | $(COMPILE) --constraint requirements/base.txt --output-file requirements/dev.txt pyproject.toml -
	@$(SEMANTIC_EXTRA) | $(COMPILE_ALONE) --constraint requirements/base.txt --output-file requirements/semantic.txt -

# The packages of the semantic lane, which is off until SEMANTIC_EMBEDDER names an embedder (docs/concepts/retrieval.md).
semantic: $(VENV)/.run-installed
	@$(call install,requirements/semantic.txt)

clean:
	@echo "Nothing is cleaned by itself: var/ holds your database. Remove $(VENV) and var/ by hand if you mean it."
