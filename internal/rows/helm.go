package rows

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// helmState is a request of a scenario of HELM, with its result.
type helmState struct {
	Instance struct {
		ID    string `json:"id"`
		Input struct {
			Media jsontext.Value `json:"multimedia_content"`
		} `json:"input"`
	} `json:"instance"`
	Request struct {
		Prompt   jsontext.Value `json:"prompt"`
		Messages []message      `json:"messages"`
		Media    jsontext.Value `json:"multimodal_prompt"`
	} `json:"request"`
	Result *struct {
		Success     bool   `json:"success"`
		Error       string `json:"error"`
		Completions []struct {
			Text   string `json:"text"`
			Finish *struct {
				Reason string `json:"reason"`
			} `json:"finish_reason"`
			Thinking *struct {
				Text string `json:"text"`
			} `json:"thinking"`
		} `json:"completions"`
	} `json:"result"`
}

// openHELM reads the scenario_state.json of a run of HELM.
func openHELM(file string, in input, choose Chooser) (nextFunc, error) {
	l, kept, err := openLogJSON(file, in, []string{"request_states"}, "adapter_spec")
	if err != nil {
		return nil, err
	}
	var spec struct {
		Model      string `json:"model"`
		Deployment string `json:"model_deployment"`
	}
	if err := (place{file: file}).parse(kept["adapter_spec"], &spec); err != nil {
		return nil, err
	}
	left := always("HELM; it has no token counts, and its annotations are left out")
	return openLog(file, in, choose, left, l.next, func(at place, text []byte) ([]logged, error) {
		var s helmState
		if err := at.parse(text, &s); err != nil {
			return nil, err
		}
		return s.answers(at, cmp.Or(spec.Model, spec.Deployment))
	})
}

// answers makes an answer of each completion.
func (s helmState) answers(at place, asked string) ([]logged, error) {
	if Holds(string(s.Instance.Input.Media)) || Holds(string(s.Request.Media)) {
		return nil, at.cannotRead(s.Instance.ID, "images or other media")
	}
	messages := s.Request.Messages
	if len(messages) == 0 {
		messages = []message{{Role: string(orbench.User), Content: s.Request.Prompt}}
	}
	prompt, other := ask(messages, nil)
	if other != "" {
		return nil, at.cannotRead(s.Instance.ID, other)
	}
	base := logged{messages: prompt, model: asked}
	if s.Result == nil || !s.Result.Success || len(s.Result.Completions) == 0 {
		base.failed = s.Instance.ID + ": no result"
		if s.Result != nil && s.Result.Error != "" {
			base.failed = s.Instance.ID + ": " + s.Result.Error
		}
		return []logged{base}, nil
	}
	var all []logged
	for _, c := range s.Result.Completions {
		a := base
		a.said = model.Response{Text: c.Text}
		if c.Finish != nil {
			a.said.Finish, a.said.Block = ended(c.Finish.Reason)
		}
		if c.Thinking != nil {
			a.said.Thinking = c.Thinking.Text
		}
		all = append(all, a)
	}
	return all, nil
}
