package command_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/orbench/orbench/internal/cli/command"
)

func TestLog(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "sk-secret-0123456789\n", "HF_TOKEN": "hf_abcdefghijklmnop"}
	s := command.NewSecrets(func(name string) string { return env[name] })
	var b bytes.Buffer
	if _, err := io.WriteString(s.Log(&b), "Unsolicited \"Bearer sk-secret-0123456789\"\n hf_abcdefghijklmnop \x1b[2J\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "orbench: Unsolicited \"Bearer [key]\" [key] [2J\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
