package construct

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/rows"
)

// Write writes the benchmark's folder: the sets and the pairs as CSV and the sets as
// Parquet, or all of them as JSON Lines for conversations, the seeds, the
// lineage, the card and the manifest. The folder appears whole or not at all; one
// that is there and not empty is an *orbench.InputError, unless it is of the same
// build and calls that failed are missing from it.
func (b *Benchmark) Write(dir string, prices price.Table) (err error) {
	out, err := folder.Create(dir, b.subject)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	m := benchmark.Manifest{
		Format: benchmark.Format, Name: b.Config.Name, Version: b.Config.Version, Builds: b.Builds, Simulated: b.Simulated(),
		Files: map[string]benchmark.File{}, Config: b.Config, Models: b.Spent, Funnel: b.Funnel, Exhausted: b.Exhausted,
		Batches: b.Batches, Steering: b.Steering, Quality: quality(b),
	}
	write := func(name string, file benchmark.File, content func(io.Writer) error) {
		if err != nil {
			return
		}
		file.SHA256, err = out.Write(name, content)
		m.Files[name] = file
	}
	for _, name := range benchmark.SetNames {
		set := benchmark.File{Rows: len(b.Sets[name]), Label: name.Label()}
		if b.Config.Rewrites.Turns > 1 {
			write(string(name)+".jsonl", set, func(w io.Writer) error { return writeConversations(w, b.Sets[name]) })
			continue
		}
		write(string(name)+".csv", set, func(w io.Writer) error { return writeCSV(w, b.Sets[name]) })
		write(string(name)+".parquet", set, func(w io.Writer) error { return writeParquet(w, b.Sets[name]) })
	}
	if b.Config.Rewrites.Turns > 1 {
		write(benchmark.ConversationPairsFile, benchmark.File{Rows: len(b.Pairs)}, func(w io.Writer) error { return writePairedConversations(w, b.Pairs) })
	} else {
		write(benchmark.PairsFile, benchmark.File{Rows: len(b.Pairs)}, func(w io.Writer) error { return writePairs(w, b.Pairs) })
	}
	write(benchmark.LineageFile, benchmark.File{Rows: b.lineage.rows}, func(w io.Writer) error { return b.lineage.write(w, b.setsOf) })
	write(benchmark.SeedsFile, benchmark.File{Rows: len(b.Seeds)}, func(w io.Writer) error {
		e := encoder(w)
		for _, s := range b.Seeds {
			if err := e.Encode(s); err != nil {
				return err
			}
		}
		return nil
	})
	write(benchmark.CardFile, benchmark.File{}, func(w io.Writer) error { return writeCard(w, m, prices) })
	if err != nil {
		return err
	}
	if _, err := out.Write(benchmark.ManifestFile, func(w io.Writer) error {
		e := encoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	}); err != nil {
		return err
	}
	if b.Funnel.FailedCalls == 0 {
		out.Final()
	}
	return out.Finish()
}

// encoder writes JSON in which <, > and & stand for themselves.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// writeConversations writes prompts as JSON Lines in the chat format.
func writeConversations(w io.Writer, prompts []orbench.Prompt) error {
	e := encoder(w)
	for _, p := range prompts {
		if err := e.Encode(struct {
			Messages []orbench.Message `json:"messages"`
			Category orbench.Category  `json:"category"`
		}{p.Messages, p.Category}); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes prompts in the published layout.
func writeCSV(w io.Writer, prompts []orbench.Prompt) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"prompt", "category"}); err != nil {
		return err
	}
	for _, p := range prompts {
		if err := out.Write([]string{p.Text(), string(p.Category)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writePairs writes the prompts of pairs as a dataset that knows its pairs and labels.
func writePairs(w io.Writer, pairs []Pair) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"prompt", "category", "label", "pair", "set", "id"}); err != nil {
		return err
	}
	for _, p := range pairs {
		if err := out.Write([]string{p.Text(), string(p.Category), string(p.Label), p.Prompt.Pair, p.Set, string(p.ID)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writePairedConversations writes the same as writePairs, in the chat format.
func writePairedConversations(w io.Writer, pairs []Pair) error {
	e := encoder(w)
	for _, p := range pairs {
		if err := e.Encode(struct {
			Messages []orbench.Message `json:"messages"`
			Category orbench.Category  `json:"category"`
			Label    orbench.Label     `json:"label"`
			Pair     string            `json:"pair"`
			Set      string            `json:"set"`
			ID       orbench.PromptID  `json:"id"`
		}{p.Messages, p.Category, p.Label, p.Prompt.Pair, p.Set, p.ID}); err != nil {
			return err
		}
	}
	return nil
}

// parquetRow is a row in the published layout.
type parquetRow struct {
	Prompt   string `parquet:"prompt"`
	Category string `parquet:"category"`
}

// writeParquet writes the same rows as writeCSV.
func writeParquet(w io.Writer, prompts []orbench.Prompt) error {
	written := make([]parquetRow, len(prompts))
	for i, p := range prompts {
		written[i] = parquetRow{p.Text(), string(p.Category)}
	}
	return rows.WriteParquet(w, written)
}
