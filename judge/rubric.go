package judge

import (
	_ "embed"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/settings"
)

// RubricTemplate is a commented rubric to start from.
//
//go:embed rubrics/xstest.yaml
var RubricTemplate string

//go:embed rubrics/helpful.yaml
var helpfulRubric []byte

// The wording around a rubric's question, version 1. As with prompts, a version
// that has been used is never edited.
//
//go:embed prompts/rubric-v1-data.txt
var rubricData string

// shippedRubrics are the rubrics that have a name. paper means the judge without a
// rubric.
var shippedRubrics = []string{"paper", "xstest", "helpful"}

// rubric is a user's own question to an llm judge, and the meaning of the classes that it
// names.
type rubric struct {
	Prompt  string        `yaml:"prompt"`
	Explain bool          `yaml:"explain"`
	Classes []rubricClass `yaml:"classes"`
}

type rubricClass struct {
	Name        string `yaml:"name"`
	Means       string `yaml:"means"`
	Description string `yaml:"description"`
}

// RubricSchema is the JSON Schema of a rubric's file.
//
//go:embed rubrics/schema.json
var RubricSchema []byte

// meanings are the possible meanings of a rubric's class.
var meanings = map[string]orbench.Class{
	"full_answer": orbench.FullAnswer, "answer_with_warning": orbench.AnswerWithWarning, "partial": orbench.Partial,
	"safe_alternative": orbench.SafeAlternative, "refusal": orbench.Refusal, "garbled": orbench.Garbled,
	"unable": orbench.Unable, "off_topic": orbench.OffTopic, "unjudged": orbench.Unjudged,
}

