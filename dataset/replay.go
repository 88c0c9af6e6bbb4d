package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/model"
)

// Replay is a model.Model whose answers come from a file: those of one model, where a
// column says whose they are. What another tool asked, or what was asked last year, is
// judged and counted like an answer that was just given. All answers are held in memory.
// It is safe for concurrent use.
type Replay struct {
	// File is the path, and Model the value of the column of models that the answers
	// have, empty where there is none.
	File, Model string
	// SHA256 is the Recording.SHA256 of a file of these answers alone.
	SHA256 string
	// Count is the number of answers, and Samples that of the prompt that has the most:
	// the rows of a prompt are its samples, in their order.
	Count, Samples int

	answers map[orbench.PromptID][]model.Response
	sum     *hasher
}

// OpenReplays reads a file of recorded answers, as OpenRecording does; it must have
// prompts. A file with a column of models gives a Replay for each of its values, in the
// order of their first rows, or the one that is named behind the path: FILE#VALUE.
func OpenReplays(ctx context.Context, path string, opts RecordingOptions) ([]*Replay, error) {
	path, wanted, one := cutModel(path)
	recording, err := OpenRecording(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	if recording.Columns.Prompt == "" {
		return nil, &orbench.InputError{
			File: path, Problem: "no column of prompts, so its answers cannot be found", Hint: "name it with `prompt-column`",
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
			all = append(all, &Replay{File: path, Model: a.Model, answers: map[orbench.PromptID][]model.Response{}, sum: newHasher(recordingHashVersion)})
		}
		if all[i].add(a); len(all) > MaxValues || all[i].Samples > MaxValues {
			return nil, &orbench.InputError{
				File: path, Line: a.Line, Problem: fmt.Sprintf("more than %d models, or answers of one model to one prompt", MaxValues),
				Hint: "every value of the column model is a target, and every row of a prompt a sample: rename the column, or leave rows out",
			}
		}
	}
	for _, r := range all {
		r.SHA256 = r.sum.sum()
	}
	if !one {
		return all, nil
	}
	i := slices.Index(names, wanted)
	if i < 0 {
		return nil, &orbench.InputError{
			File: path, Problem: fmt.Sprintf("no answers of the model %q", wanted), Hint: "those in the column model are of " + list(names),
		}
	}
	return all[i : i+1], nil
}

// cutModel parts FILE#MODEL. A file may have a # in its name, but not behind its ending.
func cutModel(path string) (file, wanted string, one bool) {
	for i := range path {
		if path[i] == '#' && rows.Readable(path[:i]) {
			return path[:i], path[i+1:], true
		}
	}
	return path, "", false
}

func (r *Replay) add(a Answer) {
	r.Count++
	r.sum.addAnswer(a)
	text, thinking := model.CutThinking(a.Response)
	// The clones let go of the rest of the row.
	response := model.Response{Text: strings.Clone(text), Thinking: strings.Clone(thinking), Finish: model.Stop}
	if a.Simulated {
		response.Model = model.Replay + " " + model.SimulatedMark
	}
	id := conversationID(a.Asked().Messages)
	r.answers[id] = append(r.answers[id], response)
	r.Samples = max(r.Samples, len(r.answers[id]))
}

// conversationID is the ID of a conversation without its system messages, which files of
// recorded answers mostly leave out.
func conversationID(messages []orbench.Message) orbench.PromptID {
	said := slices.DeleteFunc(slices.Clone(messages), func(m orbench.Message) bool { return m.Role == orbench.System })
	return orbench.PromptIDOf(said)
}

// Ref is the model as requests name it.
func (r *Replay) Ref() model.Ref {
	return model.Ref{Provider: model.Replay, Endpoint: "sha256:" + r.SHA256, Model: r.name()}
}

// name is the path, with the model that it gives the answers of.
func (r *Replay) name() string {
	if r.Model == "" {
		return r.File
	}
	return r.File + "#" + r.Model
}

// to gives the recorded answers to a conversation: those to its very words, or else
// those to its last user message alone, of a file that has no more of conversations.
func (r *Replay) to(messages []orbench.Message) []model.Response {
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

// Repeats says in one line how many rows answer the same prompt, and is empty where none
// does.
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

// Gap says in one line how many prompts of a dataset the file does not answer, and which
// first, before anything is asked; it is empty where it answers all. Only the first limit
// prompts count, or all for 0. A file that answers none is an *orbench.InputError.
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
	if missing < set.Size(limit) {
		return r.name() + ": " + gap + "; these prompts count as unanswered", nil
	}
	return "", &orbench.InputError{File: r.name(), Problem: gap, Hint: "evaluate a dataset that the file answers, or name its column of prompts with `prompt-column`"}
}
