# heldout: does a coding agent do what a wording intends, also when nobody asks?
#
#     make grid MODELS="sonnet haiku" REPS=3
#
# runs every scenario of the run-set with every model and prints the table. A cell is one scenario × model × rep and
# owns the folder results/<run>/<suite>/<scenario>/<model>/r<k>/. Running an agent costs money and checking does not:
# a cell is made only where there is none, and no edit of a file makes it again; the table is made afresh each time.

# What a user sets:
MODELS    ?=#            sonnet haiku opus …, full ids, embedded actors; none: the default actors
REPS      ?= 1#          reps a cell
SUITE     ?=#            suites; none: all
SCENARIOS ?=#            scenarios; none: all of the suites
SET       ?= run#        run, or reserve
PURPOSE   ?=#            what a reserve is opened for: measure, canary, tune
RUN       ?= grid#       the run's name: results/RUN
JOBS      ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)#  cells at a time
PLUGIN    ?=#            plugin folders, instead of the scenarios' own
SUBJECT   ?=#            a folder to take the scenarios' subject paths from
TO        ?=#            prompts, answers: the folder that a driver works in, outside any repository
BUDGET_USD ?=#           stop starting cells when the run has cost this much
CONFIRM   ?=#            1: run also a grid of over 100 live cells, or one that is expected to cost over 20 USD
REFRESH   ?=#            a command to run before the grid, such as one that refreshes installed plugins
BASE      ?=#            what diff compares RUN with: a run's name, baseline/SUITE, or a path
PYTHON    ?= python3#  the Python that makes .venv
CLIENT    := 2.1.332#    the client that 'make client' installs
PLAYWRIGHT := 1.65.1
AXE       := 4.14.1

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-builtin-rules --no-builtin-variables --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

ifeq (,$(filter output-sync,$(.FEATURES)))
$(error GNU Make 4 or newer is needed; macOS has it as gmake, from brew install make)
endif
short := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
ifneq (,$(findstring B,$(short)))
$(error make -B would pay for every cell again; delete the cells you mean)
endif
ifneq (,$(findstring t,$(short)))
$(error make -t would make empty cells)
endif

quiet    :=# for 'make test', which prints differences alone; an environment's variable of this name means nothing
under-way :=# the mark of a grid, for what it starts; a name that no environment has

# A user's value is text, whatever it holds: make does not expand it, and a shell gets it between quotes.
asked := MODELS REPS SUITE SCENARIOS SET PURPOSE RUN JOBS PLUGIN SUBJECT TO BUDGET_USD CONFIRM REFRESH BASE FORMAT GATE \
	MIXED KEEP_ON GUARD SCENARIO MODEL
define newline


endef
$(foreach name,$(asked),$(if $(findstring $(newline),$(value $(name))),$(error $(name) has more than one line)))
$(foreach name,$(asked),$(if $(filter environment,$(firstword $(origin $(name)))),$(eval $(name) := $$(value $(name)))))
$(foreach name,$(asked),$(if $(filter command,$(firstword $(origin $(name)))),$(eval override export $(name) := $$(value $(name)))))
quoted   = '$(subst ','\'',$1)'
options  = $(foreach word,$2,$1 $(call quoted,$(word)))
# A folder whose name has a blank looks like two; where it is there, it is meant.
folders  = $(if $(and $(word 2,$2),$(shell [ ! -d $(call quoted,$2) ] || echo is)),$1 $(call quoted,$2),$(call options,$1,$2))

run      := $(strip $(RUN))
folder   := results/$(run)
export BUDGET_USD PURPOSE
here     := $(call quoted,$(CURDIR))
jobs     := $(call quoted,$(strip $(JOBS)))
treatment = $(call folders,--plugin,$(PLUGIN)) $(call folders,--subject,$(SUBJECT))
chosen    = --models $(call quoted,$(strip $(MODELS))) --reps $(call quoted,$(strip $(REPS))) \
	--suite $(call quoted,$(strip $(SUITE))) --scenarios $(call quoted,$(strip $(SCENARIOS))) \
	--set $(call quoted,$(strip $(SET))) $(treatment)

ifneq (,$(filter grid,$(MAKECMDGOALS)))
under-way := $(folder)/under-way.$(shell echo $$PPID)
endif

# What is left of RUN without the letters that a folder name may have.
strange := $(run)
letters := a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
$(foreach letter,$(letters) 0 1 2 3 4 5 6 7 8 9 . _ -,$(eval strange := $$(subst $(letter),,$$(strange))))
ifneq (,$(strange)$(filter .% -%,$(run))$(filter-out 1,$(words $(run))))
$(error RUN is one folder name below results/ of letters, digits, '.', '_' and '-', not '$(run)')
endif

