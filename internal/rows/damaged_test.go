package rows

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/orbench/orbench"
)

// TestOddLogs has logs that are damaged as whole files, or rarely seen, each with a part of
// what is said of it; those that are good have their rows instead. See also badLogs.
func TestOddLogs(t *testing.T) {
	t.Parallel()
	whole := inspectArchive(t, entry{"samples/1_epoch_1.json", inspectOne})
	// The first bit of the flags, which are six bytes behind the beginning of a local header
	// and eight behind that of an entry in the directory, says that the entry is encrypted.
	encrypted := []byte(archiveOf(t, zip.Deflate, entry{"header.json", "{" + inspectHead + "}"}, entry{"samples/1_epoch_1.json", inspectOne}))
	for i := range len(encrypted) - 8 {
		switch string(encrypted[i : i+4]) {
		case zipMagic:
			encrypted[i+6] |= 1
		case "PK\x01\x02":
			encrypted[i+8] |= 1
		}
	}
	two := strings.NewReplacer(`"id":"x:one","label":"one"`, `"id":"x:two","label":"two"`).Replace(promptfooOne)
	var wide strings.Builder
	for _, c := range inspectLog {
		wide.WriteRune(c)
		wide.WriteByte(0)
	}
	for name, tt := range map[string]struct {
		content string
		lines   int
		want    string
	}{
		"an empty file":              {"", 0, "the file is empty"},
		"UTF-16":                     {"\xff\xfe" + wide.String(), 0, "copy the log again; it begins neither as a ZIP archive nor as JSON"},
		"an archive without its end": {whole[:len(whole)-22], 0, "not a readable ZIP archive: zip: not a valid zip file; copy or export the log again"},
		"an archive cut in front":    {whole[4:], 0, "copy the log again; it begins neither as a ZIP archive nor as JSON"},
		"encrypted":                  {string(encrypted), 0, `"header.json" in it is encrypted`},
		"an attachment as the answer": {
			strings.Replace(inspectLog, `"text":"In water."`, `"text":"attachment://abc"`, 2), 0, `sample "1 of epoch 1" has "an attachment missing from the log"`,
		},
		"an image as the answer": {
			strings.Replace(inspectLog, `{"type":"text","text":"In water."}`, `{"type":"image","image":"data:,"}`, 2), 0, `sample "1 of epoch 1" has "image", which orbench cannot read`,
		},
		"two models": {promptfooOne + "\n" + two, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log.eval")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			lines, _, err := readAnswers(path, "")
			if len(lines) != tt.lines || (err == nil) != (tt.lines > 0) {
				t.Fatalf("%q, %v", lines, err)
			}
			isClear(t, err)
			if err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestHugeSample has a sample of 200 MB, of which no more than the bound is unpacked.
func TestHugeSample(t *testing.T) {
	t.Parallel()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Frames of Zstandard that follow each other are one text.
	packed := encoder.EncodeAll([]byte(`{"id":1,"epoch":1,"input":"`), nil)
	packed = append(packed, bytes.Repeat(encoder.EncodeAll(bytes.Repeat([]byte("x"), 1<<20), nil), 200)...)
	path := filepath.Join(t.TempDir(), "log.eval")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(file)
	sample, err := w.CreateRaw(&zip.FileHeader{Name: "samples/1_epoch_1.json", Method: zipZstandard, CompressedSize64: uint64(len(packed)), UncompressedSize64: 200 << 20})
	if err == nil {
		_, err = sample.Write(packed)
	}
	header, failed := w.Create("header.json")
	if failed == nil {
		_, failed = io.WriteString(header, "{"+inspectHead+"}")
	}
	if err := errors.Join(err, failed, w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, err = readAnswers(path, "")
	if err == nil || !strings.Contains(err.Error(), `"samples/1_epoch_1.json" in it has more than 16777216 bytes unpacked`) {
		t.Error(err)
	}
	isClear(t, err)
}

// TestDamagedLogInFolder names the log of a folder that is damaged, and no row counts.
func TestDamagedLogInFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.json": inspectLog, "b.json": inspectLog[:len(inspectLog)-3], "c.json": inspectLog} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines, _, err := readAnswers(dir, "")
	if !errors.Is(err, orbench.ErrInput) || lines != nil || !strings.Contains(err.Error(), "b.json: ") || !strings.Contains(err.Error(), "the file ends too soon") {
		t.Errorf("%q, %v", lines, err)
	}
	isClear(t, err)
}
