package index

import "testing"

// Hold does something while the file is being written to.
func (x *Index) Hold(t *testing.T, do func()) bool {
	t.Helper()
	tx, err := x.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	do()
	return true
}

// Path is that of the file.
func (x *Index) Path() string { return x.path }
