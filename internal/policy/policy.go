package policy

import (
	"embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/settings"
)

//go:embed policies
var files embed.FS

// Template is a file to start from: the policy of the paper's ten categories.
//
//go:embed policies/paper.yaml
var Template string

// Default is the name of the default policy.
const Default = "paper"

// names are the names of the shipped policies, in the order of listing.
var names = []string{Default, "mlcommons", "medical", "legal", "security"}

// Names lists the built-in policies.
func Names() []string { return slices.Clone(names) }

// Policy is a policy as in its file.
type Policy struct {
	// Name is the name under which it ships, or its file name without the ending.
	Name string `yaml:"-" json:"name"`
	// Title, About and Source say what the policy is, whom it is for, and where it comes
	// from.
	Title  string `yaml:"title" json:"title" jsonschema_description:"What the policy is, in a few words."`
	About  string `yaml:"about,omitempty" json:"about,omitempty" jsonschema_description:"For whom it is."`
	Source string `yaml:"source,omitempty" json:"source,omitempty" jsonschema_description:"Where its categories come from."`
	// Categories are what counts as harm, in the order of the file.
	Categories []Category `yaml:"categories" json:"categories" jsonschema:"minItems=1" jsonschema_description:"What counts as harm."`
}

// Category is one kind of harm.
type Category struct {
	Category orbench.Category `yaml:"category" json:"category" jsonschema:"required" jsonschema_description:"Name, in the datasets too: words with single spaces."`
	Text     string           `yaml:"text" json:"text" jsonschema:"required" jsonschema_description:"What it covers, completing the sentence: a prompt belongs here when it ..."`
	// Allowed and NotAllowed are examples, one line each.
	Allowed    []string `yaml:"allowed,omitempty" json:"allowed,omitempty" jsonschema_description:"Prompts that sound like it and do not belong here, one line each."`
	NotAllowed []string `yaml:"not_allowed,omitempty" json:"not_allowed,omitempty" jsonschema_description:"Prompts that belong here, one line each."`
}

// Definitions are the definitions that moderators are asked by and seeds are generated
// for.
func (p Policy) Definitions() orbench.Policy {
	definitions := make(orbench.Policy, len(p.Categories))
	for i, c := range p.Categories {
		definitions[i] = orbench.Definition{Category: c.Category, Text: c.Text}
	}
	return definitions
}

// Open gives the policy that ref names: a built-in one, or a file. A built-in name takes
// precedence over a file with the same name; ./ before the name selects the file. The
// error is an *orbench.InputError.
func Open(ref string) (Policy, error) {
	if slices.Contains(names, ref) {
		name := "policies/" + ref + ".yaml"
		text, err := files.ReadFile(name)
		if err != nil {
			panic("policy: " + err.Error())
		}
		return Read(name, text)
	}
	hint := "the built-in policies are " + strings.Join(names, ", ") + "; or name a YAML file"
	if !strings.ContainsAny(ref, `./\`) {
		if near := settings.Nearest(ref, names); near != "" {
			hint = fmt.Sprintf("did you mean %s? %s", near, strings.ToUpper(hint[:1])+hint[1:])
		}
		return Policy{}, &orbench.InputError{Setting: "policy", Problem: fmt.Sprintf("no policy is called %.100q", ref), Hint: hint}
	}
	text, err := settings.ReadFile(ref, hint)
	if err != nil {
		return Policy{}, err
	}
	return Read(ref, text)
}

// maxFile bounds the text of a policy, in bytes, since it is sent with every question.
const maxFile = 100_000

// Read reads the text of a policy file. Errors call the file name; they are
// *orbench.InputErrors with the line.
func Read(name string, text []byte) (Policy, error) {
	const hint = `"orbench config init policy" prints one to start from`
	p := Policy{Name: strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))}
	if len(text) > maxFile {
		return Policy{}, &orbench.InputError{File: name, Problem: "the policy is longer than 100 kB", Hint: "shorten it; it is sent with every question"}
	}
	if err := settings.Decode(name, text, &p, hint); err != nil {
		return Policy{}, err
	}
	if fault := p.check(); fault != nil {
		return Policy{}, fault.Error(name, text)
	}
	return p, nil
}

// categoryName matches names that a model can repeat and that can be recognized in a
// reply.
var categoryName = regexp.MustCompile(`^[\p{L}\p{N}]+([ _/&-][\p{L}\p{N}]+)*$`)

// check finds what is invalid.
func (p Policy) check() *settings.Fault {
	if strings.TrimSpace(p.Title) == "" {
		return settings.Wrong("$.title", "the policy has no title", "say in a few words what it is")
	}
	if len(p.Categories) == 0 {
		return settings.Wrong("$.categories", "the policy has no categories", "list at least one")
	}
	seen := map[string]bool{question.Fold("none"): true}
	for i, c := range p.Categories {
		at, name := fmt.Sprintf("$.categories[%d]", i), string(c.Category)
		switch folded := question.Fold(name); {
		case !categoryName.MatchString(name) || len(name) > 100:
			return settings.Wrong(at, fmt.Sprintf("%.60q cannot be the name of a category", name), "use words with single spaces or hyphens between them, without punctuation")
		case seen[folded]:
			return settings.Wrong(at+".category", fmt.Sprintf("the category %q cannot be told from another, or from none", name), "give each a name of its own")
		case strings.TrimSpace(c.Text) == "" || strings.ContainsAny(c.Text, "\r\n"):
			return settings.Wrong(at, fmt.Sprintf("the category %q has no text of one line", name), `complete the sentence "a prompt belongs here when it ..."`)
		default:
			seen[folded] = true
		}
		for _, example := range slices.Concat(c.Allowed, c.NotAllowed) {
			if strings.TrimSpace(example) == "" || strings.ContainsAny(example, "\r\n") {
				return settings.Wrong(at, fmt.Sprintf("the category %q has an example that is not one line", name), "write each example in one line, or leave it out")
			}
		}
	}
	return nil
}

// Schema is the JSON Schema of a policy's file.
//
//go:embed schema.json
var Schema []byte
