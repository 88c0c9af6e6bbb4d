package rows

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// fileFormat is a format that can be read. To add one, add a file beside csv.go with the
// function that opens it, and a row in formats or, for another tool's log of its answers,
// in logs.
type fileFormat struct {
	name string
	// version is the version of the format that is read, empty if it has none.
	version string
	// endings are the file name endings of the format.
	endings []string
	// is reports by the first bytes whether a file with such an ending has the format.
	is   func(head []byte) bool
	open func(file string, in input, choose Chooser) (nextFunc, error)
}

// input is the content of a file. Text is read from beginning to end. So it may be a
// pipe, whose content may come later than the file is opened.
type input struct {
	io.Reader
	// file and size are for formats that need random access.
	file io.ReaderAt
	size int64
	// notes are for what the user must know of a log, in lines.
	notes *[]string
	// traffic is true if exchanges are read, not answers: then transcripts with tools count, and
	// what is nested in JSON is parsed only as far as it is looked for.
	traffic bool
}

// headSize is the number of bytes needed to recognize the format of a file.
const headSize = 1024

// formats are all formats that can be read. Among those with the same ending, the
// narrower comes first. The last one reports what is wrong with a file that has none of
// them.
func formats() []fileFormat {
	return []fileFormat{
		{name: "CSV", version: "RFC 4180", endings: []string{".csv"}, is: isText, open: separatedBy(',')},
		{name: "TSV", endings: []string{".tsv"}, is: isText, open: separatedBy('\t')},
		{name: "JSON Lines", endings: []string{".jsonl", ".ndjson"}, is: begins("{"), open: openJSONL},
		{name: "JSON", version: "RFC 8259", endings: []string{".json"}, is: begins("[", "{"), open: openJSON},
		{name: "Parquet", version: "2", endings: []string{".parquet"}, is: begins(parquetMagic), open: openParquet},
	}
}

// parquetMagic begins a Parquet file.
const parquetMagic = "PAR1"

// Parquet reads the chosen columns of a Parquet file of some size, row by row. The program sets
// it to parquetfile.Open, before it reads anything. So a package that reads rows does not have
// the library for such files in its tests, which is larger than all else in them.
var Parquet func(file string, in io.ReaderAt, size int64, choose Chooser) (func() (Row, error), error)

func openParquet(file string, in input, choose Chooser) (nextFunc, error) {
	switch {
	case in.file == nil:
		return nil, wantsFile(file)
	case Parquet == nil:
		return nil, &orbench.InputError{File: file, Problem: "this program does not read Parquet", Hint: "save it as CSV or JSON Lines"}
	}
	return Parquet(file, in.file, in.size, choose)
}

// logFormat is the format of another tool's log, in which recorded answers are found.
type logFormat struct {
	// is tells the format by the paths of the first object of a file; see pathsIn.
	is   func(paths map[string]bool) bool
	open func(file string, in input, choose Chooser) (nextFunc, error)
	// lacking says what is in a file that belongs to logs and has no answers, and hint what to
	// name in its place. Such a format has no open.
	lacking, hint string
}

// logHead is the number of bytes needed to recognize a log.
const logHead = 64 << 10

// logs are the logs that can be read, whatever their names end in, and the files beside
// them that people name by mistake.
func logs() []logFormat {
	return []logFormat{
		{is: has("/version", "/eval", "/eval/run_id"), open: openInspectJSON},
		{is: has("/doc_id", "/arguments", "/resps"), open: openHarness},
		{
			is: has("/results", "/configs", "/versions"), lacking: "the results of lm-evaluation-harness",
			hint: "name samples_*.jsonl beside it; the harness writes that file if it logs samples",
		},
		{is: has("/results", "/results/version", "/results/prompts"), open: openPromptfooJSON},
		{is: has("/results", "/results/version", "/results/results"), open: openPromptfooJSON}, // without its prompts
		{is: has("/promptIdx", "/provider"), open: openPromptfooLines},
		{is: has("/custom_id", "/body"), lacking: batchCalls, hint: "name the output of the batch; the calls are found beside it"},
		{is: has("/custom_id", "/response"), open: openBatch},
		{is: has("/custom_id", "/result"), open: openBatch},                    // https://docs.claude.com/en/api/retrieving-message-batch-results
		{is: has("/key", "/response"), open: openBatch},                        // https://ai.google.dev/gemini-api/docs/batch-api
		{is: has("/processed_time", "/request", "/response"), open: openBatch}, // Vertex AI
		{is: has("/recordId", "/modelInput"), open: openBatch},                 // https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html
		{is: has("/schema_version", "/evaluation_id", "/sample_id"), open: openInstances},
		{
			is: has("/schema_version", "/evaluation_id", "/evaluation_results"), lacking: "aggregate results of Every Eval Ever",
			hint: "name the file of its samples, *_samples.jsonl",
		},
		{is: has("/resourceSpans"), open: openTelemetry},
		{is: has("/resourceLogs"), open: openTelemetry},
	}
}

