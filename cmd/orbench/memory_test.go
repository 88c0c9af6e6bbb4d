package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
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

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// oneGB is what a command may take in TestWithinOneGigabyte.
const oneGB = 1 << 30

// TestWithinOneGigabyte gives commands what would take gigabytes to read, from files
// and from servers, in a control group that may have one: each is done, or ends by
// itself with what it says.
func TestWithinOneGigabyte(t *testing.T) {
	if !long() {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	group, peakFile := controlGroup(t)
	dir := t.TempDir()
	write := func(name string, text []byte, size int64) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if size > 0 {
			// The rest is a hole of NUL bytes.
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	const huge = 8 << 30
	aliases := "targets:\n  - &l0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		aliases += fmt.Sprintf("  - &l%d [%s*l%d]\n", i, strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), i-1)
	}
	aliases += "  - {target: *l9}\ndatasets: [starter]\n"
	yaml := map[string]string{
		"aliases":  write("aliases.yaml", []byte(aliases), 0),
		"brackets": write("brackets.yaml", []byte("targets: "+strings.Repeat("[", 1_000_000)), 0),
		"long":     write("long.yaml", []byte("targets:\n"), huge),
	}
	type attempt struct {
		args []string
		code int
		want string
	}
	attempts := map[string]attempt{}
	file := func(name string, want string, args ...string) { attempts[name] = attempt{args, 2, want} }
	for name, path := range yaml {
		want := map[string]string{"aliases": "aliases expanded", "brackets": "are nested", "long": "more than 1048576 bytes"}[name]
		file("experiment: "+name, want, "eval", "--config", path, "--dry-run")
		file("build: "+name, want, "build", "--config", path, "--dry-run", "--out", filepath.Join(dir, "none"))
		file("providers: "+name, want, "eval", "--target", "sim/balanced", "--dataset", "starter", "--set", "providers="+path, "--dry-run")
		policy := want
		if name == "brackets" {
			policy = "longer than"
		}
		if name != "aliases" {
			policy = "100"
		}
		file("policy: "+name, policy, "moderate", "starter", "--policy", path, "--moderator", "sim/moderator-a", "--dry-run")
	}
	quote := "prompt,label\n\"" + strings.Repeat("How deep is lake one? ", 1<<20)
	datasets := map[string]string{
		"line.jsonl":     "the row that starts here has more than 4194304 bytes",
		"quote.csv":      "the row that starts here has more than 4194304 bytes",
		"commas.csv":     "",
		"array.json":     "",
		"object.json":    "malformed JSON",
		"keys.jsonl":     "more than 20000 names in one row",
		"footer.parquet": "entries",
		"gzip.parquet":   "larger than it says",
		"run.parquet":    "more than 4194304 values",
	}
	write("line.jsonl", []byte(`{"prompt": "`), huge)
	write("quote.csv", []byte(quote), huge)
	write("commas.csv", bytes.Repeat([]byte{','}, 64<<20), 0)
	write("array.json", bytes.Repeat([]byte{'['}, 64<<20), 0)
	write("object.json", []byte(`[{"prompt": "`), huge)
	var keys strings.Builder
	for i := 0; keys.Len() < 4<<20-100; i++ {
		fmt.Fprintf(&keys, `"%d":{},`, i)
	}
	write("keys.jsonl", []byte(strings.Repeat("{"+keys.String()+"\"prompt\":\"Hi?\"}\n", 2)), 0)
	write("footer.parquet", parquetFile(nil, append([]byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}, 0)), 0)
	write("gzip.parquet", parquetBomb(t), 0)
	write("run.parquet", parquetRun(t), 0)
	for name, want := range datasets {
		path := filepath.Join(dir, name)
		file("dataset: "+name, want, "eval", "--target", "sim/balanced", "--dataset", path, "--dry-run")
		file("answers: "+name, "", "judge", "--responses", path, "--prompt-column", "", "--response-column", "prompt", "--judge", "lexical")
		training := filepath.Join(dir, "training "+name)
		if err := os.Mkdir(training, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, filepath.Join(training, "train"+filepath.Ext(name))); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(training, "train"+filepath.Ext(name)), path); err != nil {
			t.Fatal(err)
		}
		attempts["training data: "+name] = attempt{[]string{"export", "--check", training}, -1, ""}
	}
	write("benchmark/manifest.json", []byte(`{"format": 1, "name": "`), huge)
	write("benchmark/hard.csv", []byte("prompt\nHow deep is lake one?\n"), 0)
	attempts["manifest"] = attempt{[]string{"dataset", "stats", filepath.Join(dir, "benchmark", "hard.csv")}, -1, ""}
	file("system prompt", "more than 1048576 bytes", "eval", "--target", "sim/balanced", "--dataset", "starter", "--system", "@"+yaml["long"], "--dry-run")

	run := func(name string, a attempt) {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store.db")
			words := a.args
			if words[0] == "eval" || words[0] == "moderate" {
				words = append(words, "--store", store)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec orbench "$@"`, group}, words...)...)
			c.Env = append(os.Environ(), "OPENAI_API_KEY=sk-for-nobody")
			var stdout, stderr bytes.Buffer
			c.Stdout, c.Stderr = &stdout, &stderr
			began := time.Now()
			err := c.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			state := c.ProcessState
			peak, _ := os.ReadFile(filepath.Join(group, peakFile))
			_ = os.WriteFile(filepath.Join(group, peakFile), []byte("0"), 0o644)
			said := strings.TrimSpace(stderr.String())
			t.Logf("%s bytes at most, %v, code %d: %.300s", bytes.TrimSpace(peak), time.Since(began).Round(10*time.Millisecond), state.ExitCode(), said)
			switch {
			case !state.Exited():
				t.Errorf("killed: %v, %.2000s", state, said)
			case a.code < 0:
			case state.ExitCode() != a.code || state.ExitCode() == 2 && (strings.Count(said, "\n") > 0 || !strings.HasPrefix(said, "orbench: ")) || !strings.Contains(said, a.want):
				t.Errorf("code %d, want %d and one line with %q: %.2000s", state.ExitCode(), a.code, a.want, said)
			case len(said) > 4000:
				t.Errorf("it says %d bytes", len(said))
			}
		})
	}
	for name, a := range attempts {
		run(name, a)
	}

	long := bytes.Repeat([]byte("x"), 15<<20)
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	for range 256 {
		if _, err := zip.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		reply := func(text []byte) {
			fmt.Fprint(w, `{"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "`)
			_, _ = w.Write(text)
			fmt.Fprint(w, `"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}`)
		}
		switch kind {
		case "long":
			reply(long)
		case "answers":
			reply(long[:1<<20])
		case "headers":
			for i := range 640 {
				w.Header().Set(fmt.Sprintf("X-Long-%d", i), strings.Repeat("x", 64<<10))
			}
			reply([]byte("Yes."))
		case "endless":
			for {
				if _, err := w.Write(long[:1<<20]); err != nil {
					return
				}
			}
		case "nested":
			_, _ = w.Write(bytes.Repeat([]byte{'['}, 15<<20))
		case "choices":
			fmt.Fprint(w, `{"choices": [{}`)
			_, _ = w.Write(bytes.Repeat([]byte(",{}"), 1<<20))
			fmt.Fprint(w, `]}`)
		case "zipped":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped.Bytes())
		}
	}))
	defer server.Close()
	for name, want := range map[string][2]string{ // without a limit of tokens, and with one
		"long":    {"the reply is longer than 4194304 bytes", "the reply is longer than 1304576 bytes"},
		"answers": {"", "the answer has 1048576 bytes; at most 193536 are allowed"},
		"headers": {"headers exceeded 65536 bytes", "headers exceeded 65536 bytes"},
		"endless": {"the reply is longer than 4194304 bytes", "the reply is longer than 1304576 bytes"},
		"nested":  {"the reply is longer than 4194304 bytes", "the reply is longer than 1304576 bytes"},
		"choices": {"the reply has more than 200000 values of JSON", "the reply is longer than 1304576 bytes"},
		"zipped":  {"the reply is longer than 4194304 bytes", "the reply is longer than 1304576 bytes"},
	} {
		for i, tokens := range []string{"0", "1000"} {
			code := 1
			if want[i] == "" {
				code = 0
			}
			run("server: "+name+", tokens "+tokens, attempt{[]string{
				"eval", "--target", "openai/m", "--base-url", server.URL + "/" + name, "--dataset", "starter", "--limit", "64", "--concurrency", "64",
				"--max-tokens", tokens, "--set", "attempts=1", "--quiet",
			}, code, want[i]})
		}
	}
}

