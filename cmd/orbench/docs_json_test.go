package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/contrast"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/identity"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/overlap"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/paper/view"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/training"
	"github.com/orbench/orbench/internal/transfer"
	"github.com/orbench/orbench/internal/trigger"
	"github.com/orbench/orbench/policy"
)

// jsonForms is what the second half of docs/json.md lists.
var jsonForms = []struct {
	title string
	of    any
}{
	{"`eval`, `judge RUN`, `report`, and `report.json`", score.Result{}},
	{"`answers.jsonl`: an object for each prompt of each target", score.AnswerRow{}},
	{"`judge --responses`", recorded.Result{}},
	{"`eval --dry-run`: the entries of `plan`", job.Plan{}},
	{"`--dry-run`: the entries of `providers`", provider.Recipient{}},
	{"`eval --shard`", evaluate.ShardResult{}},
	{"`store export`", transfer.Counts{}},
	{"`store import` and `store merge`", transfer.Merged{}},
	{"`store check`", store.Health{}},
	{"`explain`", identity.Result{}},
	{"`batch status`", batch.Status{}},
	{"`compare`", compare.Result{}},
	{"`triggers`", trigger.Result{}},
	{"`dataset stats`", dataset.Dataset{}},
	{"`dataset stats`: the entry `stats`", dataset.Stats{}},
	{"`dataset compare`", overlap.Comparison{}},
	{"`audit`", audit.Report{}},
	{"`moderate`", moderation.Result{}},
	{"`policy show`", policy.Policy{}},
	{"`contrast`", contrast.Result{}},
	{"a benchmark's `manifest.json`", benchmark.Manifest{}},
	{"a benchmark's `lineage.jsonl`", benchmark.Record{}},
	{"`build --dry-run`: the entries of `plan`", construct.Plan{}},
	{"`export --json`, and a training set's `manifest.json`", training.Manifest{}},
	{"a training set's `origins.jsonl`", training.Origin{}},
	{"`export --check --json`", overlap.Checked{}},
	{"`paper`", paper.Study{}},
	{"`paper --check`", view.Check{}},
}

// generatedBelow parts what is written by hand in docs/json.md from what
// TestJSONReference writes.
const generatedBelow = "<!-- What follows is made from the Go types by `make docs`. -->\n"

