package construct

import (
	"errors"
	"io"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
)

// Write writes the benchmark's folder: the sets as CSV and Parquet and the pairs as CSV,
// or all of them as JSON Lines for conversations; the seeds, the lineage, the card and
// the manifest, which name the tool that wrote them. The folder appears whole or not at all. An existing folder that is not
// empty is an *orbench.InputError, unless it holds the same build with failed calls.
func (b *Benchmark) Write(dir, tool string, prices price.Table) (err error) {
	b.Tool = tool
	out, err := folder.Create(dir, b.subject)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	b.Files = map[string]benchmark.File{}
	write := func(name string, file benchmark.File, content func(io.Writer) error) {
		if err != nil {
			return
		}
		file.SHA256, err = out.Write(name, content)
		b.Files[name] = file
	}
	conversations := b.Config.Rewrites.Turns > 1
	for _, name := range benchmark.SetNames {
		writePrompts(write, string(name), name.Label(), conversations, b.Sets[name], func(p Row) setRow {
			return setRow{string(p.ID), p.Text(), string(p.Category), string(p.Label), p.Votes, p.RefusedBy, p.SeedID, p.Cluster}
		})
	}
	writePrompts(write, "pairs", "", conversations, b.Pairs, func(p Row) pairRow {
		return pairRow{p.Text(), string(p.Category), string(p.Label), p.Prompt.Pair, p.Set, string(p.ID)}
	})
	write(benchmark.LineageFile, benchmark.File{Rows: b.lineage.rows}, func(w io.Writer) error { return b.lineage.write(w, b.setsOf) })
	write(benchmark.SeedsFile, benchmark.File{Rows: len(b.Seeds), Label: orbench.Toxic}, func(w io.Writer) error { return rows.WriteJSONLines(w, b.Seeds) })
	write(funnelFile, benchmark.File{}, funnelFigure(b.Funnel).SVG)
	write(benchmark.CardFile, benchmark.File{}, func(w io.Writer) error { return writeCard(w, b.Manifest, b.Audit, prices) })
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
	b.cost = total(b.Models, prices)
	return out.Finish()
}

// writePrompts writes a file of prompts: JSON Lines of conversations, or CSV and Parquet of
// texts.
func writePrompts[T any](write func(string, benchmark.File, func(io.Writer) error), name string, label orbench.Label, conversations bool, all []Row, text func(Row) T) {
	file := benchmark.File{Rows: len(all), Label: label}
	if conversations {
		chats := table.RowsOf(all, func(p Row) conversation {
			return conversation{
				ID: p.ID, Messages: p.Messages, Category: p.Category, Label: p.Label, Votes: p.Votes, RefusedBy: p.RefusedBy,
				SeedID: p.SeedID, Cluster: p.Cluster, Pair: p.Prompt.Pair, Set: p.Set,
			}
		})
		write(name+".jsonl", file, func(w io.Writer) error { return rows.WriteJSONLines(w, chats) })
		return
	}
	texts := table.RowsOf(all, text)
	write(name+".csv", file, func(w io.Writer) error { return rows.WriteCSV(w, texts) })
	write(name+".parquet", file, func(w io.Writer) error { return parquetfile.Write(w, texts) })
}

// conversation is a prompt in the chat format, with the columns of setRow or of pairRow.
type conversation struct {
	ID        orbench.PromptID  `json:"id"`
	Messages  []orbench.Message `json:"messages"`
	Category  orbench.Category  `json:"category"`
	Label     orbench.Label     `json:"label"`
	Votes     string            `json:"votes,omitempty"`
	RefusedBy string            `json:"refused_by,omitempty"`
	SeedID    string            `json:"seed_id,omitempty"`
	Cluster   string            `json:"cluster,omitempty"`
	Pair      string            `json:"pair,omitempty"`
	Set       string            `json:"set,omitempty"`
}

// setRow is a row of a set; see Row.
type setRow struct {
	ID        string `parquet:"id"`
	Prompt    string `parquet:"prompt"`
	Category  string `parquet:"category"`
	Label     string `parquet:"label"`
	Votes     string `parquet:"votes"`
	RefusedBy string `parquet:"refused_by"`
	SeedID    string `parquet:"seed_id"`
	Cluster   string `parquet:"cluster"`
}

// pairRow is a row of the pairs.
type pairRow struct {
	Prompt   string `parquet:"prompt"`
	Category string `parquet:"category"`
	Label    string `parquet:"label"`
	Pair     string `parquet:"pair"`
	Set      string `parquet:"set"`
	ID       string `parquet:"id"`
}
