package rows

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/untrusted"
)

// inspectHeader is what a log of Inspect says of all samples.
type inspectHeader struct {
	Eval struct {
		Model string `json:"model"`
	} `json:"eval"`
	Results *struct {
		Completed *int `json:"completed_samples"`
	} `json:"results"`
}

// inspectSample is a sample of a log of Inspect.
type inspectSample struct {
	ID          jsontext.Value            `json:"id"`
	Epoch       int                       `json:"epoch"`
	Input       jsontext.Value            `json:"input"`
	Messages    jsontext.Value            `json:"messages"`
	Attachments map[string]jsontext.Value `json:"attachments"`
	Target      jsontext.Value            `json:"target"`
	Metadata    map[string]jsontext.Value `json:"metadata"`
	Output      struct {
		Choices []struct {
			Message jsontext.Value `json:"message"`
			Stop    string         `json:"stop_reason"`
		} `json:"choices"`
		Usage jsontext.Value `json:"usage"`
		Error string         `json:"error"`
	} `json:"output"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
	// Invalidation says why the owner of the log does not want the sample to count.
	Invalidation jsontext.Value `json:"invalidation"`
}

// name is the sample in messages to the user.
func (s *inspectSample) name() string {
	id, _ := jsonText(json.RawMessage(s.ID), true)
	return fmt.Sprintf("%s of epoch %d", id, s.Epoch)
}

// attachment is a text that stands for another.
var attachment = regexp.MustCompile(`"attachment://[^"\\]*"`)

// attach puts the attachments in place of the texts that stand for them, and reports whether all
// are there.
func (s *inspectSample) attach(values ...*jsontext.Value) bool {
	all := true
	for _, v := range values {
		*v = attachment.ReplaceAllFunc(*v, func(name []byte) []byte {
			text, known := s.Attachments[string(name[len(`"attachment://`):len(name)-1])]
			all = all && known
			return text
		})
	}
	return all
}

// answers makes the answers of the sample. In the log of a product a transcript with tools is
// one answer, all of it in the prompt.
func (s *inspectSample) answers(at place, asked string, traffic bool) ([]logged, error) {
	if s.Input == nil && s.Messages == nil {
		return nil, &orbench.InputError{
			File: at.file, Problem: fmt.Sprintf("sample %s has no input", untrusted.Quote(s.name())), Hint: "have Inspect log the samples in full",
		}
	}
	read := []*jsontext.Value{&s.Input, &s.Messages}
	for i := range s.Output.Choices {
		read = append(read, &s.Output.Choices[i].Message)
	}
	if !s.attach(read...) {
		return nil, at.cannotRead(s.name(), "an attachment missing from the log")
	}
	var dialog saying
	if v := cmp.Or(string(s.Messages), "[]"); !dialog.add(jsontext.Value(v), "user", 0) {
		return nil, at.cannotRead(s.name(), unknownForm)
	}
	tools := traffic && (dialog.tool || dialog.tools)
	var prompt []orbench.Message
	var other string
	switch {
	case tools:
	case dialog.user == "" && dialog.said == nil:
		prompt, other = ask(s.Input)
	default:
		prompt, other = dialog.asked()
	}
	if other != "" {
		return nil, at.cannotRead(s.name(), other)
	}
	base := logged{messages: prompt, model: asked, fields: map[string]json.RawMessage{"epoch": json.RawMessage(strconv.Itoa(s.Epoch))}}
	for name, value := range map[string]jsontext.Value{"id": s.ID, "target": s.Target} {
		if value != nil {
			base.fields[name] = json.RawMessage(value)
		}
	}
	for name, value := range s.Metadata {
		base.fields["metadata."+name] = json.RawMessage(value)
	}
	base.said.Usage = usageOf(s.Output.Usage)
	switch {
	case Holds(string(s.Invalidation)):
		base.failed = "sample " + s.name() + ": its owner says that it is not valid"
		return []logged{base}, nil
	case s.Error != nil:
		return []logged{base.without("sample "+s.name(), s.Error.Message)}, nil
	case len(s.Output.Choices) == 0:
		return []logged{base.without("sample "+s.name(), cmp.Or(s.Output.Error, "no output"))}, nil
	}
	if tools {
		base.transcript = s.Messages
		base.said.Finish, base.said.Block = reply.End(s.Output.Choices[0].Stop)
		return []logged{base}, nil
	}
	var all []logged
	for _, c := range s.Output.Choices {
		a, other := base.replied(c.Message, c.Stop)
		if other != "" {
			return nil, at.cannotRead(s.name(), other)
		}
		all = append(all, a)
	}
	return all, nil
}

// openInspectJSON reads a log of Inspect in the form of one JSON object.
func openInspectJSON(file string, in input, choose Chooser) (nextFunc, error) {
	l, kept, err := openLogJSON(file, in, []string{"samples"}, "eval", "results")
	if err != nil {
		return nil, err
	}
	var about inspectHeader
	for name, into := range map[string]any{"eval": &about.Eval, "results": &about.Results} {
		if raw := kept[name]; raw != nil {
			if err := (place{file: file}).parse(raw, into); err != nil {
				return nil, err
			}
		}
	}
	return about.open(file, in, choose, func() (place, []byte, error) {
		at, text, err := l.next()
		if errors.Is(err, io.EOF) {
			err = cmp.Or(about.complete(file, l.number), err)
		}
		return at, text, err
	})
}

