package command_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/cli/command"
)

func TestLog(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "sk-secret-0123456789\n", "HF_TOKEN": "hf_abcdefghijklmnop"}
	s := command.NewSecrets(func(name string) string { return env[name] })
	var b bytes.Buffer
	log := s.Log(func(line string) { b.WriteString("orbench: " + line + "\n") })
	if _, err := io.WriteString(log, "Unsolicited \"Bearer sk-secret-0123456789\"\n hf_abcdefghijklmnop \x1b[2J\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "orbench: Unsolicited \"Bearer [key]\" [key] [2J\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 10 {
		fmt.Fprintln(log, "again")
	}
	if got := b.String(); strings.Count(got, "\n") != 5 || !strings.HasSuffix(got, "orbench: again; more of this is not shown\n") {
		t.Errorf("%q", got)
	}
}
