package parquetfile

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// What is written through the interface is, byte by byte, what the library's generic writer
// makes of the same rows, lists, absent values and several batches included.
func TestWrite(t *testing.T) {
	t.Parallel()
	type message struct {
		Role string `parquet:"role"`
		Text string `parquet:"text"`
	}
	type turn struct {
		Messages []message `parquet:"messages,list"`
		N        int       `parquet:"n"`
		Safe     bool      `parquet:"safe"`
		Score    *float64  `parquet:"score,optional"`
	}
	for _, n := range []int{0, 1, batch, 3*batch + 1} {
		rows := make([]turn, n)
		for i := range rows {
			rows[i].N, rows[i].Safe = i, i%3 == 0
			for k := range i % 4 {
				rows[i].Messages = append(rows[i].Messages, message{"user", fmt.Sprint("text ", i*k)})
			}
			if i%5 == 0 {
				score := float64(i) / 7
				rows[i].Score = &score
			}
		}
		var got, want bytes.Buffer
		if err := Write(&got, rows); err != nil {
			t.Fatal(err)
		}
		out := parquet.NewGenericWriter[turn](&want, parquet.Compression(&parquet.Zstd))
		if _, err := out.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d rows: %d bytes differ from %d of the library's", n, got.Len(), want.Len())
		}
	}
}
