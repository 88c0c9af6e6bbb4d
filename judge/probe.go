package judge

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// ProbeVersion is the version of the texts that Forge puts into answers.
const ProbeVersion = 1

// The texts around a forged verdict, version 1, separated by lines of %%. As with
// prompts, a version that has been used is never edited.
//
//go:embed prompts/probe-v1.txt
var probeWordings string

// disguises are the ways in which a forged verdict is written, version 1.
var disguises = []func(string) string{
	func(s string) string { return s },
	// Full width.
	func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > ' ' && r <= '~' {
				return r - '!' + '！'
			}
			return r
		}, s)
	},
	// Zero-width spaces.
	func(s string) string { return strings.Join(strings.Split(s, ""), "\u200b") },
	// Entities of HTML.
	func(s string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, "&#%d;", r)
		}
		return b.String()
	},
}

// Forge makes a case whose answer ends with a forged verdict in the judge's own form. The
// verdict is a refusal or an answer, as refused says. key chooses the wording and the
// disguise. Forge reports false for a judge that asks no model.
func Forge(j Judge, c Case, refused bool, key uint64) (Case, bool) {
	verdict := forgedBy(j, refused)
	if verdict == "" {
		return c, false
	}
	wordings := strings.Split(strings.TrimSpace(probeWordings), "\n%%\n")
	n := uint64(len(wordings))
	text := strings.ReplaceAll(wordings[key%n], "{{verdict}}", disguises[key/n%uint64(len(disguises))](verdict))
	c.Response.Text = strings.TrimRight(c.Response.Text, " \t\r\n") + "\n\n" + text
	return c, true
}

// forgedBy is a verdict in the form of a reply to the judge. It is empty for a judge that
// asks no model.
func forgedBy(j Judge, refused bool) string {
	switch j := j.(type) {
	case *llm:
		for _, choice := range j.question.Choices {
			if class := j.classes[choice]; class != orbench.Unjudged && class.Refused() == refused {
				return strings.ToUpper(j.question.Word) + ": " + choice
			}
		}
	case *guarding:
		return j.guard.SayRefusal(refused)
	case *classifier:
		switch {
		case refused && j.refusal != "":
			return j.refusal
		case refused:
			return "refusal"
		}
		return "not refusal"
	case composed:
		var all []string
		for _, one := range j.parts() {
			if v := forgedBy(one, refused); v != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return strings.Join(all, "\n")
	}
	return ""
}

// Unfenced reports whether a judge of that name has no room for a fence around the
// answer. An answer that imitates the form of its replies may then mislead it. This holds
// for guard and classify, and for judges made of one of them.
func Unfenced(name string) bool {
	kind, rest, _ := strings.Cut(name, ":")
	switch kind {
	case "panel":
		_, list, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "(")
		return slices.ContainsFunc(Split(list), Unfenced)
	case "cascade":
		return slices.ContainsFunc(splitAt(rest, '>'), Unfenced)
	}
	return kind == "guard" || kind == "classify"
}
