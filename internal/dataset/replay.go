package dataset

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/model"
)

// ReplayPrefix starts the name of a target whose answers come from a file, and that of a
// dataset of the prompts in such a file.
const ReplayPrefix = "replay:"

// Replay is a model.Model whose answers come from a file: the answers of one model, if a
// column names models. Answers from another tool, or from last year, are judged and
// counted like new ones. All answers are held in memory. It is safe for concurrent use.
type Replay struct {
	// File is the path. Model is the answers' value in the model column, empty if there
	// is no such column.
	File, Model string
	// SHA256 is the Recording.SHA256 of a file with these answers alone.
	SHA256 string
	// Count is the number of answers. Samples is the number of answers to the prompt with
	// the most. The rows of a prompt are its samples, in their order.
	Count, Samples int
	// Notes are those of the Recording. Only the first Replay of a file has them.
	Notes []string

	answers map[orbench.PromptID][]model.Response
	// whole has the answers to conversations with system messages, which answers lacks.
	whole map[orbench.PromptID][]model.Response
	sum   *hasher
}

// OpenReplays reads a file of recorded answers, as OpenRecording does; it must have
// prompts. A file with a model column gives a Replay for each of its values, in the order
// of their first rows, or only the one named after the path: FILE#VALUE.
func OpenReplays(ctx context.Context, path string) ([]*Replay, error) {
	path, wanted, one := cutModel(path)
	recording, err := OpenRecording(ctx, path, RecordingOptions{usual: true})
	if err != nil {
		return nil, err
	}
	if recording.Columns.Prompt == "" {
		return nil, &orbench.InputError{
			File: path, Problem: "no column of prompts, so its answers cannot be matched to prompts", Hint: "call it prompt",
		}
	}
	var all []*Replay
	var names []string
	for a, err := range recording.Answers() {
		if err != nil {
			return nil, err
		}
		i := slices.Index(names, a.Model)
		if i < 0 {
			if problem, hint := checkName(a.Model, "model", recording.Columns.model, "response-column"); problem != "" {
				return nil, &orbench.InputError{File: path, Line: a.Line, Problem: problem, Hint: hint}
			}
			i, names = len(names), append(names, a.Model)
			all = append(all, &Replay{File: path, Model: a.Model, answers: map[orbench.PromptID][]model.Response{}, whole: map[orbench.PromptID][]model.Response{}, sum: newHasher(recordingHashVersion)})
		}
		if all[i].add(a); len(all) > MaxValues || all[i].Samples > MaxValues {
			return nil, &orbench.InputError{
				File: path, Line: a.Line, Problem: fmt.Sprintf("more than %d models, or answers of one model to one prompt", MaxValues),
				Hint: "each value of the column model is a target, and each row of a prompt is a sample: rename the column, or leave rows out",
			}
		}
	}
	for _, r := range all {
		r.SHA256 = r.sum.sum()
	}
	if !one {
		all[0].Notes = recording.Notes
		return all, nil
	}
	i := slices.Index(names, wanted)
	if i < 0 {
		return nil, &orbench.InputError{
			File: path, Problem: fmt.Sprintf("no answers of the model %q", wanted), Hint: "those in the column model are of " + rows.List(names),
		}
	}
	all[i].Notes = recording.Notes
	return all[i : i+1], nil
}

