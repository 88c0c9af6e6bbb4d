package answers

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	json "github.com/go-json-experiment/json/v1"
	"github.com/klauspost/compress/gzip"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/words"
)

var (
	//go:embed answers.html
	pageTemplate string
	//go:embed answers.js
	pageScript string
)

const (
	// chunks is the folder of the files that the page loads.
	chunks = "answers/"
	// chunkBytes is about how long the lines of a file are: large enough for few files, and
	// small enough that fifty of them, for a page of answers from all over, load at once.
	chunkBytes = 128 << 10
	// batch is how many prompts are listed by one call of a script.
	batch = 1000
	// mostListed is about how much memory the lists of words take before they are written, and
	// blockBytes how much of them is in a file.
	mostListed = 64 << 20
	blockBytes = 96 << 10
)

// Writer writes all answers as lines of JSON, the page that shows them, and what it loads: a list of all rows with what
// they are chosen and sorted by, files with the lines of some rows each, and files with lists
// of the texts that have a word. The page's script shows the rows that are looked at. Memory
// does not grow with the rows. A page that was opened from a disk may load scripts alone, so
// each file is a script that calls a function with its data.
type Writer struct {
	files *folder.Folder
	// file is the name of the page.
	file     string
	redacted bool
	// first is the first page of rows, which shows without a script too.
	first []page.Row
	// lines has each row as a line of JSON, and fresh those that are not yet written.
	lines   io.Writer
	fresh   bytes.Buffer
	encoder *json.Encoder
	// list is the list of rows, and listed the prompts of the batch that is not yet in it.
	list   io.Writer
	listed [][]any
	// chunk is the lines of the file that is being filled, and number counts the files.
	chunk  bytes.Buffer
	number int
	packer *gzip.Writer
	// rows counts the rows.
	rows int
	// words lists the texts that have a word, and texts counts them: of each prompt, its own
	// and the answers to it. blocks counts the files with lists.
	words      *words.Lists
	vocabulary facet.Vocabulary
	texts      uint32
	blocks     int
	mostListed int

	// table counts the rows by what they are chosen by, and sampleOf has the numbers of its
	// samples, without the target that they are variants of.
	table     facet.Table
	sampleOf  map[facet.Sample]int
	simulated bool
	names     names
}

// names is what numbers in the list of rows stand for.
type names struct {
	// Samples and Kinds have the terms of rows, and Scored the numbers of the judges that gave
	// scores to rows of a kind.
	Samples []facet.Terms `json:"samples"`
	Kinds   []facet.Terms `json:"kinds"`
	Scored  [][]int       `json:"scored"`
	Judges  []string      `json:"judges"`
	// Words has, for each part of the texts, the first word of each file with lists, in the
	// order of the files.
	Words [][][]byte `json:"words"`
	// Refused lists the classes that are refusals.
	Refused []orbench.Class `json:"refused"`
}

// NewWriter makes a Writer for a page with a name, and a file of lines, in a folder. Rows
// lose their texts if it is redacted.
func NewWriter(files *folder.Folder, file, lines string, redacted bool) (*Writer, error) {
	packer, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	p := &Writer{files: files, file: file, redacted: redacted, packer: packer, sampleOf: map[facet.Sample]int{}, words: words.New(), mostListed: mostListed}
	p.encoder = encoder(&p.fresh)
	if p.lines, err = files.Stream(lines); err == nil {
		p.list, err = files.Stream(chunks + "rows.js")
	}
	return p, err
}

// encoder writes JSON for files. Some programs that read a file line by line treat more than
// one character as the end of a line, and people view files on terminals.
func encoder(out io.Writer) *json.Encoder {
	e := json.NewEncoder(untrusted.NewWriter(out))
	e.SetEscapeHTML(false)
	return e
}

// Add takes the rows of all targets on some prompts.
func (p *Writer) Add(c score.Chunk) error {
	prompts := make([][]*score.AnswerRow, len(c.Prompts))
	for _, samples := range c.Rows {
		for _, rows := range samples {
			for i := range rows {
				row := &rows[i]
				if p.redacted {
					row = row.Redacted()
				}
				prompts[i] = append(prompts[i], row)
			}
		}
	}
	var listing sync.WaitGroup
	if !p.redacted {
		listing.Go(func() {
			for _, text := range facet.Texts(c) {
				p.words.Add(p.texts, text)
				p.texts++
			}
			p.vocabulary.Add(c)
		})
	}
	var err error
	for i := 0; i < len(prompts) && err == nil; i++ {
		err = p.add(prompts[i])
	}
	listing.Wait()
	if err == nil && p.words.Bytes() > p.mostListed {
		err = p.putWords()
	}
	if err == nil {
		_, err = p.lines.Write(p.fresh.Bytes())
		p.fresh.Reset()
	}
	return err
}

// putWords writes the lists of words so far.
func (p *Writer) putWords() error {
	var firsts [][]byte
	err := p.words.Write(blockBytes, func(first string, block []byte) error {
		firsts = append(firsts, []byte(first))
		p.blocks++
		return p.putFile(fmt.Sprintf("words-%d", p.blocks-1), fmt.Appendf(nil, "%q", base64.StdEncoding.EncodeToString(block)))
	})
	p.names.Words, p.words = append(p.names.Words, firsts), words.New()
	return err
}

// putFile writes a file that the page loads, which passes data to its script.
func (p *Writer) putFile(name string, data []byte) error {
	return p.files.Put(chunks+name+".js", fmt.Appendf(nil, "orbench.file(%q,%s)\n", name, data))
}

