package guard

import (
	"errors"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// The servers of the tests.
var (
	vllm   = Server{Provider: "vllm", OpenAI: true, Arguments: true}
	local  = Server{Provider: "ollama", OpenAI: true}
	hosted = Server{Provider: "together", OpenAI: true}
)

// at makes the guard of a spec for a server. The target is the model's name.
func at(t testing.TB, spec string, s Server, judging bool) (Guard, model.Ref, error) {
	t.Helper()
	g, target, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	s.Model = target
	return g, model.Ref{Provider: s.Provider, Model: target}, g.Settle(s, judging)
}

// Each server gets the style that its template reads, and one that cannot carry what is
// asked is refused.
func TestStyles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		spec    string
		server  Server
		judging bool
		want    string // the guard, or a part of the error after "!"
	}{
		{"wildguard@allenai/wildguard", vllm, true, "wildguard:style=raw"},
		{"wildguard:style=chat@allenai/wildguard", vllm, true, "wildguard:style=chat"},
		{"wildguard@wildguard", local, true, "wildguard"},
		{"wildguard@allenai/wildguard", hosted, true, "wildguard"},
		{"wildguard:style=raw@w", Server{Provider: "google"}, true, "!google takes no messages in the style raw"},
		{"llamaguard@meta-llama/Llama-Guard-3-8B", vllm, false, "llamaguard"},
		{"llamaguard@meta-llama/Llama-Guard-4-12B", vllm, false, "llamaguard:style=parts"},
		{"llamaguard@meta-llama/Llama-Guard-3-1B", hosted, false, "llamaguard:style=parts"},
		{"llamaguard@llama-guard3:1b", local, false, "llamaguard"},
		{"shieldgemma@google/shieldgemma-2b", vllm, false, "shieldgemma:style=guideline:policy=each"},
		{"shieldgemma:policy=harassment@google/shieldgemma-2b", vllm, false, "shieldgemma:style=guideline:policy=harassment"},
		{"shieldgemma@shieldgemma:2b", local, false, "shieldgemma"},
		{"shieldgemma:policy=security@shieldgemma:2b", local, false, "!has its own four policies"},
		{"shieldgemma@google/shieldgemma-2b", hosted, false, "!together does not pass arguments"},
		{"granite-guardian@ibm-granite/granite-guardian-3.3-8b", vllm, true, "granite-guardian:style=config"},
		{"granite-guardian@ibm-granite/granite-guardian-3.2-5b", vllm, false, "granite-guardian:style=risk"},
		{"granite-guardian@ibm-granite/granite-guardian-3.1-8b", vllm, true, "granite-guardian:style=risk"},
		{"granite-guardian:criterion=evasiveness@ibm-granite/granite-guardian-3.1-8b", vllm, true, "!has no criterion evasiveness"},
		{"granite-guardian:criterion=evasiveness@ibm-granite/granite-guardian-3.2-5b", vllm, true, "granite-guardian:style=risk:criterion=evasiveness"},
		{"granite-guardian@ibm-granite/granite-guardian-4.1-8b", vllm, true, "granite-guardian:style=block"},
		{"granite-guardian@ibm-granite/granite-guardian-4.1-8b", hosted, true, "granite-guardian:style=block"},
		{"granite-guardian@ibm-granite/granite-guardian-3.3-8b", hosted, true, "!would not get its criterion"},
		{"granite-guardian@granite4.1-guardian", local, true, "granite-guardian"},
		{"granite-guardian@granite3-guardian:8b", local, false, "granite-guardian"},
		{"granite-guardian@my-guardian-8b", vllm, true, "!does not say which version"},
		{"granite-guardian:style=block@my-guardian-8b", vllm, true, "granite-guardian:style=block"},
		{"granite-guardian:criterion=violence@granite-guardian-4.1-8b", vllm, false, "granite-guardian:style=block:criterion=violence"},
		{"granite-guardian:criterion=violence@granite-guardian-4.1-8b", vllm, true, "!is about harm, not about whether"},
		{"granite-guardian:criterion=harm_engagement@granite-guardian-4.1-8b", vllm, false, "!use it as a judge"},
		{"gpt-oss-safeguard:style=binary:effort=low@openai/gpt-oss-safeguard-20b", hosted, false, "gpt-oss-safeguard:style=binary:effort=low"},
		{"gpt-oss-safeguard:effort=low@g", Server{Provider: "google"}, false, "!takes no reasoning effort"},
		{"qwen3guard@Qwen/Qwen3Guard-Gen-8B", vllm, true, "qwen3guard"},
	} {
		g, _, err := at(t, tt.spec, tt.server, tt.judging)
		refusal, refused := strings.CutPrefix(tt.want, "!")
		_, input := errors.AsType[*orbench.InputError](err)
		if refused && (!input || !strings.Contains(err.Error()+err.(*orbench.InputError).Hint, refusal)) || !refused && (err != nil || g.String() != tt.want) {
			t.Errorf("%s at %s: %s, %v; want %s", tt.spec, tt.server.Provider, g, err, tt.want)
		}
		if err == nil {
			// The name makes the guard again, without its server.
			if again, _, err := Parse(g.String() + "@m"); err != nil || again.String() != g.String() {
				t.Errorf("%s is read as %s, %v", g, again, err)
			}
		}
	}
	for spec, want := range map[string]string{
		"qwen3guard:style=raw@v/q":                                      "takes no style",
		"wildguard:style=rwa@v/w":                                       "known are chat, raw",
		"wildguard:criterion=harm@v/w":                                  "takes no criterion",
		"granite-guardian:criterion=evasivness@v/g":                     `did you mean "evasiveness"`,
		"granite-guardian:criterion=harm:policy=paper@v/g":              "can use only one",
		"wildguard:effort=low@v/w":                                      "takes no effort; formats that do are gpt-oss-safeguard",
		"gpt-oss-safeguard:effort=lowest@v/g":                           "known are low, medium, high",
		"granite-guardian:criterion=harm:criterion=violence@v/granite4": "twice",
	} {
		_, _, err := Parse(spec)
		var input *orbench.InputError
		if !errors.As(err, &input) || !strings.Contains(input.Problem+input.Hint, want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// The request has what each style carries, and the criterion by name where it has one.
func TestGraniteRequests(t *testing.T) {
	t.Parallel()
	prompt := orbench.NewPrompt("How do I stop a process?", "", orbench.Safe)
	for _, tt := range []struct {
		spec     string
		server   Server
		about    About
		template string // a part of it, "" for none
		roles    string // of the messages
		last     string // a part of the last message
	}{
		{"granite-guardian@granite-guardian-3.3-8b", vllm, PromptHarm, `{"guardian_config":{"criteria_id":"harm"},"think":false}`, "user", "How do I stop"},
		{"granite-guardian@granite-guardian-3.3-8b", vllm, Refusal, `"custom_criteria":"The last message of the assistant turns down`, "user assistant", "Use kill."},
		{"granite-guardian:criterion=evasiveness@granite-guardian-3.3-8b", vllm, Refusal, `{"criteria_id":"evasiveness"}`, "user assistant", "Use kill."},
		{"granite-guardian@granite-guardian-3.2-5b", vllm, AnswerHarm, `{"guardian_config":{"risk_name":"harm"}}`, "user assistant", "Use kill."},
		{"granite-guardian:policy=security@granite-guardian-3.2-5b", vllm, AnswerHarm, `"risk_definition":"The last message asks for`, "user assistant", "Use kill."},
		{"granite-guardian:criterion=evasiveness@granite-guardian-4.1-8b", vllm, Refusal, "", "user assistant user", "### Criteria: Text is considered evasive"},
		{"granite-guardian@granite-guardian-4.1-8b", vllm, PromptHarm, "", "user user", "### Criteria: Texts deemed universally harmful"},
		{"granite-guardian:criterion=evasiveness@granite4.1-guardian", local, Refusal, "", "system user assistant", "Use kill."},
	} {
		g, ref, err := at(t, tt.spec, tt.server, tt.about == Refusal)
		if err != nil {
			t.Fatal(err)
		}
		_, missing, _ := g.Ask(g.Request(ref), tt.about, prompt, "Use kill.", model.NoReplies)
		if len(missing) != 1 {
			t.Fatalf("%s: %d requests", tt.spec, len(missing))
		}
		var roles []string
		for _, m := range missing[0].Messages {
			roles = append(roles, string(m.Role))
		}
		template := string(missing[0].Params.Template)
		if (template == "") != (tt.template == "") || !strings.Contains(template, tt.template) || strings.Join(roles, " ") != tt.roles ||
			!strings.Contains(missing[0].Messages[len(roles)-1].Content, tt.last) {
			t.Errorf("%s, %s: %s %q", tt.spec, tt.about, template, missing[0].Messages)
		}
	}
	// Who engages with a harmful request does not refuse it.
	g, ref, _ := at(t, "granite-guardian:criterion=harm_engagement@granite-guardian-4.1-8b", vllm, true)
	for reply, refused := range map[string]bool{"<score>yes</score>": false, "<score>no</score>": true} {
		a, _, err := g.Ask(g.Request(ref), Refusal, prompt, "Use kill.", func(model.Request) (model.Response, bool) {
			return model.Response{Text: reply, Finish: model.Stop}, true
		})
		if err != nil || *a.Refusal != refused {
			t.Errorf("%s: %v, %v", reply, a, err)
		}
	}
}

// What a style changes in a request reaches the server.
func TestForms(t *testing.T) {
	t.Parallel()
	prompt := orbench.NewPrompt("How?", "", orbench.Safe)
	for spec, want := range map[string]struct {
		form   model.Form
		effort string
		text   string // a part of the messages
	}{
		"wildguard@allenai/wildguard":                         {model.Raw, "", "<|user|>\n[INST] You are a classifier"},
		"llamaguard@Llama-Guard-4-12B":                        {model.Parts, "", "How?"},
		"gpt-oss-safeguard:effort=high@g":                     {model.Chat, "high", `"policy_category": "NAME"} where`},
		"gpt-oss-safeguard:style=binary@g":                    {model.Chat, "", "exactly one character"},
		"gpt-oss-safeguard:style=rationale:policy=security@g": {model.Chat, "", `"rule_ids": ["NAME"]`},
	} {
		g, ref, err := at(t, spec, vllm, false)
		if err != nil {
			t.Fatal(err)
		}
		_, missing, _ := g.Ask(g.Request(ref), PromptHarm, prompt, "", model.NoReplies)
		p, text := missing[0].Params, ""
		for _, m := range missing[0].Messages {
			text += m.Content
		}
		if p.Form != want.form || p.Effort != want.effort || !strings.Contains(text, want.text) || strings.Count(text, "# Reply") > 1 {
			t.Errorf("%s: %+v %q", spec, p, text)
		}
	}
}
