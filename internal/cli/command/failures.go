package command

import (
	"net/http"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// What is said of failures at most: so many reasons, each in so many columns.
const (
	mostReasons = 3
	reasonWide  = 60
	// gaveUpWide is for why a model was given up, in its provider's words.
	gaveUpWide = 220
)

// sayFailures says why calls failed: how many for each reason, with what helps. The command
// that goes on is said where it can. told is what was said of models that were given up.
func (e *Env) sayFailures(r Running, s fill.Stats, told string) {
	several := slices.ContainsFunc(s.Reasons, func(o fill.Reason) bool { return o.Of != s.Reasons[0].Of })
	for _, reason := range s.Reasons[:min(mostReasons, len(s.Reasons))] {
		text := untrusted.Excerpt(reason.Text, reasonWide)
		if strings.Contains(told, "gave up "+reason.Of.String()) {
			text, _, _ = strings.Cut(text, ": ")
		}
		if several {
			text = reason.Of.String() + ": " + text
		}
		if help := e.help(r, reason); help != "" {
			text = strings.TrimSuffix(text, ".") + "; " + help
		}
		e.Infof("%d failed: %s", reason.Calls, text)
	}
	if s.Failed == 0 {
		e.Infof("once that is mended, the same command goes on from here:\n  %s", e.CommandLine(r.Words...))
		return
	}
	failed := table.Counted(s.Failed, "call", "calls") + " failed"
	if more := len(s.Reasons) - mostReasons; more > 0 {
		failed += ", for " + table.Counted(more, "more reason", "more reasons") + " too"
	}
	if len(s.Reasons) > 0 && !slices.ContainsFunc(s.Reasons, func(o fill.Reason) bool { return !o.Lasting() }) {
		if len(s.Reasons) > 1 {
			e.Infof("%s", failed)
		}
		return
	}
	again := failed + "; the same command tries again"
	if s.Found() > 0 || len(r.Words) > 0 {
		again += ":\n  " + e.CommandLine(r.Words...)
	}
	e.Infof("%s", again)
}

// help says what to do about a reason, empty where nothing is known.
func (e *Env) help(r Running, reason fill.Reason) string {
	server := r.Clients.Client(reason.Of.Provider, reason.Of.Endpoint).Recipient
	text := strings.ToLower(reason.Text)
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case reason.Unreachable && says("proxy"):
		return "correct HTTPS_PROXY and HTTP_PROXY, or unset them"
	case reason.Unreachable:
		return "is the server running at " + server.Address + "?"
	case fill.WebPage(text):
		return "it is a web page: correct --base-url"
	case reason.Unread:
		return "correct --base-url, or name a provider whose API the server speaks"
	case (reason.Kind == model.Invalid || reason.Status == http.StatusForbidden) && reply.OfPolicy(text):
		return "if this stands for a block, say so: --set 'blocks=[\"its text*\"]'; if not, look at the key and the request"
	case reason.Kind == model.Denied && server.KeyEnv != "":
		return "put a key that may ask this model into " + server.KeyEnv
	case reason.Kind == model.Quota && says("of a day", "per day", "per-day", "daily", "tpd", "rpd", "perday", "comes back in", "month", "retry in", "again in"):
		return "the allowance is used up: go on with the same command when it is back, or raise it at the provider"
	case reason.Kind == model.Quota:
		return "the account needs credit"
	case reason.Kind == model.NotFound:
		return "check the name of the model and --base-url, which mostly ends in /v1"
	case reason.Kind == model.Timeout:
		return "raise --set timeout=, or lower --concurrency"
	case reason.Kind == model.RateLimited:
		return "ask less with --set rpm= or --concurrency"
	case says(fill.Hangup):
		return "look at the server's log"
	case reason.Kind != model.Invalid:
		return ""
	case says("context length", "context size", "context window", "context_length", "too long"):
		return "lower " + experiment.FlagOf("max-tokens") + ", or serve a longer context"
	case !slices.ContainsFunc(r.Job.Models, func(m job.Asked) bool { return m.Ref == reason.Of && m.Role == job.Target }):
		return ""
	case says("temperature"):
		return experiment.FlagOf("temperature") + " default leaves it to the provider"
	case says("max_tokens", "max_completion_tokens", "maxoutputtokens"):
		return experiment.FlagOf("max-tokens") + " 0 leaves it to the provider"
	case says("seed"):
		return "leave out the seed of the target"
	}
	return ""
}
