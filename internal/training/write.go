package training

import (
	"errors"
	"io"

	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
)

// Write writes the folder: each split with rows as JSON Lines and as Parquet, the origin
// of each row, the card and the manifest. The folder appears whole or not at all. An
// existing folder that is not empty is an *orbench.InputError.
func (s *Set) Write(dir, command string) (err error) {
	out, err := folder.CreatePrivate(dir, folder.Subject{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	s.Command, s.Files = command, map[string]File{}
	write := func(name string, rows int, content func(io.Writer) error) {
		if err == nil {
			var sum string
			sum, err = out.Write(name, content)
			s.Files[name] = File{sum, rows}
		}
	}
	rows := s.Kind.writer(s.Plain)
	for i, split := range Splits {
		if of := s.Rows[i]; len(of) > 0 {
			write(split+".jsonl", len(of), func(w io.Writer) error { return rows(w, false, of) })
			write(split+".parquet", len(of), func(w io.Writer) error { return rows(w, true, of) })
		}
	}
	write(OriginsFile, 0, s.writeOrigins)
	write(CardFile, 0, s.writeCard)
	if info := s.factoryInfo(); info != nil {
		write(FactoryFile, 0, func(w io.Writer) error { return table.JSON(w, info) })
	}
	if err != nil {
		return err
	}
	if _, err := out.Write(ManifestFile, func(w io.Writer) error { return table.JSON(w, s.Manifest) }); err != nil {
		return err
	}
	return out.Finish()
}

// factoryInfo describes the splits to LLaMA-Factory, by the names under which its setting
// dataset finds them; see data/README.md of hiyouga/LLaMA-Factory. It is nil for formats
// that LLaMA-Factory cannot read: its converters want texts, or prompt and answer in one
// list.
func (s *Set) factoryInfo() any {
	columns := map[Format]map[string]string{
		SFT: {"prompt": "prompt", "response": "completion"},
		DPO: {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
		KTO: {"prompt": "prompt", "response": "completion", "kto_tag": "label"},
	}[s.Kind]
	if columns == nil || !s.Plain {
		return nil
	}
	type entry struct {
		File    string            `json:"file_name"`
		Ranking bool              `json:"ranking,omitempty"`
		Columns map[string]string `json:"columns"`
	}
	info := map[string]entry{}
	for i, split := range Splits {
		if len(s.Rows[i]) > 0 {
			info["orbench_"+split] = entry{split + ".jsonl", s.Kind == DPO, columns}
		}
	}
	return info
}

// writeOrigins writes the origin of each row.
func (s *Set) writeOrigins(w io.Writer) error {
	var all []Origin
	for i, split := range Splits {
		for n, r := range s.Rows[i] {
			all = append(all, Origin{
				Split: split, Row: n + 1, ID: r.Prompt.ID, Label: r.Prompt.Label, Category: r.Prompt.Category,
				Cluster: cluster(r.Prompt), Dataset: r.Dataset, Chosen: r.Chosen, Rejected: r.Rejected,
			})
		}
	}
	return rows.WriteJSONLines(w, all)
}
