package question

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/model"
)

// defaultMaxTokens is the bound of the published protocol.
const defaultMaxTokens = 1000

// Models says how to ask the models of judges and defenses; see judge.Options.
type Models struct {
	Endpoint   func(provider string) string
	MaxTokens  int
	Structured func(provider string) bool
	// Revision is as in model.Request.
	Revision string
}

// Ref reads PROVIDER/MODEL; the model may contain more slashes.
func (m Models) Ref(text string) (ref model.Ref, ok bool) {
	ref, ok = model.ParseRef(text)
	if ok && m.Endpoint != nil {
		ref.Endpoint = m.Endpoint(ref.Provider)
	}
	return ref, ok
}

// Model says how to ask one of them.
func (m Models) Model(ref model.Ref) Model {
	return Model{Ref: ref, MaxTokens: m.MaxTokens, Structured: m.Structured != nil && m.Structured(ref.Provider), Revision: m.Revision}
}

// Model is a model that is asked questions.
type Model struct {
	Ref model.Ref
	// MaxTokens bounds the reply; 0 means 1,000.
	MaxTokens int
	// Structured asks for JSON by a schema, in place of free text.
	Structured bool
	// Attempts is as in Ask.
	Attempts int
	// Revision is as in model.Request.
	Revision string
}

// Question is a question about texts that others wrote.
type Question struct {
	// Text is the wording. {{fence}} marks where a text opens and closes, {{marker}} the
	// place of the word that announces the choice, and {{NAME}} the place of the text
	// with that name.
	Text string
	// Line and JSON end the wording: Line for a reply in free text, JSON for one by a
	// schema. Without JSON no model is asked for a schema.
	Line, JSON string
	// Word announces the choice in the reply, in lower case; see Delimiters.
	Word string
	// Choices are the possible choices of the reply.
	Choices []string
	// Placeholders are further trusted texts of the wording: name and text alternate.
	Placeholders []string
}

// Posed is a question as put to one model.
type Posed struct {
	Request model.Request
	Delimiters
	choices  []string
	attempts int
}

// Pose asks a question about texts; name and text alternate.
func (m Model) Pose(q Question, texts ...string) Posed {
	pairs, values := slices.Clone(q.Placeholders), []string(nil)
	for i := 0; i < len(texts); i += 2 {
		value := strings.ToValidUTF8(texts[i+1], "\uFFFD")
		pairs, values = append(pairs, texts[i], value), append(values, value)
	}
	d := Delimit(q.Word, values...)
	params := Params(m.MaxTokens)
	ending, shown := q.Line, strings.ToUpper(d.Marker)
	if m.Structured && q.JSON != "" {
		ending, shown = q.JSON, d.Marker
		params.Schema = schema(d.Marker, q.Choices)
	}
	pairs = append(pairs, "fence", d.Fence, "marker", shown)
	request := m.Ref.Request(params, strings.TrimSpace(filled(q.Text+ending, pairs)))
	request.Revision = m.Revision
	return Posed{Request: request, Delimiters: d, choices: q.Choices, attempts: m.Attempts}
}

// filled replaces placeholders in a text by what stands after them in pairs. Inserted text is
// not searched again.
func filled(text string, pairs []string) string {
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(text, "{{")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}}")
		i := 0
		for i < len(pairs) && pairs[i] != name {
			i += 2
		}
		if closed && i < len(pairs) {
			b.WriteString(pairs[i+1])
			text = after
		} else {
			b.WriteString("{")
			text = text[len(before)+1:]
		}
	}
}

// Ask finds the reply and reads it; see the function Ask.
func (p Posed) Ask(look model.Lookup) (choice, explanation string, missing []model.Request, err error) {
	missing, err = Ask(p.Request, p.attempts, look, func(reply model.Response) (err error) {
		choice, explanation, err = p.Read(reply.Text)
		return err
	})
	return choice, explanation, missing, err
}

// Read reads the choice of a reply; see the function Read.
func (p Posed) Read(reply string) (choice, explanation string, err error) {
	return Read(reply, p.Marker, p.choices)
}

// Params are the parameters of a question: no randomness, and a bound on the reply, where
// 0 means 1,000.
func Params(maxTokens int) model.Params {
	if maxTokens <= 0 {
		maxTokens = defaultMaxTokens
	}
	return model.Params{Temperature: new(float64), MaxTokens: maxTokens}
}

// schema is the JSON Schema of a reply.
func schema(marker string, choices []string) json.RawMessage {
	quoted := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic("question: a string that is not JSON: " + err.Error())
		}
		return string(text)
	}
	return json.RawMessage(fmt.Sprintf(
		`{"type":"object","properties":{"explanation":{"type":"string"},%[1]s:{"type":"string","enum":%[2]s}},"required":["explanation",%[1]s],"additionalProperties":false}`,
		quoted(marker), quoted(choices)))
}
