# make with no target prints what there is.
.DEFAULT_GOAL := help

GOFUMPT     := go run mvdan.cc/gofumpt@v0.9.1
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.7.0
ACTIONLINT  := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GREMLINS    := go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

# What a fuzz target gets in make fuzz, and which there are: package:name.
FUZZTIME := 20s
FUZZES   := ./internal/batch:FuzzReadResults ./internal/dataset:FuzzCSV ./internal/dataset:FuzzJSONL ./internal/dataset:FuzzJSON ./internal/dataset:FuzzParquet ./internal/dataset:FuzzRecording ./internal/policy:FuzzRead ./model:FuzzServedBy ./internal/reply:FuzzCut ./internal/reply:FuzzUnwrap ./internal/reply:FuzzFaulted ./model:FuzzSecrets ./similar:FuzzNearDuplicates \
	./judge:FuzzParseVerdict ./internal/moderate:FuzzVote ./internal/generator:FuzzList ./internal/defense:FuzzParse ./internal/defense:FuzzPerturb ./internal/compare:FuzzParseGate ./internal/experiment:FuzzParse ./judge:FuzzSplitAndParse ./internal/guard:FuzzRead ./internal/guard:FuzzParse ./judge:FuzzReadRubric ./refusal:FuzzDetect \
	./internal/dialect/openai:FuzzDecode ./internal/dialect/classify:FuzzDescription ./internal/dialect/wire:FuzzRetryAfter ./internal/sim:FuzzAlarm ./internal/sim:FuzzParseFaults \
	./internal/provider:FuzzWith ./internal/provider:FuzzResolve ./internal/price:FuzzPrice \
	./internal/annotation:FuzzRead ./internal/dataset:FuzzValues ./internal/training:FuzzReadRows ./internal/parquetfile:FuzzHeaders ./internal/rows:FuzzInspectJSON ./internal/rows:FuzzInspectZIP ./internal/rows:FuzzHarness ./internal/rows:FuzzPromptfooJSON ./internal/rows:FuzzPromptfooLines ./internal/rows:FuzzBatch ./internal/rows:FuzzInstances ./internal/rows:FuzzLog ./internal/interchange:FuzzStream ./internal/logs:FuzzText ./internal/untrusted:FuzzTerminal ./internal/untrusted:FuzzCell ./internal/untrusted:FuzzWriter ./internal/page:FuzzPassages ./internal/words:FuzzFind \
	./internal/jsonappend:FuzzString ./internal/jsonappend:FuzzFloat

# The packages that hold money and truth: make mutate changes them, mistake by mistake,
# and sees whether a test of theirs notices. MUTATE=./internal/fill tries one alone.
MUTATE := ./internal/price ./internal/store ./internal/question ./internal/moderate ./judge ./internal/fill

# Compilers, linters and tests make much garbage in small heaps: collecting it less often takes
# a tenth of a build's and a quarter of a long proof's processor time, for some 400 MB more.
# The program sets its own; benchmarks run by Go's.
build lint test: export GOGC := 400

.PHONY: help build demo quick test test-long image try-local-model lint fuzz mutate bench bench-peers site pictures local-model local-model-down training-libs system docs

help: ## Print this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

build: ## Build bin/orbench.
	@echo "Compiling orbench, which takes a minute the first time."
	go build -o bin/orbench ./cmd/orbench

demo: build ## Measure simulated models on the built-in prompts; no key, no network.
	./bin/orbench demo

# TESTFLAGS are for go test, as -race is where CI runs it; go vet is a part of lint.
# Many tests wait for processes and servers: four at once keep two cores busy.
# What compares our clients with the official SDKs has the build tag sdk: the SDKs take four
# times as long to compile as all of this project, and longer to be linted.
TAGS      :=
TESTFLAGS :=
PACKAGES  := ./...
# -w leaves out what debuggers read, which is half of the time of linking a test.
GOTEST := env $$(scripts/axe.sh env) $$(scripts/local-model.sh env 2>/dev/null) $$(scripts/training-libs.sh env 2>/dev/null) go test -vet=off -ldflags=-w -parallel 4

quick: ## Test in seconds what changed since the last commit; BASE=main, since that.
	scripts/quick.sh $(BASE)

test: system try-local-model ## Run every quick test.
	$(GOTEST) $(TAGS) $(TESTFLAGS) $(PACKAGES)

