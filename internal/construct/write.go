package construct

import (
	"encoding/csv"
	"errors"
	"io"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
)

// Write writes the benchmark's folder: the sets as CSV and Parquet and the pairs as CSV,
// or all of them as JSON Lines for conversations; the seeds, the lineage, the card and
// the manifest. The folder appears whole or not at all. An existing folder that is not
// empty is an *orbench.InputError, unless it holds the same build with failed calls.
func (b *Benchmark) Write(dir string, prices price.Table) (err error) {
	out, err := folder.Create(dir, b.subject)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	b.Files, b.Quality.Diversity = map[string]benchmark.File{}, b.diversity()
	write := func(name string, file benchmark.File, content func(io.Writer) error) {
		if err != nil {
			return
		}
		file.SHA256, err = out.Write(name, content)
		b.Files[name] = file
	}
	for _, name := range benchmark.SetNames {
		prompts := b.Sets[name]
		set := benchmark.File{Rows: len(prompts), Label: name.Label()}
		if b.Config.Rewrites.Turns > 1 {
			write(string(name)+".jsonl", set, func(w io.Writer) error {
				return writeConversations(w, prompts, func(p orbench.Prompt) conversation { return conversation{Messages: p.Messages, Category: p.Category} })
			})
			continue
		}
		write(string(name)+".csv", set, func(w io.Writer) error {
			return writeCSV(w, []string{"prompt", "category"}, prompts, func(p orbench.Prompt) []string { return []string{p.Text(), string(p.Category)} })
		})
		write(string(name)+".parquet", set, func(w io.Writer) error { return writeParquet(w, prompts) })
	}
	if pairs := (benchmark.File{Rows: len(b.Pairs)}); b.Config.Rewrites.Turns > 1 {
		write(benchmark.ConversationPairsFile, pairs, func(w io.Writer) error {
			return writeConversations(w, b.Pairs, func(p Pair) conversation {
				return conversation{p.Messages, p.Category, p.Label, p.Prompt.Pair, p.Set, p.ID}
			})
		})
	} else {
		write(benchmark.PairsFile, pairs, func(w io.Writer) error {
			return writeCSV(w, []string{"prompt", "category", "label", "pair", "set", "id"}, b.Pairs, func(p Pair) []string {
				return []string{p.Text(), string(p.Category), string(p.Label), p.Prompt.Pair, p.Set, string(p.ID)}
			})
		})
		write(benchmark.PairsParquetFile, pairs, func(w io.Writer) error {
			var written []parquetPair
			for _, p := range b.Pairs {
				written = append(written, parquetPair{p.Text(), string(p.Category), string(p.Label), p.Prompt.Pair, p.Set, string(p.ID)})
			}
			return rows.WriteParquet(w, written)
		})
	}
	write(benchmark.LineageFile, benchmark.File{Rows: b.lineage.rows}, func(w io.Writer) error { return b.lineage.write(w, b.setsOf) })
	write(benchmark.SeedsFile, benchmark.File{Rows: len(b.Seeds)}, func(w io.Writer) error { return rows.WriteJSONLines(w, b.Seeds) })
	write(benchmark.CardFile, benchmark.File{}, func(w io.Writer) error { return writeCard(w, b.Manifest, prices) })
	write(benchmark.TasksFile, benchmark.File{}, func(w io.Writer) error { return writeTasks(w, b.Manifest) })
	if err != nil {
		return err
	}
	if _, err := out.Write(benchmark.ManifestFile, func(w io.Writer) error { return table.JSON(w, b.Manifest) }); err != nil {
		return err
	}
	if b.Funnel.FailedCalls == 0 {
		out.Final()
	}
	b.Dir = dir
	_, b.cost = costs(b.Models, prices)
	return out.Finish()
}

// conversation is a prompt in the chat format. The fields after the category are for
// pairs only; they are the columns of pairs.csv.
type conversation struct {
	Messages []orbench.Message `json:"messages"`
	Category orbench.Category  `json:"category"`
	Label    orbench.Label     `json:"label,omitempty"`
	Pair     string            `json:"pair,omitempty"`
	Set      string            `json:"set,omitempty"`
	ID       orbench.PromptID  `json:"id,omitempty"`
}

// writeConversations writes JSON Lines.
func writeConversations[T any](w io.Writer, all []T, of func(T) conversation) error {
	lines := make([]conversation, len(all))
	for i, one := range all {
		lines[i] = of(one)
	}
	return rows.WriteJSONLines(w, lines)
}

// writeCSV writes texts unchanged. Escaping cells for spreadsheets would change the
// prompts.
func writeCSV[T any](w io.Writer, header []string, all []T, cells func(T) []string) error {
	written := [][]string{header}
	for _, one := range all {
		written = append(written, cells(one))
	}
	return csv.NewWriter(w).WriteAll(written)
}

// parquetRow is a row in the published layout.
type parquetRow struct {
	Prompt   string `parquet:"prompt"`
	Category string `parquet:"category"`
}

// parquetPair is a row of the pairs, as in their CSV.
type parquetPair struct {
	Prompt   string `parquet:"prompt"`
	Category string `parquet:"category"`
	Label    string `parquet:"label"`
	Pair     string `parquet:"pair"`
	Set      string `parquet:"set"`
	ID       string `parquet:"id"`
}

// writeParquet writes the same rows as the CSV of a set.
func writeParquet(w io.Writer, prompts []orbench.Prompt) error {
	written := make([]parquetRow, len(prompts))
	for i, p := range prompts {
		written[i] = parquetRow{p.Text(), string(p.Category)}
	}
	return rows.WriteParquet(w, written)
}
