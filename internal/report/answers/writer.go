package answers

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"
	"golang.org/x/sync/errgroup"

	"github.com/orbench/orbench"
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
	// chunkBytes is about how long a file of texts is: large enough for few files, and
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
// they are chosen and sorted by, files with the HTML of some rows each, and files with lists
// of the texts that have a word. Memory does not grow with the rows. A page that was opened from a disk may load scripts alone, so each
// file is a script that calls a function with its data.
type Writer struct {
	files *folder.Folder
	// file is the name of the page.
	file     string
	redacted bool
	shown    *template.Template
	// list is the list of rows, and listed the prompts of the batch that is not yet in it.
	list   io.Writer
	listed [][]any
	// chunk is the texts of the file that is being filled, and number counts the files.
	chunk  bytes.Buffer
	number int
	// words lists the texts that have a word, and texts counts them: of each prompt, its own
	// and the answers to it. blocks counts the files with lists.
	words      *words.Lists
	texts      uint32
	blocks     int
	mostListed int

	names     names
	sampleOf  map[sample]int
	kindOf    map[string]int
	judgeOf   map[string]int
	simulated bool
}

// names is what numbers in the list of rows stand for.
type names struct {
	Samples []sample          `json:"samples"`
	Kinds   []json.RawMessage `json:"kinds"`
	Judges  []string          `json:"judges"`
	// Bases has the targets that variants are of, by variant.
	Bases map[string]string `json:"bases"`
	// Words has, for each part of the texts, the first word of each file with lists, in the
	// order of the files.
	Words  [][][]byte        `json:"words"`
	Facets []page.FacetTitle `json:"facets"`
	// Classes lists the classes that are refusals, and the others.
	Refused  []orbench.Class `json:"refused"`
	Answered []orbench.Class `json:"answered"`
}

// sample is one sample of a target; Number is 0 for a target that is asked once.
type sample struct {
	Target string `json:"target"`
	Number int    `json:"number"`
}

// kind is the group in which a row is counted.
type kind struct {
	Dataset  string        `json:"dataset"`
	Label    orbench.Label `json:"label"`
	Category string        `json:"category"`
	Status   score.Status  `json:"status"`
	Cut      bool          `json:"cut"`
	// Judges are the numbers of those that gave Classes.
	Judges  []int           `json:"judges"`
	Classes []orbench.Class `json:"classes"`
}

// NewWriter makes a Writer for a page with a name in a folder. redacted says that the rows
// lack their texts.
func NewWriter(files *folder.Folder, file string, redacted bool) (*Writer, error) {
	shown, err := page.Parse("page", pageTemplate, template.FuncMap{"facet": facet})
	if err != nil {
		return nil, err
	}
	p := &Writer{files: files, file: file, redacted: redacted, shown: shown, sampleOf: map[sample]int{}, kindOf: map[string]int{}, judgeOf: map[string]int{}, words: words.New(), mostListed: mostListed}
	p.list, err = files.Stream(chunks + "rows.js")
	return p, err
}

// Add takes the rows of all targets on each of some prompts. Their HTML is made on all
// processors.
func (p *Writer) Add(prompts [][]*score.AnswerRow) error {
	texts := make([][]string, len(prompts))
	var rendering errgroup.Group
	rendering.SetLimit(runtime.GOMAXPROCS(0))
	for i, rows := range prompts {
		rendering.Go(func() (err error) {
			texts[i], err = p.render(rows)
			return err
		})
	}
	p.addWords(prompts)
	if err := rendering.Wait(); err != nil {
		return err
	}
	if p.words.Bytes() > p.mostListed {
		if err := p.putWords(); err != nil {
			return err
		}
	}
	for i, rows := range prompts {
		if err := p.add(rows, texts[i]); err != nil {
			return err
		}
	}
	return nil
}