// TestJSONReference holds the lists of docs/json.md to the types whose JSON they
// list and to their comments. ORBENCH_UPDATE=1 writes them anew.
func TestJSONReference(t *testing.T) {
	t.Parallel()
	text := readDoc(t, "docs/json.md")
	byHand, have, found := strings.Cut(text, generatedBelow)
	if !found {
		t.Fatalf("docs/json.md has no line %q", generatedBelow)
	}
	ref := jsonReference{t: t, packages: map[string]goComments{}, listed: map[reflect.Type]bool{}}
	for _, form := range jsonForms {
		fmt.Fprintf(&ref.out, "\n## %s\n", form.title)
		ref.list(reflect.TypeOf(form.of))
	}
	if want := ref.out.String(); os.Getenv("ORBENCH_UPDATE") != "" {
		if err := os.WriteFile(filepath.Join(projectRoot, "docs/json.md"), []byte(byHand+generatedBelow+want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Error("docs/json.md is not what the types and their comments say; write it anew with make docs")
	}
}

// jsonReference lists the JSON of types, each type once.
type jsonReference struct {
	t        *testing.T
	out      strings.Builder
	packages map[string]goComments
	listed   map[reflect.Type]bool
}

// goComments are the comments of a package's structs, by type and field, and the
// values of its named types of text.
type goComments struct {
	fields map[string]string
	values map[string][]string
}

// list writes the table of a struct, and those of the structs in it that are not
// listed yet.
func (r *jsonReference) list(typ reflect.Type) {
	if r.listed[typ] {
		return
	}
	r.listed[typ] = true
	fmt.Fprintf(&r.out, "\n### %s\n", typ)
	r.out.WriteString("\n| field | form | meaning |\n|---|---|---|\n")
	type row struct {
		names, form, meaning string
		in                   reflect.Type
	}
	var rows []row
	var inside []reflect.Type
	fields := jsonVisible(typ)
	for _, f := range fields {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		optional := strings.Contains(options, "omit")
		form := r.form(f.Type)
		in := typ // the struct that declares the field, which may be embedded
		for _, i := range f.Index[:len(f.Index)-1] {
			if in = in.Field(i).Type; in.Kind() == reflect.Pointer {
				in = in.Elem()
			}
		}
		meaning := r.plain(r.read(in.PkgPath()).fields[in.Name()+"."+f.Name], fields, optional)
		switch {
		case optional:
			form = "? " + form
		case f.Type.Kind() == reflect.Pointer:
			form += " or `null`"
		}
		inside = append(inside, structsIn(f.Type)...)
		name = "`" + name + "`"
		for _, verb := range []string{" is ", " are ", " has ", " counts ", " says "} {
			meaning = strings.TrimPrefix(meaning, name+verb)
		}
		// A comment is also about the fields below it that have none.
		if last := len(rows) - 1; last >= 0 && meaning == "" && rows[last].form == form && rows[last].in == in {
			rows[last].names += ", " + name
			continue
		}
		rows = append(rows, row{name, form, meaning, in})
	}
	for _, row := range rows {
		fmt.Fprintf(&r.out, "| %s | %s | %s |\n", row.names, row.form, row.meaning)
	}
	for _, typ := range inside {
		r.list(typ)
	}
}

// jsonVisible lists the fields of a struct that JSON shows, those of embedded
// structs in their place.
func jsonVisible(typ reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(typ) {
		if tag := f.Tag.Get("json"); f.IsExported() && tag != "" && tag != "-" {
			fields = append(fields, f)
		}
	}
	return fields
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// isOpaque reports whether a type writes its JSON itself.
func isOpaque(typ reflect.Type) bool {
	return typ.Implements(jsonMarshaler) || typ.Implements(textMarshaler) || reflect.PointerTo(typ).Implements(jsonMarshaler)
}

// structsIn lists the structs that a field's type is made of.
func structsIn(typ reflect.Type) []reflect.Type {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return structsIn(typ.Elem())
	case reflect.Struct:
		if !isOpaque(typ) {
			return []reflect.Type{typ}
		}
	}
	return nil
}

// form says what the JSON of a type looks like.
func (r *jsonReference) form(typ reflect.Type) string {
	if values := r.read(typ.PkgPath()).values[typ.Name()]; len(values) > 0 && typ.Kind() == reflect.String {
		return "`" + strings.Join(values, "`, `") + "`"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return r.form(typ.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true, false"
	case reflect.Float64, reflect.Float32:
		return "number"
	case reflect.Array:
		return strings.TrimSpace(fmt.Sprintf("list of %d: %s", typ.Len(), r.form(typ.Elem())))
	case reflect.Slice:
		return "list: " + r.form(typ.Elem())
	case reflect.Map:
		if key := r.form(typ.Key()); key != "text" {
			return fmt.Sprintf("object of %s: %s", key, r.form(typ.Elem()))
		}
		return "object by name: " + r.form(typ.Elem())
	case reflect.Struct:
		if isOpaque(typ) {
			return "text"
		}
		return fmt.Sprintf("[%s](#%s)", typ, anchorOf(typ.String()))
	}
	return "integer"
}

// read parses a package of the project; of others it knows nothing.
func (r *jsonReference) read(path string) goComments {
	name, own := ownName(path)
	if !own {
		return goComments{}
	}
	if c, ok := r.packages[path]; ok {
		return c
	}
	if name == "orbench" {
		name = "."
	}
	c := goComments{fields: map[string]string{}, values: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(projectRoot, name, "*.go"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					c.add(s)
				}
			}
		}
	}
	r.packages[path] = c
	return c
}

// add notes a struct's comments, or a named constant's text.
func (c goComments) add(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if of, ok := s.Type.(*ast.StructType); ok {
			for _, f := range of.Fields.List {
				for _, name := range f.Names {
					c.fields[s.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
				}
			}
		}
	case *ast.ValueSpec:
		typ, ok := s.Type.(*ast.Ident)
		if !ok {
			return
		}
		for _, v := range s.Values {
			if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text := constant.StringVal(constant.MakeFromLiteral(lit.Value, lit.Kind, 0)); text != "" && !slices.Contains(c.values[typ.Name], text) {
					c.values[typ.Name] = append(c.values[typ.Name], text)
				}
			}
		}
	}
}

var goNil = regexp.MustCompile(`\bnil\b`)

// plain is a comment in the words of JSON: fields by their names there, and null
// or absent where Go says nil.
func (r *jsonReference) plain(comment string, fields []reflect.StructField, optional bool) string {
	for _, f := range fields {
		if !strings.Contains(comment, f.Name) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		comment = regexp.MustCompile("(^|[^`\\w.])"+f.Name+"\\b").ReplaceAllString(comment, "$1`"+name+"`")
	}
	null := "`null`"
	if optional {
		null = "absent"
	}
	return strings.ReplaceAll(goNil.ReplaceAllString(comment, null), "|", `\|`)
}
