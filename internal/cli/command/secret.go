package command

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Secrets are the keys that a command may come to know: those of the environment, and
// of the servers that it asks. It is safe for concurrent use, and nil holds none.
type Secrets struct {
	mu   sync.Mutex
	keys []string
	// clean is made of keys, nil until it is needed.
	clean *model.Secrets
}

// hubTokens are the variables with the user's token for the Hugging Face hub.
var hubTokens = []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}

// HubToken is the user's own token for the Hugging Face hub, found as the hub's
// programs find it: https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
func (e *Env) HubToken() string {
	for _, name := range hubTokens {
		if token := e.Getenv(name); token != "" {
			return token
		}
	}
	if e.Getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN") != "" {
		return ""
	}
	file := e.Getenv("HF_TOKEN_PATH")
	if home := e.Getenv("HF_HOME"); file == "" && home != "" {
		file = filepath.Join(home, "token")
	}
	if file == "" {
		cache, home := e.Getenv("XDG_CACHE_HOME"), cmp.Or(e.Getenv("HOME"), e.Getenv("USERPROFILE"))
		switch {
		case cache == "" && home == "":
			return ""
		case cache == "":
			cache = filepath.Join(home, ".cache")
		}
		file = filepath.Join(cache, "huggingface", "token")
	}
	// Without a file there is no token, and public datasets need none.
	token, _ := os.ReadFile(file)
	return strings.TrimSpace(string(token))
}

// NewSecrets holds the keys of the built-in providers and of the hub.
func NewSecrets(getenv func(string) string) *Secrets {
	s := new(Secrets)
	names := slices.Clone(hubTokens)
	for _, p := range provider.Default() {
		names = append(names, p.KeyEnv...)
	}
	for _, name := range names {
		s.add(getenv(name))
	}
	return s
}

// add holds one more, unless it is empty.
func (s *Secrets) add(key string) {
	if key = strings.TrimSpace(key); s == nil || key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
		s.clean = nil
	}
}

// Clean is a text without the secrets, and without the passwords of addresses.
func (s *Secrets) Clean(text string) string {
	text = untrusted.Addresses(text)
	if s == nil {
		return text
	}
	s.mu.Lock()
	if s.clean == nil {
		s.clean = new(model.NewSecrets(s.keys...))
	}
	clean := s.clean
	s.mu.Unlock()
	return clean.Clean(text)
}

// all lists them.
func (s *Secrets) all() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// Log is a writer for Go's own packages, which log what servers send that nobody asked
// for: it says each message as one line, without the secrets, and leaves out what comes
// after the first few.
func (s *Secrets) Log(say func(line string)) io.Writer { return &logWriter{secrets: s, say: say} }

// mostLogged is how many messages are shown: a server may send one with each answer.
const mostLogged = 5

type logWriter struct {
	secrets *Secrets
	say     func(string)
	written atomic.Int64
}

func (l *logWriter) Write(p []byte) (int, error) {
	line := model.Clip(string(p), l.secrets.all()...)
	switch n := l.written.Add(1); {
	case n > mostLogged:
		return len(p), nil
	case n == mostLogged:
		line += "; more of this is not shown"
	}
	l.say(line)
	return len(p), nil
}