// controlGroup makes a group that may have oneGB, and gives its folder and the name of
// the file with its peak. It skips the test where none can be made.
func controlGroup(t *testing.T) (folder, peak string) {
	t.Helper()
	for _, version := range []struct{ root, limit, peak string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.peak"},
	} {
		group := filepath.Join(version.root, fmt.Sprintf("orbench-test-%d", os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(group, version.limit), fmt.Append(nil, oneGB), 0o644) == nil {
			t.Cleanup(func() { _ = os.Remove(group) })
			return group, version.peak
		}
		_ = os.Remove(group)
	}
	t.Skip("no control group can be made here")
	return "", ""
}

// parquetFile makes a Parquet file out of its pages and its footer.
func parquetFile(pages, footer []byte) []byte {
	data := append([]byte("PAR1"), pages...)
	data = append(data, footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

// parquetBomb makes a file whose page says that it has a few bytes and has a gigabyte.
func parquetBomb(t *testing.T) []byte {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	for range 1024 {
		if _, err := zip.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return parquetOf(t, format.Gzip, format.Plain, 1000, zipped.Bytes())
}

// parquetRun makes a file whose page has a run of two billion indexes.
func parquetRun(t *testing.T) []byte {
	return parquetOf(t, format.Uncompressed, format.RLEDictionary, 8, []byte{1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0})
}

// parquetOf makes a file of a column of prompts with one page.
func parquetOf(t *testing.T, codec format.CompressionCodec, encoding format.Encoding, size int32, data []byte) []byte {
	t.Helper()
	marshal := func(v any) []byte {
		b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	page := append(marshal(&format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: size, CompressedPageSize: int32(len(data)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 10, Encoding: encoding}),
	}), data...)
	return parquetFile(page, marshal(&format.FileMetaData{
		Version: 1, NumRows: 10,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(int32(1))},
			{Name: "prompt", Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Required)},
		},
		RowGroups: []format.RowGroup{{NumRows: 10, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: format.ByteArray, Encoding: []format.Encoding{encoding}, PathInSchema: []string{"prompt"}, Codec: codec, NumValues: 10,
			TotalCompressedSize: int64(len(page)), TotalUncompressedSize: int64(size), DataPageOffset: 4,
		}}}}},
	}))
}
