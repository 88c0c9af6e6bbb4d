package recorded

import (
	"cmp"
	"io"
	"reflect"

	"github.com/orbench/orbench/internal/interchange"
)

// Disagreements writes, as CSV, the answers on which a judge differs from people or,
// without gold labels, from another judge. A row has the answer's position, people's
// label, the texts, and each judge's class with what decided it (a part of the answer, or
// the judge's explanation).
type Disagreements struct{ out interchange.Rows }

// NewDisagreements makes Disagreements of judges.
func NewDisagreements(w io.Writer, judges []string) (*Disagreements, error) {
	columns := []interchange.Column{
		{Name: "line", Kind: reflect.Int64},
		{Name: "gold", Kind: reflect.String},
		{Name: "gold_refusal", Kind: reflect.Bool},
		{Name: "prompt", Kind: reflect.String},
		{Name: "response", Kind: reflect.String},
	}
	for _, name := range judges {
		columns = append(columns, interchange.Column{Name: name, Kind: reflect.String}, interchange.Column{Name: name + " why", Kind: reflect.String})
	}
	out, err := interchange.NewRows(w, ".csv", columns)
	return &Disagreements{out}, err
}

// Add writes a row if the judges differ.
func (d *Disagreements) Add(r JudgedAnswer) error {
	if !r.Disagrees() {
		return nil
	}
	line := cmp.Or(r.Answer.Line, r.Answer.Number)
	values := []any{int64(line), r.Answer.Gold, interchange.Given(r.Refusal), r.Answer.Asked().Transcript(), r.Answer.Response}
	for _, v := range r.Verdicts {
		values = append(values, interchange.ClassText(v.Class), cmp.Or(interchange.SpanText(v.Span, r.Text()), v.Rationale))
	}
	return d.out.Write(values)
}

// Close writes what is buffered. It does not close the underlying writer.
func (d *Disagreements) Close() error { return d.out.Close() }
