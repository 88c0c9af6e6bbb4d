package paper

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// publicColumns are the columns of a file of models. Only model and family must be filled.
var publicColumns = []string{"model", "family", "size_b", "date", "access", "source"}

// OpenPublic reads a file of models: CSV with the columns of publicColumns, in any order. A
// fault is an *orbench.InputError with its line.
func OpenPublic(path string) ([]Public, error) {
	text, err := untrusted.ReadFile(path, 10<<20)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot be read: " + err.Error(), Hint: "name a CSV file of models", Err: err}
	}
	return readPublic(path, text)
}

// publicOfModels is what is public of Models, in their order.
func publicOfModels() []Public {
	text, err := data.ReadFile("data/public.csv")
	all, wrong := readPublic("public.csv", text)
	if err = cmp.Or(err, wrong); err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	return all
}

func readPublic(name string, text []byte) ([]Public, error) {
	wrong := func(line int, problem, hint string) error {
		return &orbench.InputError{File: name, Line: line, Problem: problem, Hint: hint}
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, wrong(1, "is no CSV file with a header and models", "its columns are "+strings.Join(publicColumns, ", "))
	}
	cell := func(row []string, column string) string {
		if i := slices.Index(rows[0], column); i >= 0 {
			return strings.TrimSpace(row[i])
		}
		return ""
	}
	var all []Public
	for i, row := range rows[1:] {
		p := Public{Model: cell(row, "model"), Family: cell(row, "family"), Access: cell(row, "access"), Source: cell(row, "source")}
		line := i + 2
		if p.Model == "" || p.Family == "" {
			return nil, wrong(line, "a model without a name or a family", "fill the columns model and family")
		}
		if p.Access != "" && p.Access != "maker" && p.Access != "host" {
			return nil, wrong(line, untrusted.Quote(p.Access)+" is no access", "write maker or host, or leave it empty")
		}
		if size := cell(row, "size_b"); size != "" {
			if p.Billions, err = strconv.ParseFloat(size, 64); err != nil || !(p.Billions >= 0 && p.Billions < 1e6) {
				return nil, wrong(line, untrusted.Quote(size)+" is no number of parameters", "write it in billions, or leave it empty")
			}
		}
		if date := cell(row, "date"); date != "" {
			if p.Date, err = time.Parse(time.DateOnly, date); err != nil {
				return nil, wrong(line, untrusted.Quote(date)+" is no day", "write it like 2024-04-18, or leave it empty")
			}
		}
		all = append(all, p)
	}
	return all, nil
}
