package training

import (
	"cmp"
	"io"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
)

// Format is the format of a training set's rows. The columns are those that TRL documents
// for its dataset types (docs/source/dataset_formats.md of huggingface/trl).
type Format string

// The formats.
const (
	// SFT rows are TRL's prompt-completion type: prompt, completion.
	SFT Format = "sft"
	// DPO rows are TRL's preference type with an explicit prompt: prompt, chosen,
	// rejected.
	DPO Format = "dpo"
	// KTO rows are TRL's unpaired preference type: prompt, completion, label.
	KTO Format = "kto"
	// Prompts rows are TRL's prompt-only type, for training on the model's own new
	// answers: prompt, and label, which a reward function receives.
	Prompts Format = "prompts"
)

// Formats lists the formats.
var Formats = []Format{SFT, DPO, KTO, Prompts}

// Columns are the columns of the format.
func (f Format) Columns() []string {
	return map[Format][]string{SFT: {"prompt", "completion"}, DPO: {"prompt", "chosen", "rejected"}, KTO: {"prompt", "completion", "label"}, Prompts: {"prompt", "label"}}[f]
}

// What describes the rows of the format.
func (f Format) What() string {
	return map[Format]string{
		SFT:     "A row is a prompt and the answer to learn (TRL's prompt-completion type).",
		DPO:     "A row is a prompt with a chosen and a rejected answer (TRL's preference type).",
		KTO:     "A row is a prompt with an answer that is wanted or, where label is false, is not (TRL's unpaired preference type).",
		Prompts: "A row is a prompt, and a label that a reward function is given: whether it is safe or toxic (TRL's prompt-only type).",
	}[f]
}

// Example is a row of a training set before it is written in a format.
type Example struct {
	Prompt orbench.Prompt
	// Dataset is the dataset of the prompt.
	Dataset string
	// System is the system prompt of the target, empty for none.
	System string
	// Chosen and Rejected are the answers, nil if the format has none. A row of KTO has
	// one of them.
	Chosen, Rejected *Answer
}

// The rows as they are written. A message has the two fields of chat formats.
type (
	message struct {
		Role    string `json:"role" parquet:"role"`
		Content string `json:"content" parquet:"content"`
	}
	sftRow struct {
		Prompt     []message `json:"prompt" parquet:"prompt,list"`
		Completion []message `json:"completion" parquet:"completion,list"`
	}
	sftText struct {
		Prompt     string `json:"prompt" parquet:"prompt"`
		Completion string `json:"completion" parquet:"completion"`
	}
	dpoRow struct {
		Prompt   []message `json:"prompt" parquet:"prompt,list"`
		Chosen   []message `json:"chosen" parquet:"chosen,list"`
		Rejected []message `json:"rejected" parquet:"rejected,list"`
	}
	dpoText struct {
		Prompt   string `json:"prompt" parquet:"prompt"`
		Chosen   string `json:"chosen" parquet:"chosen"`
		Rejected string `json:"rejected" parquet:"rejected"`
	}
	ktoRow struct {
		Prompt     []message `json:"prompt" parquet:"prompt,list"`
		Completion []message `json:"completion" parquet:"completion,list"`
		Label      bool      `json:"label" parquet:"label"`
	}
	ktoText struct {
		Prompt     string `json:"prompt" parquet:"prompt"`
		Completion string `json:"completion" parquet:"completion"`
		Label      bool   `json:"label" parquet:"label"`
	}
	promptRow struct {
		Prompt []message `json:"prompt" parquet:"prompt,list"`
		Label  string    `json:"label" parquet:"label"`
	}
	promptText struct {
		Prompt string `json:"prompt" parquet:"prompt"`
		Label  string `json:"label" parquet:"label"`
	}
)

// rowWriter writes the rows of a split, as Parquet or as JSON Lines.
type rowWriter func(w io.Writer, asParquet bool, rows []Example) error

// writer gives the function that writes rows of the format. Plain rows have texts in
// place of messages.
func (f Format) writer(plain bool) rowWriter {
	switch {
	case f == SFT && plain:
		return write(func(r Example) sftText { return sftText{r.Prompt.Text(), r.Chosen.Text} })
	case f == SFT:
		return write(func(r Example) sftRow { return sftRow{r.messages(), reply(r.Chosen)} })
	case f == DPO && plain:
		return write(func(r Example) dpoText { return dpoText{r.Prompt.Text(), r.Chosen.Text, r.Rejected.Text} })
	case f == DPO:
		return write(func(r Example) dpoRow { return dpoRow{r.messages(), reply(r.Chosen), reply(r.Rejected)} })
	case f == KTO && plain:
		return write(func(r Example) ktoText { return ktoText{r.Prompt.Text(), r.only().Text, r.Chosen != nil} })
	case f == KTO:
		return write(func(r Example) ktoRow { return ktoRow{r.messages(), reply(r.only()), r.Chosen != nil} })
	case plain:
		return write(func(r Example) promptText { return promptText{r.Prompt.Text(), string(r.Prompt.Label)} })
	}
	return write(func(r Example) promptRow { return promptRow{r.messages(), string(r.Prompt.Label)} })
}

// only is the answer of a row with one answer.
func (r Example) only() *Answer { return cmp.Or(r.Chosen, r.Rejected) }

// messages is the conversation that the answers reply to.
func (r Example) messages() (all []message) {
	if r.System != "" {
		all = append(all, message{string(orbench.System), r.System})
	}
	for _, m := range r.Prompt.Messages {
		all = append(all, message{string(m.Role), m.Content})
	}
	return all
}

func reply(a *Answer) []message { return []message{{string(orbench.Assistant), a.Text}} }

// write makes the writer of rows of type T.
func write[T any](of func(Example) T) rowWriter {
	return func(w io.Writer, asParquet bool, chosen []Example) error {
		written := table.RowsOf(chosen, of)
		if asParquet {
			return parquetfile.Write(w, written)
		}
		return rows.WriteJSONLines(w, written)
	}
}
