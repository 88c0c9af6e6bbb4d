package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestLogger has what is logged in lines that are JSON, or text, without secrets.
func TestLogger(t *testing.T) {
	t.Parallel()
	const key = "sk-hidden-0123456789abcdef"
	for _, format := range logFormats {
		var b bytes.Buffer
		e := &Env{Stderr: &b, Secrets: NewSecrets(func(name string) string { return map[string]string{"OPENAI_API_KEY": key}[name] })}
		e.LogFormat(format)
		log := e.Logger(slog.LevelWarn)
		log.Info("not told")
		log.Warn("two\nlines with "+key, "n", 7, "error", errors.New("at postgres://ana:hidden-word-9@db/x: "+key), "group", slog.GroupValue(slog.String("inner", key)), "any", []string{key})
		e.Infof("said %d", 1)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 2 || strings.Contains(b.String(), "hidden") || strings.Count(b.String(), "[key]") != 4 {
			t.Errorf("%s: %s", format, b.String())
		}
		if format != "json" {
			continue
		}
		for i, line := range lines {
			var said struct {
				Time, Level, Msg, Error string
				N                       int
			}
			if err := json.Unmarshal([]byte(line), &said); err != nil || said.Time == "" || said.Level != []string{"WARN", "INFO"}[i] || said.N != []int{7, 0}[i] {
				t.Errorf("%s: %v, %+v", line, err, said)
			}
		}
	}
}
