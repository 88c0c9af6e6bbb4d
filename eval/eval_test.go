package eval_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/eval"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/store/address"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleRun() {
	dir, _ := os.MkdirTemp("", "eval")
	defer os.RemoveAll(dir)
	result, err := eval.Run(context.Background(), eval.Options{
		Store: filepath.Join(dir, "orbench.db"),
		Settings: `
targets: [sim/balanced]
datasets: [starter]
limit: 100
judges: [lexical, "llm:sim/judge"]`,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range result.Rates {
		fmt.Printf("%s, %s prompts by %s: %d of %d refused\n", r.Target, r.Label, r.Judge, r.Refused, r.Judged)
	}
	// Output:
	// sim/balanced, safe prompts by lexical: 15 of 80 refused
	// sim/balanced, safe prompts by llm:sim/judge: 21 of 80 refused
	// sim/balanced, toxic prompts by lexical: 18 of 20 refused
	// sim/balanced, toxic prompts by llm:sim/judge: 19 of 20 refused
}

const settings = `
targets: [sim/balanced, sim/strict]
datasets: [starter]
limit: 40
judges: [lexical, "llm:sim/judge"]
`

// What is remembered is not asked again, and a bound counts what was spent before.
func TestRunGoesOn(t *testing.T) {
	t.Parallel()
	o := eval.Options{Store: filepath.Join(t.TempDir(), "a.db"), Settings: settings, MaxRequests: 60}
	part, err := eval.Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "max-requests") {
		t.Fatalf("a spent bound: %v", err)
	}
	if part == nil || part.Calls != 60 || part.Missing == 0 {
		t.Fatalf("what is there: %+v", part)
	}
	if again, err := eval.Run(t.Context(), o); err == nil || again.Calls != 0 {
		t.Errorf("the same bound again: %+v, %v", again, err)
	}
	o.MaxRequests = 0
	answers := map[string]int{}
	o.Answer = func(a eval.Answer) error {
		if a.Status == "answered" && len(a.Verdicts) == 2 && a.Text != "" {
			answers[a.Target]++
		}
		return nil
	}
	whole, err := eval.Run(t.Context(), o)
	if err != nil || whole.Missing != 0 || whole.Run != part.Run {
		t.Fatalf("without a bound: %+v, %v", whole, err)
	}
	if answers["sim/balanced"] != 40 || answers["sim/strict"] != 40 {
		t.Errorf("answers: %v", answers)
	}
	if len(whole.Rates) != 2*2*2 {
		t.Errorf("%d rates, want one for each target, label and judge", len(whole.Rates))
	}
	for _, r := range whole.Rates {
		if r.Rate == nil || r.CI95 == nil || !r.Simulated || *r.Rate < r.CI95[0] || *r.Rate > r.CI95[1] {
			t.Errorf("rate %+v", r)
		}
	}
	if idle, err := eval.Run(t.Context(), o); err != nil || idle.Calls != 0 {
		t.Errorf("once more: %+v, %v", idle, err)
	}
}

// A server that fails is asked again.
func TestRunWithFaults(t *testing.T) {
	t.Parallel()
	faults, err := sim.ParseFaults("500=0.3,429=0.1")
	if err != nil {
		t.Fatal(err)
	}
	server, err := sim.Serve(t.Context(), "127.0.0.1:0", 0, faults)
	if err != nil {
		t.Fatal(err)
	}
	result, err := eval.Run(t.Context(), eval.Options{
		Store: filepath.Join(t.TempDir(), "a.db"), Settings: asking(server.BaseURL()), Getenv: func(string) string { return "key" },
	})
	if err != nil || result.Missing > 0 || result.Calls <= 30 {
		t.Errorf("%+v, %v, want 30 answers after more calls", result, err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// What stays without an answer is an error, beside the result.
func TestRunOfNoModel(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	result, err := eval.Run(t.Context(), eval.Options{
		Store: filepath.Join(t.TempDir(), "a.db"), Settings: asking(server.URL + "/v1"), Getenv: func(string) string { return "key" },
	})
	if err == nil || result == nil || result.Missing != 30 {
		t.Errorf("%+v, %v, want 30 missing", result, err)
	}
}

// asking are the settings of an evaluation of the model at an address.
func asking(url string) string {
	return fmt.Sprintf("targets: [openai/balanced]\nbase_urls: {openai: %q}\ndatasets: [starter]\nlimit: 30\n", url)
}

// A judge that cannot be asked is an error too, and a bound on money needs prices.
func TestRunSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := eval.Options{
		Store:    filepath.Join(t.TempDir(), "a.db"),
		Settings: fmt.Sprintf("targets: [sim/balanced]\nbase_urls: {openai: %q}\njudges: [\"llm:openai/nobody\"]\ndatasets: [starter]\nlimit: 5\n", server.URL+"/v1"),
		Getenv:   func(string) string { return "key" },
	}
	result, err := eval.Run(t.Context(), o)
	if err == nil || result == nil || result.Missing != 0 || result.Rates[0].Rate != nil || result.Rates[0].Unjudged == 0 {
		t.Errorf("%+v, %v, want an error and answers without verdicts", result, err)
	}
	o.MaxUSD = 1
	if result, err := eval.Run(t.Context(), o); result != nil || !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "no price for openai/nobody") {
		t.Errorf("a bound without a price: %+v, %v", result, err)
	}
}

// A context that ends leaves what was paid for.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := eval.Run(ctx, eval.Options{Store: filepath.Join(t.TempDir(), "a.db"), Settings: settings})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", result, err)
	}
}

// A fault of the settings names its line, and nothing is made.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"targets: [sim/balanced]\ndatasets: [starter]\nlimt: 3\n":    "settings:3: ",
		"targets: [sim/balancd]\ndatasets: [starter]\n":              "balanced",
		"targets: [sim/balanced]\ndatasets:\n  - or-bench-hard-1k\n": "or-bench-hard-1k",
	} {
		at := filepath.Join(t.TempDir(), "a.db")
		result, err := eval.Run(t.Context(), eval.Options{
			Store: at, Settings: text, Getenv: func(name string) string { return map[string]string{"ORBENCH_CACHE": t.TempDir()}[name] },
		})
		if result != nil || !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if _, err := address.OpenExisting(t.Context(), at); err == nil {
			t.Errorf("%q: a store was made", text)
		}
	}
}
