package parquetfile

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

// nestedColumns reads the columns of a Parquet file that are in others, such as doc.prompt
// and messages[-1].content. It reads whole rows, as if they were JSON.
type nestedColumns struct {
	file   string
	opened *boundedFile
	// first is the first row; it is read once.
	first *rows.Object
}

// at reports whether the first row has a value at a path. It is nil for a file whose columns
// are all plain.
func (n *nestedColumns) at() func(path string) bool {
	if !slices.ContainsFunc(n.opened.Root().Columns(), func(c *parquet.Column) bool { return !plainColumn(c) }) {
		return nil
	}
	return func(path string) bool {
		if n.first == nil {
			o, err := n.reader()()
			if err != nil {
				// Whoever reads the rows meets it again.
				o = rows.Object{}
			}
			n.first = &o
		}
		_, there := n.first.Value(path)
		return there
	}
}

func plainColumn(c *parquet.Column) bool { return c.Leaf() && !c.Repeated() }

// needed reports whether a layout has a column that is in another, or a list of messages.
func (n *nestedColumns) needed(columns rows.Layout) bool {
	at := n.at()
	return at != nil && slices.ContainsFunc(append([]rows.Field{{Name: columns.Prompt}}, columns.Fields...), func(f rows.Field) bool {
		c := n.opened.Root().Column(f.Name)
		return f.Name != "" && (c == nil || f.Name == rows.MessagesColumn && !plainColumn(c)) && at(f.Name)
	})
}

// reader returns a function that returns the rows as objects, one by one, then io.EOF.
func (n *nestedColumns) reader() func() (rows.Object, error) {
	p := &reader{file: n.file, opened: n.opened, groups: n.opened.RowGroups()}
	return func() (_ rows.Object, err error) {
		defer damaged(n.file, &err)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		r, err := p.nextWhole()
		if errors.Is(err, io.EOF) || errors.Is(err, orbench.ErrInput) {
			return rows.Object{}, err
		}
		var b []byte
		if err == nil {
			b, err = json.Marshal(r.Fields)
		}
		if err != nil {
			return rows.Object{}, notParquet(n.file, err)
		}
		return rows.ParseObject(n.file, rows.Row{Number: r.Number}, b, "fetch or export it again", false)
	}
}

// jsonOf gives a value of Parquet in the form of JSON: bytes are texts, and numbers that
// JSON lacks are null.
func jsonOf(value any) any {
	switch v := value.(type) {
	case []byte:
		return string(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case float32:
		return jsonOf(float64(v))
	case []any:
		for i := range v {
			v[i] = jsonOf(v[i])
		}
	case map[string]any:
		// A list is written as an object with a list of objects in it.
		for _, inner := range []string{"list", "bag", "array"} {
			list, ok := v[inner].([]any)
			if !ok || len(v) > 1 {
				continue
			}
			for i, item := range list {
				if one, ok := item.(map[string]any); ok && len(one) == 1 {
					for _, element := range one {
						list[i] = element
					}
				}
			}
			return jsonOf(list)
		}
		for name, inner := range v {
			v[name] = jsonOf(inner)
		}
	}
	return value
}