ifneq (,$(filter baseline,$(run))$(if $(wildcard $(folder)/.),,$(wildcard $(folder))))
$(error $(folder) is $(if $(filter baseline,$(run)),where the baselines are kept,no folder); name another run, RUN=…)
endif

# Of a target results/<run>/<suite>/<scenario>/<model>/r<k>/cell.json; a model's "/" is spelt "+" there, its ":" "~".
up       = $(patsubst %/,%,$(dir $1))
cell     = $(call up,$@)
model    = $(subst ~,:,$(subst +,/,$(notdir $(call up,$(cell)))))
scenario = $(notdir $(call up,$(call up,$(cell))))
suite    = $(notdir $(call up,$(call up,$(call up,$(cell)))))
rep      = $(patsubst r%,%,$(notdir $(cell)))

.PHONY: setup grid cells first table rescore report plan baseline diff canary prompts answers tune-start tune-check mutate self-test test lint seal doctor fixtures client browser e2e e2e-all fuzz bench help always

grid: $(under-way) ## run the cells that are missing, score all, print the table

# The make that was asked for the grid is making this file while anything of it runs, see lib/heldout/underway.py. One
# that a killed make of the same process id left behind means nothing.
$(under-way): .venv/ready always
	@mkdir -p $(folder)
	@$(if $(strip $(REFRESH)),$(SHELL) $(.SHELLFLAGS) $(call quoted,$(REFRESH)) >&2)
	@bin/cells $(folder) $(chosen) >$(folder)/cells.txt.$$$$ && mv $(folder)/cells.txt.$$$$ $(folder)/cells.txt \
	|| { rm -f $(folder)/cells.txt.$$$$; exit 2; }
	@$(if $(filter 1 yes,$(CONFIRM)),:,bin/report --plan --most-cells 100 --most-usd 20 --jobs $(jobs) $(past) <$(folder)/cells.txt >$(folder)/plan.txt \
	|| { cat $(folder)/plan.txt >&2; exit 2; })
	+@first=$$(bin/cells $(folder) $(chosen) --canary); [ -z "$$first" ] || { $(tended) first FIRST="$$first"; }
	+@$(tended) --keep-going --jobs=$(jobs) cells || [ $$? = 2 ]
	+@status=0; $(tended) table || status=$$?; [ $$status -le 2 ] || exit $$status; bin/report $(folder) || status=2; \
	lost=$$(while read -r path; do [ -e "$$path" ] || echo lost; done <$(folder)/cells.txt | wc -l); \
	[ $$lost = 0 ] || { echo "make grid: $$lost cells are not measured; run it again to try them" >&2; status=2; }; exit $$status
# A shell that a signal ended at once would leave behind what is still to be tidied up.
patient := trap : INT TERM HUP;
tended = $(patient) echo $$PPID >$@; .venv/bin/python -I -X pycache_prefix=.venv/compiled lib/tend.py $@ $(MAKE) under-way=$@

# Named one by one, since targets met only in a pattern rule would be deleted as intermediate files.
ifneq (,$(filter cells,$(MAKECMDGOALS)))
cells: $(shell cat $(folder)/cells.txt) ; @:
endif

# The first live cell of a run goes alone. It counts; if it ends in ERROR, the rest is not paid for.
first: $(FIRST)
	@$(MAKE) table || true; cell=$(FIRST:%/cell.json=%); \
	[ -d $$cell ] || { echo "make grid: the first cell ended in ERROR, the rest is not run:" >&2; \
	bin/check --cells $(folder) | tail -n +2 >&2; exit 2; }; \
	echo "first cell, beside what it rests on:" >&2; bin/check --cells $$cell | tail -n +2 >&2; bin/extract --tsv $$cell >&2

# Order-only, all of it: nothing that is edited may buy a cell again. Status 2 is a cell that ended in ERROR: it is
# kept as an attempt and counted by `grid`, and the others go on.
results/%/cell.json: | .venv/ready
	@$(patient) bin/run '$(suite)/$(scenario)' '$(model)' '$(folder)' --rep $(rep) --no-check --progress $(folder)/cells.txt \
	$(addprefix --while ,$(under-way)) $(treatment) || [ $$? = 2 ]
# An interrupted make would remove the record of a cell that was measured just before.
.PRECIOUS: results/%/cell.json

table: .venv/ready
	@$(if $(under-way),$(patient)) bin/check --pending $(folder) >$(folder)/pending.$$$$; \
	[ ! -s $(folder)/pending.$$$$ ] || bin/judge --cells $(addprefix --while ,$(under-way)) <$(folder)/pending.$$$$ >/dev/null || true; rm -f $(folder)/pending.$$$$
	@bin/rescore $(folder)

rescore: table ## score the kept cells of RUN again; runs no agent, says what changed and why
	@bin/report $(folder)