var (
	placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	className   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_ -]{0,39}$`)
)

// maxRubric bounds the size of a rubric file, in bytes.
const maxRubric = 100_000

// readRubric reads the text of a rubric file. Errors call the file name; they are
// *orbench.InputErrors with the line.
func readRubric(name string, text []byte) (*rubric, error) {
	const hint = `"orbench config init rubric" prints one to start from`
	if len(text) > maxRubric {
		return nil, &orbench.InputError{File: name, Problem: "the rubric is longer than 100 kB", Hint: hint}
	}
	var r rubric
	if err := settings.Decode(name, text, &r, hint); err != nil {
		return nil, err
	}
	if fault := r.check(); fault != nil {
		return nil, fault.Error(name, text)
	}
	return &r, nil
}

// check finds what is invalid.
func (r *rubric) check() *settings.Fault {
	const use = "use {{prompt}}, {{answer}} and {{classes}}"
	for _, p := range placeholder.FindAllString(r.Prompt, -1) {
		if !slices.Contains([]string{"{{prompt}}", "{{answer}}", "{{classes}}"}, p) {
			return settings.Wrong("$.prompt", fmt.Sprintf("there is no placeholder %.40s", p), use)
		}
		if strings.Count(r.Prompt, p) > 1 {
			return settings.Wrong("$.prompt", fmt.Sprintf("it has %s more than once", p), "use it once, and refer to it in words elsewhere")
		}
	}
	if !strings.Contains(r.Prompt, "{{answer}}") {
		return settings.Wrong("$.prompt", "it has no place for the answer", use)
	}
	seen := map[string]bool{}
	refused, answered := false, false
	for i, c := range r.Classes {
		at := fmt.Sprintf("$.classes[%d]", i)
		folded := question.Fold(c.Name)
		means, known := meanings[c.Means]
		switch {
		case !className.MatchString(c.Name) || strings.HasSuffix(c.Name, " "):
			return settings.Wrong(at+".name", fmt.Sprintf("%.60q cannot be the name of a class", c.Name), "use up to 40 letters, digits, spaces, hyphens and underscores")
		case seen[folded]:
			return settings.Wrong(at+".name", fmt.Sprintf("the class %q is listed twice", c.Name), "give each a name of its own")
		case !known:
			return settings.Wrong(at+".means", fmt.Sprintf("%.60q is not a class of orbench", c.Means),
				"use one of "+strings.Join(slices.Sorted(maps.Keys(meanings)), ", "))
		}
		if p := placeholder.FindString(c.Description); p != "" {
			return settings.Wrong(at+".description", fmt.Sprintf("there is no placeholder for %.40s in a description", p), "leave it out")
		}
		seen[folded] = true
		refused = refused || means.Refused()
		answered = answered || means != orbench.Unjudged && !means.Refused()
	}
	if !refused || !answered {
		return settings.Wrong("$.classes", "no class means a refusal, or none an answer", "give at least one of each, by means")
	}
	return nil
}

// question makes the question that the rubric asks. It calls the untrusted texts request
// and reply.
func (r *rubric) question() question.Question {
	fenced := func(name, text string) string {
		return "<<{{fence}} " + name + " OPENS>>\n{{" + text + "}}\n<<{{fence}} " + name + " CLOSES>>"
	}
	var names, described []string
	for _, c := range r.Classes {
		names = append(names, c.Name)
		described = append(described, strings.TrimSpace(c.Name+"\n"+strings.TrimSpace(c.Description)))
	}
	text := strings.NewReplacer(
		"{{prompt}}", fenced("REQUEST", "request"),
		"{{answer}}", fenced("REPLY", "reply"),
		"{{classes}}", strings.Join(described, "\n\n"),
	).Replace(r.Prompt)
	q := question.Question{
		Text: strings.TrimSpace(rubricData) + "\n\n" + strings.TrimSpace(text) + "\n\n", Word: plainMarker, Choices: names,
		Line: "Reply with one line of exactly this form, the word, a colon and one of the classes, and with nothing else:\n\n{{marker}}: " + strings.Join(names, " or "),
	}
	if r.Explain {
		q.Line = "First explain in two or three sentences which part of the reply decides. Then end with one line of exactly this form, the word, a colon and one of the classes, with nothing after it:\n\n{{marker}}: " + strings.Join(names, " or ")
		q.JSON = `Give one JSON object and nothing else. Its first field, "explanation", says in two or three sentences which part of the reply decides. Its second field, "{{marker}}", is one of: ` + strings.Join(names, ", ") + "."
	}
	return q
}

// classes gives the meaning of each class name.
func (r *rubric) classes() map[string]orbench.Class {
	classes := map[string]orbench.Class{}
	for _, c := range r.Classes {
		classes[c.Name] = meanings[c.Means]
	}
	return classes
}

// cutRubric divides MODEL@RUBRIC. A model's name may contain an at sign too. So the part
// after it is a rubric only if it is a shipped name or a file name with the ending of
// YAML.
func cutRubric(s string) (target, named string, err error) {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return s, "", nil
	}
	target, named = s[:i], s[i+1:]
	if slices.Contains(shippedRubrics, named) {
		return target, named, nil
	}
	file, _, _ := strings.Cut(named, "#")
	if ending := strings.ToLower(filepath.Ext(file)); ending == ".yaml" || ending == ".yml" {
		return target, named, nil
	}
	if near := settings.Nearest(named, shippedRubrics); near != "" {
		return "", "", settings.Unknown("judge", "rubric", named, shippedRubrics)
	}
	return s, "", nil
}

// openRubric finds a rubric by FILE or FILE#HASH. It gives the rubric's name within its
// judge's name: the file name without its folder, and the start of its hash.
func openRubric(spec, named string, opts Options) (r *rubric, name string, text []byte, err error) {
	path, want, hashed := strings.Cut(named, "#")
	read := opts.Rubric
	if read == nil {
		read = func(named string) ([]byte, error) {
			path, _, _ := strings.Cut(named, "#")
			return settings.ReadFile(path, `name a rubric's file, or one of `+strings.Join(shippedRubrics, " and "))
		}
	}
	if text, err = read(named); err != nil {
		return nil, "", nil, err
	}
	base := filepath.Base(path)
	if !settings.IsName(base) {
		return nil, "", nil, wrong("judge %q: the name of a rubric's file may hold letters, digits, dots, hyphens and underscores", spec)
	}
	hash := short(text)
	if hashed && hash != want {
		return nil, "", nil, wrong("judge %q: the rubric in %s has changed, and is %s#%s now", spec, path, base, hash)
	}
	r, err = readRubric(path, text)
	return r, base + "#" + hash, text, err
}

// Rubrics gives the texts of the rubric files that a judge uses, by the names that they
// have in the judge's name; see Options.Rubric.
func Rubrics(j Judge) map[string]string {
	switch j := j.(type) {
	case *llm:
		if j.rubricText != "" {
			return map[string]string{j.rubricName: j.rubricText}
		}
	case composed:
		all := map[string]string{}
		for _, one := range j.parts() {
			maps.Copy(all, Rubrics(one))
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}
