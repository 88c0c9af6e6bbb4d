package dataset

import "github.com/orbench/orbench/internal/rows"

// rows is the chooser for a file of rows.
func (choose chooser) rows() rows.Chooser {
	return func(file string, have []string, conversations bool) (rows.Layout, error) {
		l, err := choose(file, have, conversations)
		read := rows.Layout{Prompt: l.prompt, Stray: l.stray}
		for _, f := range l.fields {
			read.Fields = append(read.Fields, rows.Field{Name: f.name, Scalar: f.scalar, Required: f.required, Lenient: f.lenient})
		}
		return read, err
	}
}