report: .venv/ready ## print the table of RUN (FORMAT=md, json or junit; GATE='haiku>=2/3 …'); FORMAT=html writes its page
	@bin/report $(folder) --format $(call quoted,$(or $(strip $(FORMAT)),text)) $(if $(filter html,$(FORMAT)),--out $(folder)/report.html) $(call options,--gate,$(GATE))

plan: .venv/ready ## what the grid of MODELS, REPS, … would take and could show; runs nothing
	@cells=$$(bin/cells $(folder) $(chosen) --dry); bin/report --plan --jobs $(jobs) $(past) <<<"$$cells"

# What the cost of a cell is known from.
past = $(wildcard results/*/results.tsv)

# BASE may be named as RUN is, or be a path.
base = $(or $(if $(word 2,$(BASE)),,$(firstword $(wildcard results/$(strip $(BASE))))),$(BASE))
diff: .venv/ready ## compare RUN with BASE= (FORMAT=md or json; MIXED=1 in spite of other instruments; KEEP_ON= GUARD= for KEEP or DISCARD)
	@: $(if $(strip $(BASE)),,$(error diff needs BASE=))
	@bin/diff $(call quoted,$(base)) $(folder) --format $(call quoted,$(or $(strip $(FORMAT)),text)) $(if $(strip $(MIXED)),--mixed) \
	$(call options,--keep-on,$(KEEP_ON)) $(call options,--guard,$(GUARD))

# A baseline has no ERROR in it: the first one ends this.
baseline: .venv/ready ## make results/baseline/SUITE again (none: of all suites) from default actors and saved traces
	@for suite in $(call options,,$(or $(SUITE),$(notdir $(wildcard scenarios/*)))); do \
	run=$$(mktemp -d) || exit 2; trap 'rm -rf "$$run"' EXIT; \
	bin/cells "$$run" --suite "$$suite" >"$$run/cells.txt"; \
	bin/run --cells "$$run/cells.txt" --no-check 2>"$$run/log" || { cat "$$run/log" >&2; exit 2; }; \
	bin/check --pending "$$run" >"$$run/pending"; bin/judge --cells <"$$run/pending" >/dev/null; \
	bin/check --cells "$$run" >"$$run/results.tsv"; \
	bin/report "$$run" --baseline "results/baseline/$$suite" | sed 1q; rm -rf "$$run"; done

canary: .venv/ready ## run one cell and show its row beside what it rests on: SCENARIO= MODEL=
	@: $(if $(strip $(SCENARIO)),,$(error canary needs SCENARIO=)) $(if $(strip $(MODEL)),,$(error canary needs MODEL=))
	@bin/run $(call quoted,$(strip $(SCENARIO))) $(call quoted,$(strip $(MODEL))) results/canary $(treatment)
	@path=$$(bin/cells results/canary --models $(call quoted,$(strip $(MODEL))) --scenarios $(call quoted,$(strip $(SCENARIO))) --set $(call quoted,$(strip $(SET)))); \
	cell=$${path%/cell.json}; bin/check $(call quoted,$(strip $(SCENARIO))) $$cell || true; \
	[ $(call quoted,$(strip $(MODEL))) = trace ] || bin/extract --tsv $$cell

prompts: .venv/ready ## render the prompts of a grid for a driver that runs them in its own session: TO= MODELS=
	@: $(if $(strip $(TO)),,$(error prompts needs TO=, a new folder)) $(if $(strip $(MODELS)),,$(error prompts needs MODELS=))
	@cells=$$(bin/cells $(call quoted,$(TO)) $(chosen) --in-session); bin/prompt --cells $(call quoted,$(TO)) $(treatment) <<<"$$cells"

answers: .venv/ready ## score what a driver brought back, from its sandboxes alone, and print the table: TO=
	@: $(if $(strip $(TO)),,$(error answers needs TO=, the folder of 'make prompts'))
	@cd $(call quoted,$(TO)) && { $(here)/bin/check --header; tail -n +2 cells.tsv | \
	while IFS=$$'\t' read -r _ sandbox scenario model rep; do \
	$(here)/bin/check "$$scenario" "$$sandbox" --answered --tsv "$$model" --rep "$$rep" || true; done; \
	} >results.tsv.$$$$ && mv results.tsv.$$$$ results.tsv
	@bin/report $(call quoted,$(TO)); ! cut -f 4 $(call quoted,$(TO))/results.tsv | grep -q ERROR || exit 2

tune-start: .venv/ready ## freeze the instrument before a wording is tuned on RUN; names what may change
	@bin/tune start $(folder) $(call folders,--plugin,$(PLUGIN))

tune-check: .venv/tested ## nothing but wording changed since, and the plugins' own tests pass
	@bin/tune check $(folder)

mutate: .venv/tested ## mutate every check and prove that the self-test notices (minutes)
	@.venv/bin/python tests/mutate.py

self-test: .venv/ready ## prove every check in both directions, without a model
	@bin/self-test $(quiet)

# The type checker has one core and half a minute; the self-test takes the rest.
test: .venv/tested ## lint, unit and program tests, self-test
	@$(MAKE) --jobs=2 --output-sync lint self-test quiet=--quiet
	@.venv/bin/pytest --quiet --numprocesses=$(jobs) --dist=worksteal --ignore=tests/e2e tests

lint: .venv/tested ## ruff, pyright, shellcheck, import layers, scenarios
	@bin/seal verify
	@bin/check --lint
	@.venv/bin/ruff check --quiet . && .venv/bin/ruff format --quiet --check .
	@.venv/bin/basedpyright --level error
	@.venv/bin/shellcheck lib/python .ci/run
	@PYTHONPATH=lib .venv/bin/lint-imports --no-logo >/dev/null || PYTHONPATH=lib .venv/bin/lint-imports

seal: .venv/ready ## the reserve's seal, who opened it, and what was tuned against
	@bin/seal status

doctor: .venv/ready ## what is installed, what a run would use, and the mends
	@bin/doctor

graphed := fixture/adr-unprompted/project
fixtures: .venv/graph ## make again what fixture/ holds generated: the code graph (installs graphify, 220 MB)
	@place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; cp -R $(graphed) $$place/berthbook; cd $$place/berthbook; \
	rm -rf graphify-out; HOME=$$place PYTHONHASHSEED=0 $(here)/.venv/bin/graphify update . >/dev/null; cd graphify-out; \
	mkdir -p $(here)/$(graphed)/graphify-out; cp graph.json $(here)/$(graphed)/graphify-out/; \
	kept=$(here)/$(graphed)/graphify-out/GRAPH_REPORT.md; \
	cmp -s <(tail -n +2 GRAPH_REPORT.md) <(tail -n +2 $$kept 2>/dev/null) || cp GRAPH_REPORT.md $$kept # its first line has the day

client: .client/$(strip $(CLIENT)) ## install the pinned client into .client/

# npm's install script may be held back; the platform's own binary runs without it.
.client/$(strip $(CLIENT)):
	@npm install --prefix .client --no-fund --no-audit --loglevel=error @anthropic-ai/claude-code@$(strip $(CLIENT)) >/dev/null
	@touch $@

browser: .browser/$(PLAYWRIGHT)-$(AXE) ## install what drives Debian's chromium in the tests of the HTML page (npm)

.browser/$(PLAYWRIGHT)-$(AXE):
	@npm install --prefix .browser --no-fund --no-audit --loglevel=error playwright-core@$(PLAYWRIGHT) axe-core@$(AXE) >/dev/null
	@touch $@

e2e: .venv/tested ## tests with the real client on a stub (installs it; npm)
	@command -v npm >/dev/null || { echo "make e2e: SKIPPED, all tests with the real client: no npm" >&2; exit 0; }; \
	$(MAKE) client browser && status=0 && \
	.venv/bin/python tests/e2e/loopback.py .venv/bin/pytest --quiet -rs --numprocesses=$(jobs) tests/e2e || status=$$?; \
	[ $$status != 77 ] || { echo "make e2e: SKIPPED, all tests with the real client: no network namespace" >&2; exit 0; }; exit $$status

e2e-all: export HELDOUT_E2E_ALL := 1
e2e-all: e2e ## the same over all actors and both sets

fuzz: .venv/tested ## throw damaged transcripts at the reader for a minute
	@.venv/bin/python tests/fuzz_extract.py 60

bench: .venv/tested ## print start-up and throughput, as ratios within one run
	@.venv/bin/python tests/bench.py
	@.venv/bin/python tests/e2e/loopback.py .venv/bin/python tests/bench_client.py || true
	@.venv/bin/python tests/bench_extract.py
	@.venv/bin/python tests/simulate_stats.py 2000

setup: .venv/ready ## make .venv with what the programs need

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "setup: $(PYTHON) is older than 3.11; name another: make PYTHON=…" >&2; exit 2; }
	@[ -x .venv/bin/pip ] || $(PYTHON) -m venv .venv
	@.venv/bin/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/graph: .venv/ready
	@.venv/bin/pip install --quiet --disable-pip-version-check --editable '.[graph]'
	@touch $@

.venv/tested: .venv/ready
	@.venv/bin/pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
	@echo; awk '/^[A-Z_]+ +\?=/ { name = $$1; sub(/^[^\#]*\# */, ""); printf "%-10s %s\n", name, $$0 }' Makefile
