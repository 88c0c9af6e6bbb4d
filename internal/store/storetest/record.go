package storetest

import (
	"fmt"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Record makes a record whose request and response carry n.
func Record(n int) store.Record {
	r := model.Request{
		Provider: "test", Model: "m",
		Messages: []orbench.Message{{Role: orbench.User, Content: fmt.Sprintf("prompt %d", n)}},
	}
	canonical := r.Canonical()
	return store.Record{
		Hash: model.HashCanonical(canonical), Request: canonical,
		Response: model.Response{
			Text: fmt.Sprintf("answer %d: \x00 \U0001F642 </script>", n), Finish: model.Stop, ID: fmt.Sprint(n),
			Usage: model.Usage{Input: n, Output: 2}, Latency: time.Millisecond,
			Made: time.Date(2026, time.March, 4, 5, 6, 7, 8_000_000, time.UTC),
		},
	}
}