// logOf gives the format of a log with the given first bytes. It has neither open nor lacking
// if the bytes are those of none.
func logOf(head []byte) logFormat {
	if bytes.HasPrefix(head, []byte(zipMagic)) {
		return logFormat{open: openInspectZIP}
	}
	found := pathsIn(untrusted.Finite(bytes.Clone(head)))
	for _, l := range logs() {
		if l.is(found) {
			return l
		}
	}
	return logFormat{}
}

// isText accepts data without bytes that never occur in text.
func isText(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }

// begins accepts data that starts with one of the beginnings, after white space.
func begins(with ...string) func(head []byte) bool {
	return func(head []byte) bool {
		head = bytes.TrimLeft(head, "\ufeff \t\r\n")
		return slices.ContainsFunc(with, func(s string) bool { return bytes.HasPrefix(head, []byte(s)) })
	}
}

// formatOf gives the format of a file from its ending and its first bytes.
func formatOf(path string, head []byte) (found fileFormat) {
	for _, f := range formats() {
		if !slices.Contains(f.endings, endingOf(path)) {
			continue
		}
		if found = f; f.is(head) {
			break
		}
	}
	return found
}

// guess gives the format of a content whose name does not tell it.
func guess(head []byte) fileFormat {
	name := "a.csv"
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case begins(parquetMagic)(head):
		name = "a.parquet"
	case begins("{")(head) && jsontext.Value(bytes.TrimLeft(line, "\ufeff")).IsValid():
		name = "a.jsonl"
	case begins("{", "[")(head):
		name = "a.json"
	case bytes.Count(line, []byte("\t")) > bytes.Count(line, []byte(",")):
		name = "a.tsv"
	}
	return formatOf(name, head)
}

// endingOf gives the ending that says the format; that of a compressed file is before it.
func endingOf(path string) string {
	ending := strings.ToLower(filepath.Ext(path))
	if slices.Contains(packedEndings, ending) {
		return endingOf(strings.TrimSuffix(path, filepath.Ext(path)))
	}
	return ending
}

// Endings are the file name endings that can be read.
func Endings() (all []string) {
	for _, f := range formats() {
		all = append(all, f.endings...)
	}
	return all
}

// Readable reports whether files with the ending of path can be read.
func Readable(path string) bool { return slices.Contains(Endings(), endingOf(path)) }

// Unknown is the fault of a file that is missing or has an unknown ending.
func Unknown(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fileFault(path, err)
	}
	if info.IsDir() {
		return folderFault(path)
	}
	if info.Size() == 0 {
		return emptyFile(path)
	}
	endings := Endings()
	last := len(endings) - 1
	hint := "name a file that ends in " + strings.Join(endings[:last], ", ") + " or " + endings[last]
	switch endingOf(path) {
	case ".xls", ".xlsx", ".ods":
		hint = "save the sheet as \"CSV UTF-8\""
	case ".zip":
		hint = "unpack it first"
	case ".eval":
		hint = "copy the log again; it begins neither as a ZIP archive nor as JSON"
	}
	return &orbench.InputError{File: path, Problem: fmt.Sprintf("unknown file ending %s", untrusted.Quote(cmp.Or(endingOf(path), filepath.Ext(path)))), Hint: hint}
}