// cutModel divides FILE#MODEL. A file name may contain a #, but not after its ending, or
// where the name up to it is a file's own.
func cutModel(path string) (file, wanted string, one bool) {
	for i := range path {
		if path[i] == '#' && (rows.Readable(path[:i]) || exists(path[:i])) {
			return path[:i], path[i+1:], true
		}
	}
	return path, "", false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (r *Replay) add(a Answer) {
	r.Count++
	r.sum.addAnswer(a)
	response := a.Reply()
	// Clone the texts, so that the rest of the row can be freed.
	response.Text, response.Thinking = strings.Clone(response.Text), strings.Clone(response.Thinking)
	if a.Simulated {
		response.Model = model.Replay + " " + model.SimulatedMark
	}
	asked := a.Asked()
	id := conversationID(asked.Messages)
	r.answers[id] = append(r.answers[id], response)
	r.Samples = max(r.Samples, len(r.answers[id]))
	if id != asked.ID {
		r.whole[asked.ID] = append(r.whole[asked.ID], response)
	}
}

// conversationID is the ID of a conversation without its system messages, since files of
// recorded answers mostly omit them.
func conversationID(messages []orbench.Message) orbench.PromptID {
	said := slices.DeleteFunc(slices.Clone(messages), func(m orbench.Message) bool { return m.Role == orbench.System })
	return orbench.PromptIDOf(said)
}

// Ref is the model in the form that requests use.
func (r *Replay) Ref() model.Ref {
	return model.Ref{Provider: model.Replay, Endpoint: "sha256:" + r.SHA256, Model: r.name()}
}

// name is the path and, if there is one, the name of the model whose answers it gives.
func (r *Replay) name() string {
	if r.Model == "" {
		return r.File
	}
	return r.File + "#" + r.Model
}

// to gives the recorded answers to a conversation. If there are none, it gives those to the
// conversation without its system messages, or else to the last user message alone, since
// the file may have no other part of a conversation.
func (r *Replay) to(messages []orbench.Message) []model.Response {
	if found, ok := r.whole[orbench.PromptIDOf(messages)]; ok {
		return found
	}
	if found, ok := r.answers[conversationID(messages)]; ok {
		return found
	}
	return r.answers[orbench.NewPrompt(orbench.Prompt{Messages: messages}.Text(), "", "").ID]
}

// Has reports whether the file has the sample that a request asks for.
func (r *Replay) Has(request model.Request) bool {
	return request.Sample < len(r.to(request.Messages))
}

// Ask finds the recorded answer to a conversation. If the file has none, the error is a
// *model.Error of the kind model.Invalid.
func (r *Replay) Ask(_ context.Context, request model.Request) (model.Response, error) {
	if !r.Has(request) {
		return model.Response{}, &model.Error{
			Kind: model.Invalid, Provider: request.Provider, Model: request.Model, Message: "the file has no answer to this prompt", Unsent: true,
		}
	}
	return r.to(request.Messages)[request.Sample], nil
}

// Repeats says in one line how many rows answer the same prompt. It is empty if none do.
func (r *Replay) Repeats() string {
	if r.Samples < 2 {
		return ""
	}
	note := fmt.Sprintf("%s: %d rows answer %d prompts, and count as samples of them, up to %d each", r.name(), r.Count, len(r.answers), r.Samples)
	if r.Count < r.Samples*len(r.answers) {
		note += "; the samples that a prompt lacks count as unanswered"
	}
	return note
}

// Gap says in one line, before anything is asked, how many prompts of a dataset the file
// does not answer, and names the first. It is empty if the file answers all. Only the
// first limit prompts count; 0 means all. A file that answers none is an
// *orbench.InputError.
func (r *Replay) Gap(set *Dataset, limit int) (string, error) {
	missing, first := 0, orbench.Prompt{}
	for chunk, err := range set.Chunks(limit, 1) {
		if err != nil {
			return "", err
		}
		if len(r.to(chunk[0].Messages)) > 0 {
			continue
		}
		if missing++; missing == 1 {
			first = chunk[0]
		}
	}
	if missing == 0 {
		return "", nil
	}
	gap := fmt.Sprintf("has no answer to %d of the %d prompts of %s, the first of them %s (%.60q)", missing, set.Size(limit), set.Name, first.ID, first.Text())
	if 10*missing < 9*set.Size(limit) {
		return r.name() + ": " + gap + "; these prompts count as unanswered", nil
	}
	return "", &orbench.InputError{File: r.name(), Problem: gap, Hint: "evaluate a dataset that the file answers, or name its column of prompts with `prompt-column`"}
}
