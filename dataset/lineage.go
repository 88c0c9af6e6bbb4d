package dataset

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// lineageFile has a line for each prompt of a built benchmark, with its seed.
const lineageFile = "lineage.jsonl"

// seedMap leads from a prompt of a built benchmark to what it was rewritten from.
// Both are the bits of prompt IDs.
type seedMap map[uint64]uint64

// of gives the ID of the seed that a prompt goes back to in the end: a seed may
// itself be a rewrite that stayed toxic. A prompt that the lineage lacks, and a
// seed, is its own.
func (m seedMap) of(id orbench.PromptID) string {
	// More rounds than any build has; a file that leads in a circle ends too.
	const most = 1000
	at := idBits(id)
	for range most {
		next, ok := m[at]
		if !ok || next == at {
			break
		}
		at = next
	}
	return fmt.Sprintf("p%016x", at)
}

// seeds reads the lineage beside a set of a built benchmark. It is nil where there
// is none; one that is not the manifest's is an *orbench.InputError.
func (m *manifest) seeds(ctx context.Context, path string) (seedMap, error) {
	path = filepath.Join(filepath.Dir(path), lineageFile)
	want := m.Files[lineageFile].SHA256
	if want == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileFault(path, err)
	}
	defer f.Close()
	hash := sha256.New()
	lines := bufio.NewReaderSize(io.TeeReader(f, hash), 1<<20)
	seeds := seedMap{}
	var line []byte
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err = readLine(lines, line[:0])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		id, seed, err := lineageIDs(line)
		if err != nil {
			return nil, &orbench.InputError{File: path, Line: n, Problem: "not a row of a lineage: " + err.Error(), Hint: lineageHint, Err: err}
		}
		if id != seed {
			seeds[idBits(id)] = idBits(seed)
		}
	}
	if hex.EncodeToString(hash.Sum(nil)) != want {
		return nil, &orbench.InputError{
			File: path, Problem: "the file is not the one that was built: its content has another hash than manifest.json says", Hint: lineageHint,
		}
	}
	return seeds, nil
}

// lineageHint mends a lineage that tells no seeds.
const lineageHint = "build the benchmark again, or move the set to a folder of its own and do without its seeds"

// readLine appends a line without its end to buf; io.EOF is for no more lines.
func readLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		buf = append(buf, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(buf) > 0:
			return buf, nil
		case err != nil:
			return buf, err
		}
		return buf[:len(buf)-1], nil
	}
}

// lineageIDs finds the prompt's and its seed's ID in a row. It reads no further
// than these: most of a row are votes.
func lineageIDs(line []byte) (id, seed orbench.PromptID, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(line))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return "", "", errors.Join(errors.New("no object"), err)
	}
	for id == "" || seed == "" {
		name, err := d.ReadToken()
		if err != nil {
			return "", "", err
		}
		if name.Kind() == '}' {
			return "", "", errors.New("no id, or no seed_id")
		}
		var into *orbench.PromptID
		switch name.String() {
		case "id":
			into = &id
		case "seed_id":
			into = &seed
		default:
			if err := d.SkipValue(); err != nil {
				return "", "", err
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			return "", "", err
		}
		*into = orbench.PromptID(value.String())
		if !isID(*into) {
			return "", "", fmt.Errorf("%s is not the ID of a prompt", untrusted.Quote(string(*into)))
		}
	}
	return id, seed, nil
}

// isID reports whether a text has the form of a prompt's ID.
func isID(id orbench.PromptID) bool {
	if len(id) != 17 || id[0] != 'p' {
		return false
	}
	_, err := hex.DecodeString(string(id[1:]))
	return err == nil
}
