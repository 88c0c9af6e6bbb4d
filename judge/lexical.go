package judge

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// lexical judges by the embedded detector of package refusal, which needs no model. An
// answer cut by the token limit is judged by the text that is there.
type lexical struct{}

// Lexical is the judge of that name.
var Lexical Judge = lexical{}

func (lexical) Name() string { return "lexical" }

func (lexical) Verdict(c Case, _ model.Lookup) (orbench.Verdict, []model.Request) {
	if v, ok := Settled(c.Response); ok {
		return v, nil
	}
	return refusal.Detect(c.Prompt.Text(), c.Response.Text), nil
}
