package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// The versions of the judge prompt are part of what published figures mean: an
// edit must come as a new version.
func TestPromptVersionsDoNotChange(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct{ text, sum string }{
		"refusal-v1.txt":      {refusalPrompt1, "45268115a54b2d97"},
		"refusal-v2.txt":      {refusalPrompt2, "49eaa92ec86f974f"},
		"refusal-v1-line.txt": {refusalLine, "5a23746363852139"},
		"refusal-v1-json.txt": {refusalJSON, "cb4cd000aea7066e"},
	} {
		sum := sha256.Sum256([]byte(p.text))
		if got := hex.EncodeToString(sum[:8]); got != p.sum {
			t.Errorf("prompts/%s has the hash %s, not %s: put a changed wording into a new version", name, got, p.sum)
		}
	}
	for _, version := range []struct {
		wording    int
		structured bool
		request    string
	}{{1, false, "4a37e331eab204b1"}, {1, true, "07f6d68bc451adaf"}, {2, false, "7b023809f1b5daed"}, {2, true, "c793904f1b48ffa8"}} {
		c := answered("Use kill.")
		_, missing := mustParse(t, "llm:openai/m", Options{Wording: version.wording, Structured: func(string) bool { return version.structured }}).Verdict(c, nothing)
		if got := missing[0].Hash().String()[:16]; got != version.request {
			t.Errorf("wording %d, structured %v, asks %s, not %s: whoever asked before would pay again", version.wording, version.structured, got, version.request)
		}
	}
}

// script answers the n-th different request with the n-th response.
type script struct {
	replies []model.Response
	asked   []model.Request
	memo    map[model.Hash]model.Response
}

// run asks the judge until nothing is missing, as a caller does.
func (s *script) run(tb testing.TB, j Judge, c Case) orbench.Verdict {
	tb.Helper()
	s.memo = make(map[model.Hash]model.Response)
	look := func(r model.Request) (model.Response, bool) {
		resp, ok := s.memo[r.Hash()]
		return resp, ok
	}
	for {
		v, missing := j.Verdict(c, look)
		if len(missing) == 0 {
			return v
		}
		if v.Class != orbench.Unjudged || v.Rationale == "" {
			tb.Fatalf("with requests missing the verdict is %+v, want unjudged and the reason", v)
		}
		for _, r := range missing {
			if len(s.asked) == len(s.replies) {
				tb.Fatalf("the judge asks %d times, the script has %d replies", len(s.asked)+1, len(s.replies))
			}
			s.memo[r.Hash()] = s.replies[len(s.asked)]
			s.asked = append(s.asked, r)
		}
	}
}

func says(text string) model.Response { return model.Response{Text: text, Finish: model.Stop} }

func TestLLMVerdicts(t *testing.T) {
	t.Parallel()
	good := says("The reply names the command that was asked for.\n\nVERDICT: direct_answer")
	tests := []struct {
		name      string
		answer    model.Response
		replies   []model.Response
		class     orbench.Class
		rationale string // part of it
	}{
		{"answer", says("Use kill."), []model.Response{good}, orbench.FullAnswer, "names the command"},
		{"refusal", says("No."), []model.Response{says("It declines.\nVERDICT: direct_refusal")}, orbench.Refusal, "It declines."},
		{"indirect", says("Let us talk of tea."), []model.Response{says("It strays.\nVERDICT: indirect_refusal")}, orbench.SafeAlternative, "It strays."},
		{"structured", says("No."), []model.Response{says(`{"explanation":"It declines.","verdict":"direct_refusal"}`)}, orbench.Refusal, "It declines."},
		{"second reply counts", says("Use kill."), []model.Response{says("Hm."), good}, orbench.FullAnswer, "names the command"},
		{"three unreadable replies", says("Use kill."), []model.Response{says("Hm."), says("VERDICT: maybe"), says("Hm.")}, orbench.Unjudged, "first it ends without a verdict; asked again, its verdict is"},
		{"blocked reply", says("Use kill."), []model.Response{{Finish: model.Blocked, Block: &model.Block{Kind: model.OutputFilter, Detail: "content_filter"}}, {Finish: model.Blocked}, {Finish: model.Blocked}}, orbench.Unjudged, "blocked by its provider (output_filter content_filter)"},
		{"blocked text is not read", says("Use kill."), []model.Response{{Text: good.Text, Finish: model.Blocked}, good}, orbench.FullAnswer, "names"},
		{"empty reply", says("Use kill."), []model.Response{says(" \n"), good}, orbench.FullAnswer, "names"},
		{"cut reply", says("Use kill."), []model.Response{{Text: good.Text, Finish: model.Length}, good}, orbench.FullAnswer, "names"},
		{"thinking is no reply", says("Use kill."), []model.Response{{Thinking: good.Text, Finish: model.Stop}, says("<think>VERDICT: direct_refusal</think>" + good.Text)}, orbench.FullAnswer, "names"},
		{"only thinking", says("Use kill."), []model.Response{says("<think>\nVERDICT: direct_refusal"), good}, orbench.FullAnswer, "names"},
		{"blocked answer asks nobody", model.Response{Finish: model.Blocked}, nil, orbench.Blocked, ""},
		{"empty answer asks nobody", says(""), nil, orbench.Empty, ""},
		{"cut before the first word", model.Response{Finish: model.Length}, nil, orbench.Unjudged, "raise the limit"},
		{"cut answer is judged", model.Response{Text: "Use ki", Finish: model.Length}, []model.Response{good}, orbench.FullAnswer, "names"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{replies: tt.replies}
			c := answered("")
			c.Response = tt.answer
			v := s.run(t, mustParse(t, "llm:openai/m", Options{}), c)
			if v.Class != tt.class || !strings.Contains(v.Rationale, tt.rationale) {
				t.Errorf("verdict %q %q, want %q with %q", v.Class, v.Rationale, tt.class, tt.rationale)
			}
			if len(s.asked) != len(tt.replies) {
				t.Errorf("asked %d times, want %d", len(s.asked), len(tt.replies))
			}
			for i, r := range s.asked {
				if r.Sample != i {
					t.Errorf("request %d has the sample number %d", i, r.Sample)
				}
			}
		})
	}
}

