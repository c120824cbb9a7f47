# make demo and make test do all of their set-up on a fresh Debian or Ubuntu; README.md, "Run it".
# PYTHON=python3.12 chooses the interpreter; otherwise it is the newest of 3.11 to 3.14 found here.
ifndef PYTHON
PYTHON := $(shell for v in 14 13 12 11; do python3.$$v -c '' >/dev/null 2>&1 \
	&& echo python3.$$v && exit; done; echo python3)
else # an environment made by another Python is made again
ifneq ($(shell $(PYTHON) -V),$(shell .venv/bin/python -V 2>/dev/null))
.PHONY: .venv/bin/pip
endif
endif
# INSTALL=no keeps make from installing system programs
INSTALL ?= yes
export INSTALL
BIN := .venv/bin
# pytest rewrites the assertions of 500 files; the bytecode is kept here, also where Python keeps none
PYTEST := env -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX=$(CURDIR)/.venv/pycache $(BIN)/pytest \
	--numprocesses auto --dist loadfile
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-fast test-flink check docs serve fresh dist torture model bench regret image image-test clean

demo: .venv/guide
	$(BIN)/llr demo

test: check
ifeq ($(INSTALL),yes)
	$(BIN)/python scripts/system_programs.py
endif
	$(PYTEST)

# in a minute, without system programs
test-fast: .venv/dev
	$(PYTEST) -m "not service and not browser and not stress and not slow"

# llr.compat.flink in the real PyFlink, which has an environment of its own: 330 MB, Python 3.11 or
# 3.12, and Java
FLINK_PYTHON ?= $(shell for v in 12 11; do python3.$$v -c '' >/dev/null 2>&1 \
	&& echo python3.$$v && exit; done)
ifeq ($(FLINK_PYTHON),)
test-flink:
	@echo "make test-flink: skipped, PyFlink needs Python 3.11 or 3.12, and neither is here"
else
test-flink: .venv/dev .venv-flink/done
ifeq ($(INSTALL),yes)
	$(BIN)/python scripts/system_programs.py
endif
	$(PYTEST) tests/llr/compat/test_flink.py
endif

.venv-flink/done: deploy/flink/constraints.txt
	$(FLINK_PYTHON) -m venv --clear .venv-flink
	.venv-flink/bin/pip install --quiet --disable-pip-version-check -c $< apache-flink numba
	touch $@

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the documentation site, which the service then serves at /guide
docs: .venv/dev
	$(BIN)/python -m scripts.reference
	$(BIN)/python scripts/docs.py

serve: .venv/guide
	$(BIN)/llr serve

# what a newcomer gets: make demo and make test-fast in a clone, with an empty home
fresh:
	sh scripts/fresh.sh

# both wheels, from the last commit, each tried in an environment of its own
dist: .venv/dev
	$(BIN)/python scripts/dist.py

# the long forms of docs/reliability.md: TORTURE="--rows 1,9 --seed 7 --scale 0.1"
torture: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m stress $(TORTURE)

# every history of the protocol of replicas, within bounds
model: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m support.protocol

# the image of the Dockerfile, without an engine; as root (docs/deploy.md)
image: .venv/dev
	$(BIN)/python scripts/system_programs.py --image
	timeout 1200 scripts/image.sh

# and run as docker-compose.yml says: fed, stopped, started again
image-test: .venv/dev
	$(BIN)/python scripts/system_programs.py --image
	timeout 1500 scripts/image.sh $(BIN)/python scripts/run_image.py

# beside what people would use instead, half an hour, to bench/RESULTS.md: BENCH=--quick in five minutes
bench: .venv/bench
	$(BIN)/python -m bench $(BENCH)

# auto beside its peers, a quarter of an hour: REGRET=--quick in two minutes; those on torch, which
# is large, with PEERS=peers,peers-torch
PEERS ?= peers
regret: .venv/run
	$(PIP) -e .[$(PEERS)]
	$(BIN)/python -m bench regret $(REGRET)

clean:
	rm -rf .venv .venv-flink .image .bench build dist out *.egg-info clients/build clients/*.egg-info
	rm -rf service/llr_service/guide/site

# Each mark is as old as the last installation; it is made again when what it depends on changes.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || { \
		echo "LLR needs Python 3.11 to 3.14, and $(PYTHON) is not: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(PYTHON) scripts/system_programs.py --venv
	$(PYTHON) -m venv --clear .venv

.venv/run: .venv/bin/pip pyproject.toml constraints.txt clients/llr_client/_version.py
	$(PIP) -e .[figures]
	touch $@

# the site for /guide; without it the service runs as well
.venv/guide: .venv/run zensical.toml scripts/docs.py $(wildcard docs/*.md)
	@{ $(PIP) -e .[docs] && $(BIN)/python scripts/docs.py; } || \
		echo "the documentation site was not built: /guide says how to build it" >&2
	touch $@

.venv/dev: .venv/run
	$(PIP) -e .[dev]
	touch $@

.venv/bench: .venv/run
	$(PIP) -e .[bench]
	touch $@
