# make with no target prints what there is.
.DEFAULT_GOAL := help

GOFUMPT     := go run mvdan.cc/gofumpt@v0.9.1
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.7.0

# What a fuzz target gets in make fuzz, and which there are: package:name.
FUZZTIME := 20s
FUZZES   := ./dataset:FuzzCSV ./dataset:FuzzJSONL ./dataset:FuzzParquet ./dataset:FuzzRecording ./model:FuzzCutThinking ./similar:FuzzNearDuplicates \
	./judge:FuzzParseVerdict ./moderate:FuzzVote ./generator:FuzzList ./defense:FuzzParse ./defense:FuzzPerturb ./internal/compare:FuzzParseGate ./internal/audit:FuzzSheet ./internal/audit:FuzzReadSheet ./internal/experiment:FuzzParse ./judge:FuzzSplitAndParse ./judge:FuzzGuardRead ./refusal:FuzzDetect \
	./model/openai:FuzzDecode ./model/wire:FuzzRetryAfter ./model/sim:FuzzAlarm ./model/sim:FuzzParseFaults \
	./internal/provider:FuzzWith ./internal/provider:FuzzResolve ./internal/price:FuzzPrice \
	./internal/report:FuzzClean ./internal/report:FuzzPieces

.PHONY: help build demo test test-long lint fuzz bench local-model local-model-down system docs

help: ## Print this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

build: ## Build bin/orbench.
	go build -o bin/orbench ./cmd/orbench

demo: build ## Measure simulated models on the built-in prompts; no key, no network.
	./bin/orbench demo

# A machine that cannot have the model's weights (exit code 3) skips its test;
# ORBENCH_REQUIRE=local-model, which CI sets, makes that a failure.
test: system lint ## Run every test but the long ones, with the race detector.
	scripts/local-model.sh up || [ $$? -eq 3 ]
	export $$(scripts/local-model.sh env 2>/dev/null); go test -race -timeout 14m ./...

test-long: test ## Also run every fuzz target, every benchmark, a build of the paper's size and the simulations of coverage.
	$(MAKE) fuzz bench
	ORBENCH_LONG=1 go test -count 1 -v -timeout 60m -run TestBuildKilled ./cmd/orbench
	ORBENCH_LONG=1 go test -count 1 -timeout 60m ./stats ./internal/compare

lint: ## Check formatting, vet and staticcheck.
	go vet ./...
	@unformatted=$$($(GOFUMPT) -l .); if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	$(STATICCHECK) ./...

fuzz: ## Fuzz every parser for FUZZTIME each.
	@for f in $(FUZZES); do \
		go test -run '^$$' -fuzz "^$${f#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$${f%:*}" || exit 1; \
	done

bench: build ## Measure speed and memory against baselines in the same run.
	ORBENCH_BENCH=1 go test -count 1 -v -run 'TestThroughput|TestReportAtScale' ./cmd/orbench
	go test -run '^$$' -bench Ratio ./model/openai
	go test -run '^$$' -bench . -benchtime 1x ./dataset ./similar ./refusal ./internal/memo/sqlite
	go test -run '^$$' -bench 'Collector|Folder' -benchtime 1x ./internal/report

local-model: ## Bring up a real language model on loopback (SmolLM2-135M-Instruct).
	scripts/local-model.sh up

local-model-down: ## Stop it again.
	scripts/local-model.sh down

docs: build ## Write docs/commands.md from the help texts.
	ORBENCH_UPDATE=1 go test -count 1 -run TestCommandReference ./internal/cli

system: ## Install the Debian packages that tests need and that are missing.
	scripts/system.sh
