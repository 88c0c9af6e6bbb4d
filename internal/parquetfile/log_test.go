package parquetfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/rows"
)

func TestMain(m *testing.M) {
	rows.Parquet = parquetfile.Open
	os.Exit(m.Run())
}

// exchanges reads a log.
func exchanges(path string) (all []rows.Exchange, err error) {
	l, err := rows.OpenLog(path, nil, rows.ExchangeColumns{})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	for r, err := range l.Records {
		if err != nil {
			return nil, err
		}
		e, err := r.Exchange()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// TestLogParquet reads the plain and the nested columns of a Parquet file.
func TestLogParquet(t *testing.T) {
	t.Parallel()
	type message struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content"`
	}
	type plain struct {
		UserID   int64  `parquet:"user_id"`
		Flagged  bool   `parquet:"flagged"`
		Messages string `parquet:"messages"`
		Response string `parquet:"response"`
	}
	type nested struct {
		User struct {
			ID string `parquet:"id"`
		} `parquet:"user"`
		Messages []message `parquet:"messages,list"`
		Response string    `parquet:"response"`
	}
	dir := t.TempDir()
	one, two := filepath.Join(dir, "plain.parquet"), filepath.Join(dir, "nested")
	if err := parquet.WriteFile(one, []plain{{7, true, `[{"role":"user","content":"Hi?"}]`, "No."}}); err != nil {
		t.Fatal(err)
	}
	in := nested{Messages: []message{{"user", "Hi?"}}, Response: "No."}
	in.User.ID = "7"
	if err := parquet.WriteFile(two, []nested{in}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{one, two} {
		all, err := exchanges(path)
		if err != nil || len(all) != 1 || all[0].Prompt != "Hi?" || all[0].Reply != "No." || all[0].User != "7" {
			t.Errorf("%s: %+v, %v", filepath.Base(path), all, err)
		}
		if err == nil && path == one && all[0].Before != "true" {
			t.Errorf("%+v", all[0])
		}
	}
}