// open reads the samples of a log.
func (h inspectHeader) open(file string, in input, choose Chooser, next samples) (nextFunc, error) {
	return openLog(file, in, choose, always("an Inspect log; its scores are left out"), next, func(at place, text []byte) ([]logged, error) {
		var s inspectSample
		if err := at.parse(text, &s); err != nil {
			return nil, err
		}
		return s.answers(at, h.Eval.Model, in.traffic)
	})
}

// complete checks that the log has all samples that it says to have.
func (h inspectHeader) complete(file string, samples int) error {
	if h.Results == nil || h.Results.Completed == nil || *h.Results.Completed <= samples {
		return nil
	}
	return &orbench.InputError{
		File: file, Problem: fmt.Sprintf("the log says that %d samples are complete, but has %d", *h.Results.Completed, samples),
		Hint: "copy the log again, or write it again with all samples",
	}
}

// openInspectZIP reads a log of Inspect in the form of a ZIP archive.
func openInspectZIP(file string, in input, choose Chooser) (nextFunc, error) {
	if in.file == nil {
		return nil, wantsFile(file)
	}
	archive, err := zip.NewReader(in.file, in.size)
	if err != nil {
		return nil, &orbench.InputError{
			File: file, Problem: "not a readable ZIP archive: " + brief(err.Error()), Hint: "copy or export the log again",
		}
	}
	archive.RegisterDecompressor(zipZstandard, zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxSample)))
	entries := map[string]*zip.File{}
	var samples []*zip.File
	for _, f := range archive.File {
		if entries[f.Name] != nil {
			return nil, entryFault(file, f.Name, "is there twice")
		}
		if entries[f.Name] = f; path.Dir(f.Name) == "samples" && path.Ext(f.Name) == ".json" {
			samples = append(samples, f)
		}
	}
	header := cmp.Or(entries["header.json"], entries["_journal/start.json"])
	if header == nil {
		return nil, &orbench.InputError{File: file, Problem: "a ZIP archive without header.json, so not an Inspect log", Hint: "unpack it, or save a workbook as \"CSV UTF-8\""}
	}
	var about inspectHeader
	at, text, err := readEntry(file, header)
	if err == nil {
		err = at.parse(text, &about)
	}
	if err != nil {
		return nil, err
	}
	if err := about.complete(file, len(samples)); err != nil {
		return nil, err
	}
	slices.SortFunc(samples, func(a, b *zip.File) int {
		aEpoch, aID := samplePlace(a.Name)
		bEpoch, bID := samplePlace(b.Name)
		aNumber, _ := strconv.Atoi(aID) // 0 for an ID that is no number
		bNumber, _ := strconv.Atoi(bID)
		return cmp.Or(cmp.Compare(aEpoch, bEpoch), cmp.Compare(aNumber, bNumber), cmp.Compare(aID, bID))
	})
	return about.open(file, in, choose, func() (at place, text []byte, err error) {
		if len(samples) == 0 {
			return at, nil, io.EOF
		}
		f := samples[0]
		samples = samples[1:]
		return readEntry(file, f)
	})
}

// zipMagic begins a ZIP archive.
const zipMagic = "PK\x03\x04"

// zipZstandard is the number of Zstandard among the methods of compression of ZIP.
const zipZstandard = 93

// zipEncrypted is the flag of an entry of a ZIP archive that takes a password.
const zipEncrypted = 1

// samplePlace gives the epoch and the ID in the name of a sample's entry, such as
// samples/ID_epoch_1.json.
func samplePlace(name string) (epoch int, id string) {
	name = strings.TrimSuffix(path.Base(name), ".json")
	at := strings.LastIndex(name, "_epoch_")
	if at < 0 {
		return 0, name
	}
	epoch, _ = strconv.Atoi(name[at+len("_epoch_"):])
	return epoch, name[:at]
}

// readEntry unpacks an entry of an archive.
func readEntry(file string, f *zip.File) (at place, text []byte, err error) {
	at = place{file: file, entry: f.Name}
	if f.Flags&zipEncrypted != 0 {
		return at, nil, entryFault(file, f.Name, "is encrypted")
	}
	in, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return at, nil, entryFault(file, f.Name, fmt.Sprintf("is compressed by method %d; orbench reads 0, 8 and %d", f.Method, zipZstandard))
	}
	if err != nil {
		return at, nil, entryFault(file, f.Name, "cannot be read: "+err.Error())
	}
	defer in.Close()
	// The size in the archive may be wrong, so it does not bound what is read.
	unpacked := bytes.NewBuffer(make([]byte, 0, min(f.UncompressedSize64, textBuffer)))
	_, err = unpacked.ReadFrom(&bounded{in: in, most: maxSample})
	switch {
	case errors.Is(err, errLongRow):
		return at, nil, entryFault(file, f.Name, fmt.Sprintf("has more than %d bytes unpacked", maxSample))
	case err != nil:
		return at, nil, entryFault(file, f.Name, "cannot be unpacked: "+err.Error())
	}
	return at, unpacked.Bytes(), nil
}

// entryFault is the fault of an entry of an archive. Like place.fault it wraps no error.
func entryFault(file, entry, problem string) error {
	return &orbench.InputError{
		File: file, Problem: untrusted.Quote(entry) + " in it " + brief(problem), Hint: "copy the log again, or have Inspect write it anew",
	}
}
