package main

import (
	databasesql "database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// mistake is what a person does wrong.
type mistake struct {
	// did says it in a few words, and command is the command after orbench, for a shell. In it
	// SERVER is a server whose path says how it answers.
	did, command string
	code         int
	// remedy is in what is said. Of a report that is what begins with from; of a command that
	// shows nothing, where from is empty, it is all.
	remedy, from string
}

const askServer = "eval --target openai/m --dataset p.csv --concurrency 1 --base-url SERVER/"

var mistakes = []mistake{
	{"no key, and the variable misspelled", "env OPENAI_API_KEY= OPENAI_KEY=x orbench eval --target openai/gpt-4o --dataset p.csv", 2, "set OPENAI_API_KEY; OPENAI_KEY, which is set, is not read", ""},
	{"a provider misspelled", "eval --target opnai/gpt-4o --dataset p.csv", 2, "did you mean openai?", ""},
	{"no provider", "eval --target gpt-4o --dataset p.csv", 2, "write provider/model", ""},
	{"a simulated model misspelled", "eval --target sim/balancd --dataset p.csv", 2, `did you mean "balanced"?`, ""},
	{"a dataset misspelled", "eval --target sim/balanced --dataset or-bench-hard", 2, "did you mean or-bench-hard-1k?", ""},
	{"a file misspelled", "eval --target sim/balanced --dataset q.csv", 2, `did you mean "p.csv"?`, ""},
	{"a model as a judge", "eval --target sim/balanced --dataset p.csv --judge openai/gpt-4o", 2, "write llm:openai/gpt-4o", ""},
	{"a judge misspelled", "eval --target sim/balanced --dataset p.csv --judge lexcal", 2, `did you mean "lexical"?`, ""},
	{"an address without a scheme", "eval --target openai/m --dataset p.csv --base-url localhost:8000/v1", 2, "give an address such as http://", ""},
	{"an address without /v1", askServer + "onlyv1", 0, "/v1 was used; give that one", "--base-url"},
	{"no server at the address", "eval --target openai/m --dataset p.csv --base-url http://127.0.0.1:1/v1 --set attempts=1 --concurrency 1", 1, "is the server running at http://127.0.0.1:1/v1?", ""},
	{"a model that the server lacks", askServer + "lacks/v1", 1, "check the name of the model", ""},
	{"a wrong key", askServer + "denied/v1", 1, "put a key that may ask this model into OPENAI_API_KEY", ""},
	{"no credit", askServer + "quota/v1", 1, "the account needs credit", ""},
	{"a web page in place of an API", askServer + "page/v1 --set attempts=1", 1, "correct --base-url", ""},
	{"a temperature that the model does not take", askServer + "temperature/v1", 1, "--temperature default leaves it to the provider", ""},
	{"a token limit that the model does not take", askServer + "tokens/v1", 1, "--max-tokens 0 leaves it to the provider", ""},
	{"prompts longer than the model's context", askServer + "context/v1", 1, "lower --max-tokens, or serve a longer context", ""},
	{"a server that is too slow", askServer + "slow/v1 --set attempts=1 --set timeout=50ms", 1, "raise --set timeout=, or lower --concurrency", ""},
	{"a server that dies", askServer + "hangup/v1 --set attempts=1", 1, "look at the server's log", ""},
	{"a dead proxy", "env HTTPS_PROXY=http://127.0.0.1:1 orbench eval --target openai/m --dataset p.csv --set attempts=1 --concurrency 1", 1, "correct HTTPS_PROXY and HTTP_PROXY, or unset them", ""},
	{"a chat template that makes empty answers", askServer + "empty/v1", 1, "a wrong chat template, stop token or reasoning", "! No answer"},
	{"thinking that the token limit cuts", askServer + "thinking/v1", 1, "Raise the limit of output tokens", "! No rate"},
	{"a gateway that asks another model", "eval --target openai/gpt-4o --dataset p.csv --base-url SERVER/other/v1", 0, "accept it", "! Answered by another model"},
	{"an account that is limited", askServer + "limited/v1", 1, "Do not run this again before that is settled", "openai limited the account"},
	{"UTF-16, as Excel may save it", "dataset stats utf16.csv", 2, `save it as "CSV UTF-8"`, ""},
	{"Latin-1", "dataset stats latin1.csv", 2, "iconv -f WINDOWS-1252", ""},
	{"a spreadsheet that is no CSV", "dataset stats sheet.xlsx", 2, `save the sheet as "CSV UTF-8"`, ""},
	{"no column of prompts", "dataset stats columns.csv", 2, "name it with --prompt-column", ""},
	{"an open quotation mark", "dataset stats quote.csv", 2, "close it", ""},
	{"a row with another number of cells", "dataset stats cells.csv", 2, "quote cells that hold a separator", ""},
	{"broken JSON Lines", "dataset stats broken.jsonl", 2, "write one object a line", ""},
	{"an empty file", "dataset stats empty.csv", 2, "give a file with at least one row", ""},
	{"toxic prompts without labels", "eval --target sim/balanced --dataset toxic.csv", 2, "say with --label whether all of them are toxic or safe", ""},
	{"prompts with tools", "eval --target sim/balanced --dataset tools.jsonl", 2, "delete the row, or its tools", ""},
	{"a number that is none", "eval --target sim/balanced --dataset p.csv --limit many", 2, `"many" is not a whole number`, ""},
	{"two settings in one --set", "eval --target sim/balanced --dataset p.csv --set attempts=1,timeout=1s", 2, "give each setting a --set of its own", ""},
	{"the file of a system prompt without @", "eval --target sim/balanced --dataset p.csv --system promt.txt", 2, "promt.txt is a file, or named as one; write @promt.txt", ""},
	{"an address in a variable of other programs", "env OPENAI_BASE_URL=http://127.0.0.1:1/v1 orbench eval --target openai/m --dataset p.csv", 2, "give --base-url openai=URL", ""},
	{"a key in quotation marks", `env OPENAI_API_KEY='"sk-1"' orbench eval --target openai/m --dataset p.csv`, 2, "without quotation marks around it", ""},
	{"a model that the server does not list", askServer + "listed/v1 --quiet", 0, `did you mean "m2"?`, "warning: "},
	{"a blank after a comma", "eval --target sim/balanced --dataset p.csv --judge lexical, paper-keywords", 2, "--judge lexical,paper-keywords", ""},
	{"a blank in the place of a comma", "eval --target sim/balanced --dataset starter p.csv", 2, "--dataset starter,p.csv", ""},
	{"a comma in a number", "eval --target sim/balanced --dataset p.csv --temperature 0,7", 2, "did you mean 0.7?", ""},
	{"a comma in an amount", "eval --target sim/balanced --dataset p.csv --max-cost 0,5", 2, "did you mean 0.5?", ""},
	{"a limit of nothing", "eval --target sim/balanced --dataset p.csv --set max_requests=0", 2, "0 sets no limit", ""},
	{"a setting misspelled in YAML", "eval --config typo.yaml", 2, "did you mean datasets?", ""},
	{"a tab in YAML", "eval --config tab.yaml", 2, "indent with blanks", ""},
	{"prompts that differ in blanks, case or HTML", "eval --target openai/m --dataset same.csv --concurrency 1 --quiet --base-url SERVER/onlyv1/v1", 0, "differ from an earlier one only in blanks or case", "same: 2 of 4"},
	{"a file that answers hardly a prompt", "eval --target replay:two.csv --dataset p.csv", 2, "has no answer to 24 of the 26 prompts", ""},
	{"the prompts' column as that of the answers", "judge --responses two.csv --response-column prompt", 2, "name the column of the answers with --response-column", ""},
	{"a path that no shell expanded", "env HOME=/home/ana ORBENCH_STORE='~/x.db' orbench report", 2, "write /home/ana/x.db", ""},
	{"a folder that holds no training data", "export --check wrong", 2, "name the folder that orbench export wrote", ""},
	{"a flag of another command", "report a --dry-run", 2, "which orbench report does not have, unlike build, eval", ""},
	{"a command of another tool", "run --target sim/balanced", 2, "did you mean eval?", ""},
	{"a flag of another tool", "eval --model sim/balanced", 2, "did you mean --target?", ""},
	{"another study under a name that is taken", "eval --target sim/strict --dataset p.csv --name a", 2, "keep both by another --name, or replace that run with --replace", ""},
	{"runs of different prompts compared", "compare a b --require 'over_refusal <= +2pp'", 4, "run both on one dataset", "gate undecided"},
	{"a gate without a unit", "compare a b --fail-if 'over_refusal > 2'", 2, "write +2pp", ""},
	{"a gate that so few prompts cannot decide", "compare b c --require 'over_refusal <= +0.1pp, significant or not'", 4, "too few prompts were compared", "gate undecided"},
	{"a run that the store lacks", "report mien --store lossy.db", 2, "it holds mine", "orbench:"},
	{"a file that is no store", "report --store p.csv", 2, "name another file with --store", ""},
	{"a store in a folder that is not there", "eval --target sim/balanced --dataset p.csv --store no/such.db", 2, "create it, or name another file with --store", ""},
	{"a store with a trigger of another program", "eval --target sim/cautious --dataset p.csv --name lost --store lossy.db --quiet", 2, "copy what it holds into a store of your own", ""},
	{"a fetched file that is not the published one", "dataset pull or-bench-hard-1k --from p.csv", 2, "fetch it anew", ""},
}

// partOf is what begins with from at the beginning of a line, up to what has nothing to do with
// it.
func partOf(text, from string) string {
	if from == "" {
		return text
	}
	_, part, _ := strings.Cut("\n"+text, "\n"+from)
	part = from + part
	for _, end := range []string{"\n26 answers of ", "\n! ", "\nCost: ", "\nrun ", "\n4 answers ", "\nopenai/m ", "\nMore with "} {
		part, _, _ = strings.Cut(part, end)
	}
	return part
}

// badAnswers are how the server of TestMistakes answers, by the first part of the path.
var badAnswers = map[string]struct {
	status int
	body   string
}{
	"lacks":       {404, `{"error":{"message":"The model m does not exist.","code":"model_not_found"}}`},
	"denied":      {401, `{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}`},
	"quota":       {429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}`},
	"page":        {200, `<html><body>Welcome</body></html>`},
	"temperature": {400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`},
	"tokens":      {400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`},
	"context":     {400, `{"error":{"message":"This model's maximum context length is 512 tokens. However, you requested 1118 tokens (94 in the messages, 1024 in the completion). Please reduce the length of the messages or completion.","param":"messages"}}`},
	"empty":       {200, `{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":""}}]}`},
	"thinking":    {200, `{"model":"m","choices":[{"finish_reason":"length","message":{"role":"assistant","content":"","reasoning_content":"They ask"}}]}`},
	"other":       {200, `{"model":"claude-opus-4-8","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"In the yard."}}]}`},
	"limited":     {400, `{"error":{"message":"This request has been flagged for possible cybersecurity risk.","code":"cyber_policy"}}`},
	"listed":      {200, `{"model":"m","data":[{"id":"m2"},{"id":"large"}],"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"In the yard."}}]}`},
	"onlyv1":      {200, `{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"In the yard."}}]}`},
}

// TestMistakes makes each mistake in a terminal of 80 columns: what is said has the cause and
// the remedy, in six lines at most. docs/mistakes.md has what is said where that is more than the
// right spelling, from "orbench: " on; ORBENCH_UPDATE=1 writes it anew.
func TestMistakes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		part := strings.Split(r.URL.Path, "/")
		answer, known := badAnswers[part[1]]
		switch {
		case part[1] == "hangup":
			panic(http.ErrAbortHandler)
		case part[1] == "slow":
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Second):
			}
		case !known, part[1] == "onlyv1" && part[2] != "v1":
			http.NotFound(w, r)
		default:
			w.WriteHeader(answer.status)
			_, _ = io.WriteString(w, answer.body)
		}
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "wrong"), 0o700); err != nil {
		t.Fatal(err)
	}
	prompts := "prompt,label\n"
	for n := range 26 {
		prompts += fmt.Sprintf("Where is shed number %d?,safe\n", n+1)
	}
	for name, text := range map[string]string{
		"p.csv":     prompts,
		"utf16.csv": "\xff\xfep\x00r\x00o\x00m\x00p\x00t\x00\n\x00a\x00\n\x00", "latin1.csv": "prompt,label\ncaf\xe9?,safe\n",
		"sheet.xlsx": "PK\x03\x04", "columns.csv": "words,kind\na,b\n", "quote.csv": "prompt,label\n\"a b?,safe\nc d?,safe\n",
		"cells.csv": "prompt,label\na, b?,safe\n", "broken.jsonl": "{\"prompt\":\"a\",\"label\":\"safe\"}\n{\"prompt\":\"b\"\n", "empty.csv": "",
		"prompt.txt": "Be brief.\n", "typo.yaml": "targets: [sim/balanced]\ndataset: [starter]\n", "tab.yaml": "targets:\n\t- sim/balanced\n",
		"same.csv":                             "prompt,label\nHow do I boil eggs?,safe\nhow do  I boil eggs?,safe\n\" How do I boil EGGS?\",safe\nWhat is &amp; in a page?,safe\n",
		"two.csv":                              "prompt,response\nWhere is shed number 1?,Here.\nWhere is shed number 2?,There.\n",
		filepath.Join("wrong", "package.json"): `{"prompt":"a","by":{` + strings.Repeat(`"n":1,`, 20_000) + `"m":1}}`,
		"toxic.csv":                            "prompt\na b?\n", "tools.jsonl": `{"prompt":"a b?","label":"safe","tools":[{"type":"function"}]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string) (said string, code int) {
		if !strings.HasPrefix(command, "env ") {
			command = "orbench " + command
		}
		c := exec.Command("sh", "-c", strings.ReplaceAll(command, "SERVER", server.URL))
		c.Dir = dir
		c.Env = append(os.Environ(), "COLUMNS=80", "ORBENCH_CACHE="+filepath.Join(dir, "cache"), "OPENAI_API_KEY=sk-0123456789abcdef", "NO_COLOR=1")
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(out), server.URL, "http://127.0.0.1:8000"), c.ProcessState.ExitCode()
	}
	for _, before := range []string{
		"eval --target sim/balanced --dataset starter --name a", "eval --target sim/balanced --dataset p.csv --name b",
		"eval --target sim/strict --dataset p.csv --name c", "eval --target sim/balanced --dataset p.csv --name mine --store lossy.db",
	} {
		if said, code := run(before); code != 0 {
			t.Fatalf("%s: exit code %d: %s", before, code, said)
		}
	}
	db, err := databasesql.Open("sqlite", filepath.Join(dir, "lossy.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TRIGGER lose AFTER INSERT ON calls BEGIN DELETE FROM calls WHERE hash = new.hash; END"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if len(mistakes) < 40 {
		t.Errorf("%d mistakes, want at least 40", len(mistakes))
	}
	var page strings.Builder
	page.WriteString("\n| mistake | what is said |\n|---|---|\n")
	for _, m := range mistakes {
		all, code := run(m.command)
		said := partOf(all, m.from)
		lines := 0
		for line := range strings.Lines(said) {
			lines += max(1, (utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))+79)/80)
		}
		flat := strings.Join(strings.Fields(said), " ")
		switch {
		case code != m.code:
			t.Errorf("%s: exit code %d, want %d: %s", m.did, code, m.code, all)
		case !strings.Contains(flat, m.remedy):
			t.Errorf("%s: %q is not in %s", m.did, m.remedy, all)
		case lines > 6:
			t.Errorf("%s: %d lines of 80 columns, more than 6:\n%s", m.did, lines, said)
		}
		if strings.Contains(flat, "did you mean ") {
			continue
		}
		if at := strings.Index(flat, "orbench: "); at >= 0 {
			flat = flat[at+len("orbench: "):]
		}
		fmt.Fprintf(&page, "| %s | %s |\n", m.did, strings.ReplaceAll(flat, "|", "\\|"))
	}
	checkGenerated(t, "docs/mistakes.md", page.String())
}
