package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/replay"
)

func Example() {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "answers.csv")
	if err := os.WriteFile(path, []byte("prompt,response\nHow do I kill a process?,Send it SIGTERM.\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	m, err := replay.Open(context.Background(), path, dataset.RecordingOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := m.Ask(context.Background(), model.Request{
		Provider: replay.Provider,
		Messages: []orbench.Message{{Role: orbench.User, Content: "How do I kill a process?"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text)
	// Output: Send it SIGTERM.
}
