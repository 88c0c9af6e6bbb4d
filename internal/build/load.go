package build

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/invopop/jsonschema"

	"github.com/orbench/orbench"
)

// Template is a commented build.yaml that builds a small benchmark with
// simulated models; its comments name what the paper used.
//
//go:embed build.yaml
var Template string

// Load reads a configuration. What the file leaves out is as in Default. A fault
// is an *orbench.InputError with its line.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, &orbench.InputError{
			File: path, Problem: "cannot be read: " + errors.Unwrap(err).Error(),
			Hint: `write one with "orbench config init"`, Err: err,
		}
	}
	return Parse(path, text)
}

// Parse reads the text of a configuration; name stands for it in errors.
func Parse(name string, text []byte) (Config, error) {
	c := Default()
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return Config{}, yamlError(name, err)
	}
	c.complete()
	if f := c.check(); f != nil {
		return Config{}, &orbench.InputError{File: name, Line: lineOf(text, f.path), Problem: f.problem, Hint: f.hint}
	}
	return c, nil
}

// yamlError turns an error of the YAML reader into one line with its place.
func yamlError(name string, err error) error {
	e := &orbench.InputError{
		File: name, Problem: err.Error(),
		Hint: `"orbench config init" prints a file with every setting`, Err: err,
	}
	var placed yaml.Error
	if errors.As(err, &placed) {
		e.Problem = placed.GetMessage()
		if t := placed.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	e.Problem = strings.Join(strings.Fields(e.Problem), " ")
	return e
}

// lineOf finds the line of the setting at a path, or of the nearest setting
// around it that the file has; 0 where it has none.
func lineOf(text []byte, path string) int {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return 0
	}
	for ; path != "$"; path = path[:max(strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['))] {
		at, err := yaml.PathString(path)
		if err != nil {
			return 0
		}
		node, err := at.FilterFile(file)
		if err == nil && node != nil {
			return firstLine(node)
		}
	}
	return 0
}

// firstLine is the line on which a node begins. That of a mapping or a list is
// its first key's or item's: the node's own token is the colon or the hyphen.
func firstLine(n ast.Node) int {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return firstLine(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return firstLine(n.Key)
	}
	return n.GetToken().Position.Line
}

// Schema is the JSON Schema of build.yaml, for editors that check as one types.
func Schema() []byte {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, RequiredFromJSONSchemaTags: true}
	s := r.Reflect(&Config{})
	s.Title = "build.yaml of orbench"
	s.Required = []string{"name", "seeds", "moderation"}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("build: the schema of a type is not JSON: " + err.Error())
	}
	return append(text, '\n')
}
