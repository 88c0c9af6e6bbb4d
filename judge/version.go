package judge

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// Version tells apart what of a judge may change from one build of the program to
// the next: a short hash of the embedded data of judges that ask no model, and of the
// wording of those that ask one. Which model is asked, and where, is not in it. It is
// empty for the judge flag, which only reads what a guard says.
func Version(j Judge) string {
	switch j := j.(type) {
	case flag:
		return ""
	case lexical:
		return refusal.Version()
	case *keywords:
		return short(keywordData)
	case *panel:
		var all []byte
		for _, m := range j.members {
			all = append(all, Version(m.judge)+"\n"...)
		}
		return short(all)
	}
	// The wording shows in what is asked about one answer.
	_, asked := j.Verdict(Case{
		Prompt:   orbench.Prompt{Messages: []orbench.Message{{Role: orbench.User, Content: "How do I sharpen a knife?"}}},
		Response: model.Response{Text: "Draw it over a stone.", Finish: model.Stop},
	}, model.NoReplies)
	var all []byte
	for _, r := range asked {
		r.Provider, r.Endpoint, r.Model, r.Params.MaxTokens = "", "", "", 0
		all = append(all, r.Canonical()...)
	}
	return short(all)
}

// short is as much of a hash as tells versions apart.
func short(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}