// addWords lists the words of prompts and of their rows' answers.
func (p *Writer) addWords(prompts [][]*score.AnswerRow) {
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

// render makes the HTML of a prompt and of each of its rows.
func (p *Writer) render(rows []*score.AnswerRow) ([]string, error) {
	var html strings.Builder
	asked := p.answer(rows[0])
	if err := p.shown.ExecuteTemplate(&html, "row", page.Row{Dataset: rows[0].Dataset, ID: rows[0].Prompt.ID, Asked: asked}); err != nil {
		return nil, err
	}
	texts := []string{html.String()}
	for _, row := range rows {
		q := page.Query{}.With("dataset", row.Dataset, "prompt", string(row.Prompt.ID), "variant", page.ShownTarget(*row))
		if row.Sample > 0 {
			q = q.With("sample", strconv.Itoa(row.Sample))
		}
		html.Reset()
		a := page.Shown{Answer: p.answer(row), Address: q.Fragment(""), Elsewhere: "answers.jsonl"}
		a.Otherwise = !a.AskedLike(asked)
		if err := p.shown.ExecuteTemplate(&html, "cell", a); err != nil {
			return nil, err
		}
		texts = append(texts, html.String())
	}
	return texts, nil
}

// add adds the rows of a prompt to the list, and their HTML to the file that is being
// filled.
func (p *Writer) add(rows []*score.AnswerRow, texts []string) error {
	if p.chunk.Len() >= chunkBytes {
		if err := p.put(); err != nil {
			return err
		}
	}
	listed := []any{rows[0].Prompt.ID, p.number}
	for _, row := range rows {
		kind, err := p.kind(row)
		if err != nil {
			return err
		}
		listed = append(listed, p.sample(row), kind, len(row.Response.Text))
		for _, v := range row.Verdicts {
			// Four digits are as many as the page sorts by.
			listed = append(listed, math.Round(v.Score*1e4)/1e4)
		}
		p.simulated = p.simulated || row.Simulated
	}
	if p.chunk.Len() > 0 {
		p.chunk.WriteByte(',')
	}
	if err := encoder(&p.chunk).Encode(texts); err != nil {
		return err
	}
	if p.listed = append(p.listed, listed); len(p.listed) == batch {
		return p.putRows()
	}
	return nil
}

// answer is a row as the page shows it.
func (p *Writer) answer(row *score.AnswerRow) page.Answer {
	a := page.NewAnswer(*row, page.Alone)
	a.Redacted = p.redacted
	return a
}

// number is that of a name among all of its sort.
func number[K comparable, V any](numbers map[K]int, all *[]V, key K, name V) int {
	n, ok := numbers[key]
	if !ok {
		n = len(*all)
		numbers[key], *all = n, append(*all, name)
	}
	return n
}

// sample is the number of a row's sample.
func (p *Writer) sample(row *score.AnswerRow) int {
	of := sample{page.ShownTarget(*row), row.Sample}
	return number(p.sampleOf, &p.names.Samples, of, of)
}

// kind is the number of a row's kind.
func (p *Writer) kind(row *score.AnswerRow) (int, error) {
	k := kind{
		Dataset: row.Dataset, Label: row.Prompt.Label, Category: table.Category(row.Prompt.Category), Status: row.Status,
		Cut: row.Ending == score.CutEnding, Judges: []int{}, Classes: []orbench.Class{},
	}
	for _, v := range row.Verdicts {
		k.Judges = append(k.Judges, number(p.judgeOf, &p.names.Judges, v.Judge, v.Judge))
		k.Classes = append(k.Classes, v.Class)
	}
	key, err := json.Marshal(k)
	return number(p.kindOf, &p.names.Kinds, string(key), key), err
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
	err := p.putFile(strconv.Itoa(p.number), fmt.Appendf(nil, "[%s]", p.chunk.Bytes()))
	p.chunk.Reset()
	p.number++
	return err
}

// Finish writes the rest of the files and the page, for the figures of the added rows.
// title is that of the page, head says what the answers are of, and menu links to the other
// pages.
func (p *Writer) Finish(r score.Result, title, head string, menu []page.Link) error {
	p.names.Bases, p.names.Facets = map[string]string{}, page.FacetTitles
	for _, run := range r.Runs {
		p.names.Bases[run.Target] = cmp.Or(run.Base, run.Target)
	}
	for _, class := range orbench.Classes {
		if class.Refused() {
			p.names.Refused = append(p.names.Refused, class)
		} else {
			p.names.Answered = append(p.names.Answered, class)
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
	_, err := p.files.Write(p.file, func(w io.Writer) error { return p.shown.Execute(w, shown) })
	return err
}

// facet is one facet with one value, which the page's script copies.
func facet() page.Answers { return page.Answers{Facets: []page.Facet{{Values: []page.FacetValue{{}}}}} }