# Proofs by simulation and builds that are killed wait for ORBENCH_LONG: 1 gives
# them the size that CI has time for, 2 the size of the figures in docs.
test-long: ## Also run the long proofs at full size, every fuzz target and every benchmark.
	ORBENCH_LONG=1 $(MAKE) lint test TAGS='-tags sdk' TESTFLAGS='-race -timeout 20m'
	$(MAKE) fuzz bench
	ORBENCH_LONG=1 scripts/try-release.sh
	ORBENCH_LONG=2 go test -count 1 -v -timeout 60m -run 'TestBuildKilled|TestBudgetHolds|TestDatabaseFaults|TestWorkerFaults|TestSharedStore' ./cmd/orbench
	ORBENCH_LONG=2 go test -count 1 -timeout 60m ./stats ./internal/compare ./internal/evaluate ./internal/fill ./internal/annotation ./internal/logs ./internal/paper ./refusal

# A machine that cannot have the model's weights (exit code 3) skips its test;
# ORBENCH_REQUIRE=local-model, which CI sets, makes that a failure.
try-local-model:
	scripts/local-model.sh up || [ $$? -eq 3 ]

image: ## Build the container image orbench:dev; needs docker.
	CGO_ENABLED=0 GOOS=linux go build -trimpath -o bin/image/orbench ./cmd/orbench
	docker build -t orbench:dev -f Dockerfile bin/image

lint: ## Check formatting, vet, staticcheck and the workflows.
	go vet $(TAGS) ./...
	@unformatted=$$($(GOFUMPT) -l .); if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	$(STATICCHECK) $(TAGS) ./...
	$(ACTIONLINT)

fuzz: ## Fuzz every parser for FUZZTIME each.
	@for f in $(FUZZES); do \
		go test -run '^$$' -fuzz "^$${f#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$${f%:*}" || exit 1; \
	done

# Two workers keep two cores busy. The time limit is PATIENCE times one run of the tests, of
# packages below too (which --exclude-files leaves out else); a run does not wait for the
# compiler, so a busy machine needs more. A mistake that makes tests hang is counted apart,
# and so is one that is not covered, which those in the conditions of a switch never are.
# It prints what lived, was not covered or hung. Version 0.6.0 counts as found what does
# not compile, and with --test-cpu everything, since go test refuses the flag in the form
# that it is given.
PATIENCE := 10
mutate: ## See whether tests notice mistakes in MUTATE; fails below 90% of those covered in a package.
	@failed=; for p in $(MUTATE); do \
		echo "$$p:"; \
		GOFLAGS="-vet=off -count=1" $(GREMLINS) unleash --workers 2 --timeout-coefficient $(PATIENCE) --exclude-files / \
			--output-statuses lct --threshold-efficacy 90 $$p || failed="$$failed $$p"; \
	done; [ -z "$$failed" ] || { echo "too many mistakes were not noticed in$$failed"; exit 1; }

bench: build ## Measure speed and memory against baselines in the same run.
	ORBENCH_BENCH=1 go test -count 1 -v -timeout 60m -run 'TestPace|TestThroughput|TestAtScale|TestIndexAtScale|TestServeAtScale|TestWorkersScale' ./cmd/orbench
	ORBENCH_BENCH=1 go test -count 1 -v -run TestMillionCalls -timeout 20m ./internal/store/address
	ORBENCH_BENCH=1 go test -count 1 -v -run 'TestAgreement|TestLeaveOneOut' ./refusal
	go test -tags sdk -run '^$$' -bench Ratio ./internal/dialect/openai
	go test -run '^$$' -bench . -benchtime 1x ./internal/dataset ./similar ./refusal ./internal/store/sqlite
	go test -run '^$$' -bench 'Collector|Folder' -benchtime 1x ./internal/report ./internal/report/answers

bench-peers: ## Measure beside Inspect, promptfoo and lm-evaluation-harness (about 3 GB, outside of the project).
	scripts/bench-peers.sh

site: ## Build the documentation site in bin/site, which opens from the disk.
	scripts/site.sh

pictures: build ## Make the pictures of the tutorial in docs/images; needs chromium, curl and pngquant.
	scripts/pictures.sh

local-model: ## Bring up a real language model on loopback (SmolLM2-135M-Instruct).
	scripts/local-model.sh up

local-model-down: ## Stop it again.
	scripts/local-model.sh down

training-libs: ## Install TRL, with which training data is tried (about 6 GB, outside of the project).
	scripts/training-libs.sh trl

docs: ## Write docs/schemas, the schemas of settings files, and what is made of docs/mistakes.md and docs/related-work.md from the program.
	ORBENCH_UPDATE=1 go test -count 1 -run 'TestConfigSchemas|TestSchemas|TestMistakes|TestRelatedWork' ./internal/cli ./cmd/orbench

system: ## Install the Debian packages that tests need and that are missing.
	scripts/system.sh
