package main

import (
	"encoding"
	"encoding/json"
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

	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/logs"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/training"
)

// jsonForms is what docs/schemas describes.
var jsonForms = []struct {
	// file is the name of the schema in docs/schemas, and title says what prints it.
	file, title string
	of          any
}{
	{"result", "`eval`, `judge`, `report`, and `report.json`", report.Published{}},
	{"answer", "`answers.jsonl`: an object for each prompt of each target", score.AnswerRow{}},
	{"line", "`judge --responses -`: a line to judge", interchange.Line{}},
	{"judgment", "`judge --responses -`: the answer to a line", interchange.Judgment{}},
	{"log", "`logs`", logs.Result{}},
	{"log-wrong", "`logs report`", logs.Wrong{}},
	{"plan", "`eval --dry-run`: the entries of `plan`", job.Plan{}},
	{"provider", "`--dry-run`: the entries of `providers`", provider.Recipient{}},
	{"shard", "`eval --set shard=2/4`", evaluate.ShardResult{}},
	{"export-counts", "`store export`", kinds.Counts{}},
	{"merged", "`store import` and `store merge`", kinds.Merged{}},
	{"forgotten", "`store forget`", kinds.Forget{}},
	{"store-health", "`store check`", store.Health{}},
	{"batch-status", "`batch status`", batch.Status{}},
	{"comparison", "`compare`", compare.Result{}},
	{"dataset", "`dataset stats`", dataset.Dataset{}},
	{"dataset-stats", "`dataset stats`: the entry `stats`", dataset.Stats{}},
	{"audit", "`report` of a build: the entry `audit`", audit.Report{}},
	{"moderation", "`moderate`", moderation.Result{}},
	{"policy", "`policy show`", policy.Policy{}},
	{"benchmark-manifest", "a benchmark's `manifest.json`", benchmark.Manifest{}},
	{"benchmark-lineage", "a benchmark's `lineage.jsonl`", benchmark.Record{}},
	{"build-plan", "`build --dry-run`: the entries of `plan`", construct.Plan{}},
	{"training-manifest", "`export --json`, and a training set's `manifest.json`", training.Manifest{}},
	{"training-origin", "a training set's `origins.jsonl`", training.Origin{}},
	{"training-check", "`export --check --json` and `dataset compare`", training.Checked{}},
	{"paper", "`report --paper`", paper.Study{}},
	{"over-time", "`report --over-time`", compare.OverTime{}},
	{"findings", "`report --findings`", paper.Findings{}},
}

// generatedBelow parts what is written by hand on a page from what a test writes.
const generatedBelow = "<!-- What follows is made by `make docs`. -->\n"

// checkGenerated holds the end of a page to what it must be. ORBENCH_UPDATE=1 writes it anew.
func checkGenerated(t *testing.T, page, want string) {
	t.Helper()
	byHand, have, found := strings.Cut(readDoc(t, page), generatedBelow)
	switch {
	case !found:
		t.Fatalf("%s has no line %q", page, generatedBelow)
	case os.Getenv("ORBENCH_UPDATE") != "":
		if err := os.WriteFile(filepath.Join(projectRoot, page), []byte(byHand+generatedBelow+want), 0o666); err != nil {
			t.Fatal(err)
		}
	case have != want:
		t.Errorf("%s is not as it is made; write it anew with make docs", page)
	}
}

// TestSchemas holds docs/schemas to the types whose JSON they describe and to their comments.
// ORBENCH_UPDATE=1 writes them anew.
func TestSchemas(t *testing.T) {
	t.Parallel()
	ref := newJSONReference(t)
	for _, form := range jsonForms {
		ref.keepSchema(form.file, strings.ReplaceAll(form.title, "`", ""), form.of)
	}
	if all, err := filepath.Glob(filepath.Join(projectRoot, "docs/schemas/*")); err != nil || len(all) != len(jsonForms) {
		t.Errorf("docs/schemas has %d files for %d outputs (%v)", len(all), len(jsonForms), err)
	}
}

// jsonReference describes the JSON of types.
type jsonReference struct {
	t        *testing.T
	packages map[string]goComments
}

// goComments are the comments of a package's structs, by type and field, and the
// values of its named types of text.
type goComments struct {
	fields map[string]string
	values map[string][]string
}

// benchmarkSettings are the parts of a benchmark's configuration.
var benchmarkSettings = []reflect.Type{
	reflect.TypeFor[benchmark.BuildConfig](), reflect.TypeFor[benchmark.Category](), reflect.TypeFor[benchmark.Seeds](),
	reflect.TypeFor[benchmark.Rewrites](), reflect.TypeFor[benchmark.Moderation](), reflect.TypeFor[benchmark.Hard](),
}

// jsonField is a field of a struct as JSON has it.
type jsonField struct {
	reflect.StructField
	name, meaning string
	// nullable is true of one that may be null: a pointer, or a list of a benchmark's
	// configuration, which stands in its manifest as it was read.
	nullable bool
	// optional is true of one that may be absent, in is the struct that declares it, and
	// embedded is true where that is embedded by a pointer.
	optional, embedded bool
	in                 reflect.Type
}

// fields lists the fields of a struct that JSON shows.
func (r *jsonReference) fields(typ reflect.Type) (all []jsonField) {
	visible := jsonVisible(typ)
	for _, f := range visible {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := jsonField{StructField: f, name: name, optional: strings.Contains(options, "omit"), in: typ}
		for _, i := range f.Index[:len(f.Index)-1] {
			if field.in = field.in.Field(i).Type; field.in.Kind() == reflect.Pointer {
				field.in, field.embedded = field.in.Elem(), true
			}
		}
		field.nullable = !field.optional && (f.Type.Kind() == reflect.Pointer ||
			f.Type.Kind() == reflect.Slice && slices.Contains(benchmarkSettings, field.in))
		field.meaning = r.plain(r.read(field.in.PkgPath()).fields[field.in.Name()+"."+f.Name], visible, field.optional)
		all = append(all, field)
	}
	return all
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
	return goNil.ReplaceAllString(comment, null)
}
