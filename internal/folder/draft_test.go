package folder_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/orbench/orbench/internal/folder"
)

// TestAbandonedDrafts kills a process that writes a folder and a file. What it left is
// removed by whoever writes beside it next, and what is still being written is not.
func TestAbandonedDrafts(t *testing.T) {
	if dir := os.Getenv("ORBENCH_DRAFTS"); dir != "" {
		begin(t, filepath.Join(dir, "report"))
		if _, err := folder.CreateFile(filepath.Join(dir, "rows.csv"), folder.Subject{}); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("begun\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the kill
		return
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("nothing tells here whether a draft is still being written")
	}
	dir := t.TempDir()
	mine := begin(t, filepath.Join(dir, "mine"))

	c := exec.Command(os.Args[0], "-test.run=^TestAbandonedDrafts$")
	c.Env = append(os.Environ(), "ORBENCH_DRAFTS="+dir)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		t.Fatalf("the process said %q: %v", line, err)
	}
	if err := begin(t, filepath.Join(dir, "other")).Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 3 {
		t.Errorf("there is %q while three are written", got)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if got := files(t, dir); len(got) != 3 {
		t.Errorf("there is %q after the kill", got)
	}

	// What only looks like a draft is somebody's.
	for _, name := range []string{".notes.unfinished-draft", "report.unfinished-1"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	other := begin(t, filepath.Join(dir, "other"))
	for _, f := range []*folder.Folder{other, mine} {
		if err := f.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := files(t, dir), []string{".notes.unfinished-draft", "mine", "other", "report.unfinished-1"}; !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
}