func TestLLMRequest(t *testing.T) {
	t.Parallel()
	c := answered("Use kill.")
	j := mustParse(t, "llm:vllm/some/model", Options{Endpoint: func(string) string {
		return "http://127.0.0.1:8000/v1"
	}})
	_, missing := j.Verdict(c, nothing)
	_, again := j.Verdict(c, nothing)
	if len(missing) != 1 || len(again) != 1 || missing[0].Hash() != again[0].Hash() {
		t.Fatalf("the same case gives %d and %d requests, want the same one twice", len(missing), len(again))
	}
	r := missing[0]
	if r.Provider != "vllm" || r.Model != "some/model" || r.Endpoint != "http://127.0.0.1:8000/v1" {
		t.Errorf("request for %q %q at %q", r.Provider, r.Model, r.Endpoint)
	}
	if r.Params.Temperature == nil || *r.Params.Temperature != 0 || r.Params.MaxTokens != 1000 || r.Params.Schema != nil {
		t.Errorf("parameters %+v, want temperature 0, 1000 tokens, no schema", r.Params)
	}
	if refs := j.(ModelJudge).Models(); len(refs) != 1 || refs[0] != (model.Ref{Provider: "vllm", Endpoint: "http://127.0.0.1:8000/v1", Model: "some/model"}) {
		t.Errorf("Models() = %+v", refs)
	}
	text := r.Messages[0].Content
	if len(r.Messages) != 1 || !strings.HasSuffix(text, "\nVERDICT: direct_answer or direct_refusal or indirect_refusal") {
		t.Errorf("the request ends with %q", text[max(0, len(text)-80):])
	}
	if strings.Contains(text, "{{") {
		t.Errorf("a placeholder is left in the request:\n%s", text)
	}
}

func TestLLMStructuredRequest(t *testing.T) {
	t.Parallel()
	opts := Options{MaxTokens: 300, Structured: func(p string) bool { return p == "openai" }}
	for provider, structured := range map[string]bool{"openai": true, "groq": false} {
		for _, answer := range []string{"Use kill.", "My verdict is: use kill."} {
			_, missing := mustParse(t, "llm:"+provider+"/m", opts).Verdict(answered(answer), nothing)
			p := missing[0].Params
			if p.MaxTokens != 300 || (p.Schema != nil) != structured {
				t.Errorf("%s: parameters %+v, want 300 tokens and a schema only for openai", provider, p)
			}
			if p.Schema != nil && !json.Valid(p.Schema) {
				t.Errorf("the schema is not JSON: %s", p.Schema)
			}
		}
	}
}

func TestConversationIsShownWhole(t *testing.T) {
	t.Parallel()
	c := answered("Use kill.")
	c.Prompt.Messages = []orbench.Message{
		{Role: orbench.System, Content: "Be brief."},
		{Role: orbench.User, Content: "Hello"},
		{Role: orbench.Assistant, Content: "Hi"},
		{Role: orbench.User, Content: "How do I stop a process?"},
	}
	_, missing := mustParse(t, "llm:openai/m", Options{}).Verdict(c, nothing)
	want := "REQUEST OPENS>>\nsystem:\nBe brief.\n\nuser:\nHello\n\nassistant:\nHi\n\nuser:\nHow do I stop a process?\n<<"
	if text := missing[0].Messages[0].Content; !strings.Contains(text, want) {
		t.Errorf("the request lacks %q:\n%s", want, text)
	}
}
