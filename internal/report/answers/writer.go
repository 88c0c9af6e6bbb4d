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

	"github.com/klauspost/compress/gzip"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
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

// Writer writes the page of all answers and what it loads: a list of all rows with what
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

// Row is a row, and its line in the file of lines.
type Row struct {
	*score.AnswerRow
	Line []byte
}

// NewWriter makes a Writer for a page with a name in a folder. redacted says that the rows
// lack their texts.
func NewWriter(files *folder.Folder, file string, redacted bool) (*Writer, error) {
	packer, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	p := &Writer{files: files, file: file, redacted: redacted, packer: packer, sampleOf: map[facet.Sample]int{}, words: words.New(), mostListed: mostListed}
	p.list, err = files.Stream(chunks + "rows.js")
	return p, err
}

// Add takes the rows of all targets on each of some prompts.
func (p *Writer) Add(prompts [][]Row) error {
	var listing sync.WaitGroup
	listing.Go(func() { p.addWords(prompts) })
	var err error
	for i := 0; i < len(prompts) && err == nil; i++ {
		err = p.add(prompts[i])
	}
	listing.Wait()
	if err == nil && p.words.Bytes() > p.mostListed {
		err = p.putWords()
	}
	return err
}

// addWords lists the words of prompts and of their rows' answers.
func (p *Writer) addWords(prompts [][]Row) {
	for _, rows := range prompts {
		p.words.Add(p.texts, rows[0].Prompt.Said())
		for i, row := range rows {
			p.words.Add(p.texts+1+uint32(i), row.Response.Text)
		}
		p.texts += 1 + uint32(len(rows))
	}
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
func (p *Writer) add(rows []Row) error {
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
		of := facet.Sample{Target: page.ShownTarget(*row.AnswerRow), Number: row.Sample}
		sample, ok := p.sampleOf[of]
		if !ok {
			sample = len(p.sampleOf)
			p.sampleOf[of], p.table.Samples = sample, append(p.table.Samples, of)
		}
		listed = append(listed, sample, p.table.Add(sample, row.AnswerRow), len(row.Response.Text))
		for _, v := range row.Verdicts {
			// Four digits are as many as the page sorts by.
			score := any(math.Round(v.Score*1e4) / 1e4)
			if v.Class == orbench.Unjudged {
				score = nil
			}
			listed = append(listed, score)
		}
		p.simulated = p.simulated || row.Simulated
		p.chunk.Write(row.Line)
	}
	if p.listed = append(p.listed, listed); len(p.listed) == batch {
		return p.putRows()
	}
	return nil
}

// row is a prompt with its rows as the page shows them without its script.
func (p *Writer) row(rows []Row) page.Row {
	shown := page.Row{Dataset: rows[0].Dataset, ID: rows[0].Prompt.ID}
	for _, row := range rows {
		a := page.Shown{Answer: page.NewAnswer(*row.AnswerRow, page.InList), Element: strconv.Itoa(len(shown.Answers)) + string(shown.ID), Elsewhere: "answers.jsonl"}
		a.Redacted = p.redacted
		if len(shown.Answers) == 0 {
			shown.Asked = a.Answer
		}
		a.Otherwise = !a.AskedLike(shown.Asked)
		shown.Answers = append(shown.Answers, a)
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
			if !slices.Contains(p.table.Judges, v.Judge) {
				p.table.Judges = append(p.table.Judges, v.Judge)
			}
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