// add adds the rows of a prompt to the list, and their lines to the file that is being
// filled.
func (p *Writer) add(rows []*score.AnswerRow) error {
	if p.chunk.Len() >= chunkBytes {
		if err := p.put(); err != nil {
			return err
		}
	}
	if p.rows < max(10, min(50, 120/len(rows))) {
		p.first = append(p.first, p.row(rows))
	}
	p.rows += len(rows)
	listed := []any{rows[0].Prompt.ID, p.number}
	for _, row := range rows {
		of := facet.Sample{Target: page.ShownTarget(*row), Number: row.Sample}
		sample, ok := p.sampleOf[of]
		if !ok {
			sample = len(p.sampleOf)
			p.sampleOf[of], p.table.Samples = sample, append(p.table.Samples, of)
		}
		listed = append(listed, sample, p.table.Add(sample, row), len(row.Response.Text))
		for _, v := range row.Verdicts {
			// Four digits are as many as the page sorts by.
			score := any(math.Round(v.Score*1e4) / 1e4)
			if v.Class == orbench.Unjudged {
				score = nil
			}
			listed = append(listed, score)
		}
		p.simulated = p.simulated || row.Simulated
		from := p.fresh.Len()
		if err := p.encoder.Encode(row); err != nil {
			return fmt.Errorf("write the answer of %s to the prompt %s: %w", row.Target, row.Prompt.ID, err)
		}
		p.chunk.Write(p.fresh.Bytes()[from:])
	}
	if p.listed = append(p.listed, listed); len(p.listed) == batch {
		return p.putRows()
	}
	return nil
}

// row is a prompt with its rows as the page shows them without its script.
func (p *Writer) row(rows []*score.AnswerRow) (shown page.Row) {
	for i, row := range rows {
		a := page.Shown{Answer: page.NewAnswer(*row, page.InList), Element: strconv.Itoa(i) + string(row.Prompt.ID), Elsewhere: "answers.jsonl"}
		a.Redacted = p.redacted
		shown.Add(a)
	}
	return shown
}

// putRows adds the batch to the list of rows.
func (p *Writer) putRows() error {
	if len(p.listed) == 0 {
		return nil
	}
	err := p.putList("rows", p.listed)
	p.listed = p.listed[:0]
	return err
}

// putList adds a call of the page's script, with its data, to the list of rows.
func (p *Writer) putList(call string, data any) error {
	var b bytes.Buffer
	if err := encoder(&b).Encode(data); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.list, "orbench.%s(%s)\n", call, b.Bytes())
	return err
}

// put writes the file of texts that is being filled.
func (p *Writer) put() error {
	if p.chunk.Len() == 0 {
		return nil
	}
	var packed bytes.Buffer
	p.packer.Reset(&packed)
	_, err := p.packer.Write(p.chunk.Bytes())
	err = errors.Join(err, p.packer.Close(), p.putFile(strconv.Itoa(p.number), fmt.Appendf(nil, "%q", base64.StdEncoding.EncodeToString(packed.Bytes()))))
	p.chunk.Reset()
	p.number++
	return err
}

// Finish writes the rest of the files and the page, for the figures of the added rows.
// title is that of the page, head says what the answers are of, and menu links to the other
// pages.
func (p *Writer) Finish(r score.Result, title, head string, menu []page.Link) error {
	for i := range p.table.Samples {
		of := &p.table.Samples[i]
		for _, run := range r.Runs {
			if run.Target == of.Target {
				of.Base = run.Base
			}
		}
	}
	for _, kind := range p.table.Kinds {
		scored := []int{}
		for _, v := range kind.Verdicts {
			scored = append(scored, slices.Index(p.table.Judges, v.Judge))
		}
		p.names.Scored = append(p.names.Scored, scored)
	}
	p.names.Samples, p.names.Kinds = p.table.Terms()
	p.names.Judges = p.table.Judges
	for _, class := range orbench.Classes {
		if class.Refused() {
			p.names.Refused = append(p.names.Refused, class)
		}
	}
	if err := errors.Join(p.put(), p.putRows(), p.putWords()); err != nil {
		return err
	}
	if err := p.putList("names", p.names); err != nil {
		return err
	}
	// What the page's own script loads may run, and nothing else that a text could name.
	shown := page.Answers{Frame: page.File(title, page.Style, page.Script+pageScript, "'strict-dynamic'"), Head: head}
	shown.Simulated, shown.Redacted, shown.Menu = p.simulated, p.redacted, menu
	shown.Link(func(q page.Query) string { return q.Fragment("") })
	single, subjects := p.vocabulary.Most()
	shown.LinkMost(page.Query{}, single, subjects, func(q page.Query) string { return q.Fragment("") })
	shown.Rows, shown.Total = p.first, table.Count(p.rows)
	_, facets := p.table.Choose(nil).Count(p.table.Counts)
	facets["verdict"], facets["judge"] = map[string]int{}, map[string]int{}
	for _, judge := range p.table.Judges {
		maps.Copy(facets["verdict"], facets[facet.Verdict(judge)])
		facets["judge"][judge] = p.rows
	}
	shown.Facets = page.Query{}.Facets(facets)
	t, err := page.Parse("page", pageTemplate, nil)
	if err == nil {
		_, err = p.files.Write(p.file, func(w io.Writer) error { return t.Execute(w, shown) })
	}
	return err
}
