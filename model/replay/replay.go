package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/model"
)

// Provider is the provider of recorded answers in requests and results.
const Provider = "replay"

// Model is a model.Model whose answers come from a file. It is safe for concurrent
// use.
type Model struct {
	// Recording is the file.
	Recording *dataset.Recording
	// Conflicts counts the rows that answer the prompt of an earlier row in other
	// words.
	Conflicts int

	answers map[orbench.PromptID]model.Response
}

// Open reads a file of recorded answers, as dataset.OpenRecording does; it must
// have prompts. Where two rows have the same prompt, the first one answers it.
func Open(ctx context.Context, path string, opts dataset.RecordingOptions) (*Model, error) {
	recording, err := dataset.OpenRecording(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	if recording.Columns.Prompt == "" {
		return nil, &orbench.InputError{
			File: path, Problem: "no column of prompts, so its answers cannot be found", Hint: "name it with `prompt-column`",
		}
	}
	m := &Model{Recording: recording, answers: make(map[orbench.PromptID]model.Response, recording.Count)}
	for a, err := range recording.Answers() {
		if err != nil {
			return nil, err
		}
		id := key(a.Asked().Messages)
		text, thinking := model.CutThinking(a.Response)
		if first, ok := m.answers[id]; ok {
			if first.Text != text {
				m.Conflicts++
			}
			continue
		}
		// The clones let go of the rest of the row.
		response := model.Response{Text: strings.Clone(text), Thinking: strings.Clone(thinking), Finish: model.Stop}
		if a.Simulated {
			response.Model = Provider + " " + model.SimulatedMark
		}
		m.answers[id] = response
	}
	return m, nil
}

// key is the ID of a conversation without its system messages, which files of recorded
// answers mostly leave out.
func key(messages []orbench.Message) orbench.PromptID {
	said := slices.DeleteFunc(slices.Clone(messages), func(m orbench.Message) bool { return m.Role == orbench.System })
	return orbench.PromptIDOf(said)
}

// find finds the recorded answer to a conversation: that to its very words, or else
// that to its last user message alone, of a file that has no more of conversations.
func (m *Model) find(messages []orbench.Message) (model.Response, bool) {
	response, ok := m.answers[key(messages)]
	if !ok {
		response, ok = m.answers[orbench.NewPrompt(orbench.Prompt{Messages: messages}.Text(), "", "").ID]
	}
	return response, ok
}

// Ask finds the recorded answer to a conversation. A prompt that the file does not
// answer is a *model.Error of the kind model.Invalid.
func (m *Model) Ask(_ context.Context, request model.Request) (model.Response, error) {
	response, ok := m.find(request.Messages)
	if !ok {
		return response, &model.Error{
			Kind: model.Invalid, Provider: request.Provider, Model: request.Model, Message: "the file has no answer to this prompt", Unsent: true,
		}
	}
	return response, nil
}

// Has reports whether the file answers a conversation.
func (m *Model) Has(messages []orbench.Message) bool {
	_, ok := m.find(messages)
	return ok
}

// Gap is what a file lacks of the answers to a dataset.
type Gap struct {
	// File is its path.
	File    string
	Dataset string
	// Missing of the Prompts have no answer, and First is the first of them.
	Missing, Prompts int
	First            orbench.Prompt
}

// String says in one line how many answers the file lacks, and which first.
func (g Gap) String() string {
	return fmt.Sprintf("has no answer to %d of the %d prompts of %s, the first of them %s (%.60q)", g.Missing, g.Prompts, g.Dataset, g.First.ID, g.First.Text())
}

// Gap finds the prompts of a dataset that the file does not answer, before anything is
// asked. Only the first limit prompts count, or all for 0. A file that answers none is
// an *orbench.InputError.
func (m *Model) Gap(set *dataset.Dataset, limit int) (Gap, error) {
	g := Gap{File: m.Recording.Path, Dataset: set.Name}
	for p, err := range set.Prompts() {
		if err != nil {
			return g, err
		}
		if limit > 0 && g.Prompts == limit {
			break
		}
		g.Prompts++
		if m.Has(p.Messages) {
			continue
		}
		if g.Missing++; g.Missing == 1 {
			g.First = p
		}
	}
	if g.Missing < g.Prompts {
		return g, nil
	}
	return g, &orbench.InputError{File: g.File, Problem: g.String(), Hint: "evaluate a dataset that the file answers, or name its column of prompts with `prompt-column`"}
}
