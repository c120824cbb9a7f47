# make demo and make test are all a newcomer needs; the environment in .venv makes itself.
PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo test check serve torture model bench regret rehearse clean

demo: .venv/run
	$(BIN)/llr demo

test: check
	$(BIN)/pytest --numprocesses auto --dist loadfile

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

serve: .venv/run
	$(BIN)/llr serve

# the long forms of docs/reliability.md: TORTURE="--rows 1,9 --seed 7 --scale 0.1"
torture: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m torture $(TORTURE)

# every history of the protocol of replicas, within bounds
model: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m protocol

# the Dockerfile's instructions in a scratch folder, where there is no engine to build it
rehearse: .venv/dev
	$(BIN)/python tests/rehearsal.py

# beside what people would use instead, half an hour, to bench/RESULTS.md: BENCH=--quick in five minutes
bench: .venv/bench
	$(BIN)/python -m bench $(BENCH)

# auto beside its peers, a quarter of an hour: REGRET=--quick in two minutes; those on torch, which
# is large, with PEERS=peers,peers-torch
PEERS ?= peers
regret: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .[$(PEERS)]
	$(BIN)/python bench/regret.py $(REGRET)

clean:
	rm -rf .venv build dist *.egg-info

# An environment is as good as the files it was made from; the marks are their dates.
.venv/run: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/dev: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .[dev]
	touch $@

.venv/bench: .venv/run
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .[bench]
	touch $@
