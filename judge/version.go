package judge

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// Version identifies the parts of a judge that may change between builds of the program.
// It is a short hash of the embedded data of judges that ask no model, and of the wording
// of those that ask one. It does not include which model is asked, and where. It is empty
// for the judge flag, which only reads a guard's reply.
func Version(j Judge) string {
	switch j := j.(type) {
	case flag, column:
		return ""
	case lexical:
		return refusal.Version()
	case *keywords:
		return short(keywordData)
	case composed:
		var all []byte
		for _, one := range j.parts() {
			all = append(all, Version(one)+"\n"...)
		}
		return short(all)
	}
	// The question about one answer shows the wording.
	_, asked := j.Verdict(Case{
		Prompt:   orbench.Prompt{Messages: []orbench.Message{{Role: orbench.User, Content: "How do I sharpen a knife?"}}},
		Response: model.Response{Text: "Draw it over a stone.", Finish: model.Stop},
	}, model.NoReplies)
	var all []byte
	for _, r := range asked {
		r.Provider, r.Endpoint, r.Model, r.Revision, r.Params.MaxTokens = "", "", "", "", 0
		all = append(all, r.Canonical()...)
	}
	return short(all)
}

// short is enough of a hash to tell versions apart.
func short(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}
