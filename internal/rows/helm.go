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
	if err := parseSample(file, 0, 0, kept["adapter_spec"], &spec); err != nil {
		return nil, err
	}
	left := always("HELM; it has no token counts, and its annotations are left out")
	return openLog(file, in, choose, left, func() ([]logged, error) {
		raw, err := l.next()
		if err != nil {
			return nil, err
		}
		var s helmState
		if err := parseSample(file, 0, l.number-1, raw, &s); err != nil {
			return nil, err
		}
		answers, err := s.answers(file, cmp.Or(spec.Model, spec.Deployment))
		if err != nil {
			return nil, err
		}
		fields, err := parseNested(raw)
		if err != nil {
			return nil, logFault(file, 0, l.number-1, err)
		}
		for i := range answers {
			answers[i].fields = fields
		}
		return answers, nil
	})
}

// answers makes an answer of each completion.
func (s helmState) answers(file, asked string) ([]logged, error) {
	if Holds(string(s.Instance.Input.Media)) || Holds(string(s.Request.Media)) {
		return nil, cannotRead(file, 0, s.Instance.ID, "images or other media")
	}
	base := logged{model: asked}
	var other string
	if len(s.Request.Messages) > 0 {
		base.messages, other = ask(s.Request.Messages, nil)
	} else {
		base.messages, other = ask([]message{{Role: string(orbench.User), Content: s.Request.Prompt}}, nil)
	}
	if other != "" {
		return nil, cannotRead(file, 0, s.Instance.ID, other)
	}
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
