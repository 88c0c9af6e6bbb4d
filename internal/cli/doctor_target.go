package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// What doctor asks a target: a question that no model declines, with room for an answer.
const (
	trialPrompt   = "What is the capital of France? Answer in one sentence."
	trialTokens   = 1000
	trialPatience = 2 * time.Minute
)

// tryTarget makes one call to a target, and says what came of it: how long it took, who
// answered, whether the answer is empty, cut or withheld, whether the model thinks, and what a
// run over the built-in prompts would cost at this length.
func tryTarget(env *command.Env, ctx context.Context, calls command.Calls, target string) error {
	clients, err := env.Clients(calls, []string{strings.SplitN(target, "/", 2)[0]}, nil)
	if err != nil {
		return err
	}
	ref, err1 := clients.Model(target, "")
	prices, err2 := calls.Prices(nil)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	request := model.Request{
		Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model,
		Messages: []orbench.Message{{Role: orbench.User, Content: trialPrompt}},
		Params:   model.Params{Temperature: new(0.0), MaxTokens: trialTokens},
	}
	ctx, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	began := time.Now()
	response, err := clients.Client(ref.Provider, ref.Endpoint).Model.Ask(ctx, request)
	took := time.Since(began)
	if err != nil {
		return fmt.Errorf("%s gave no answer (after %s): %w", target, took.Round(time.Millisecond), err)
	}
	response = reply.Reading{}.Answer(response)
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	say := func(what, format string, of ...any) {
		fmt.Fprintf(t, "%s\t%s\n", what, untrusted.Terminal(fmt.Sprintf(format, of...)))
	}
	say("asked", "%s: %q", target, trialPrompt)
	say("answered", "in %s", took.Round(time.Millisecond))
	say("model", "%s", trialModel(ref.Model, response.Model))
	say("answer", "%s", trialAnswer(response))
	if response.Thinking != "" {
		say("thinking", "%s characters; they count as output tokens and are not judged", table.Count(len(response.Thinking)))
	}
	say("tokens", "%s in, %s out", table.Count(response.Usage.Input), table.Count(response.Usage.Output))
	if p, ok := prices.Price(ref.Provider, ref.Model); ok {
		usd := p.Cost(response.Usage)
		say("cost", "%s; a thousand prompts with answers as long, %s", table.Money(usd), table.Money(1000*usd))
	} else {
		say("cost", "unknown: no price is known for %s; give one with --set providers=FILE", target)
	}
	return t.Flush()
}

// trialModel says who answered. A version of the model, such as one with a date, and the end
// of a path are the same model.
func trialModel(asked, answered string) string {
	switch {
	case answered == "":
		return "the server does not say which model answered"
	case strings.Contains(answered, asked) || strings.HasSuffix(asked, answered):
		return fmt.Sprintf("answered as %q", answered)
	}
	return fmt.Sprintf("! answered as %q, but %q was asked", answered, asked)
}

// trialAnswer says what the answer is, and what to do where it is none.
func trialAnswer(r model.Response) string {
	switch text := strings.Join(strings.Fields(r.Text), " "); {
	case r.Finish == model.Blocked:
		return "! withheld by the provider"
	case text == "" && r.Thinking != "":
		return "! thinking and no answer: raise the token limit, or turn thinking off"
	case text == "":
		return "! empty: check the chat template, the stop tokens and the reasoning parser of the server"
	case r.Read != nil && r.Read.Missing != "":
		return fmt.Sprintf("! no answer (%s): %q", r.Read.Missing, untrusted.Shorten(text, 60))
	case r.Finish == model.Length:
		return fmt.Sprintf("! cut by the token limit of %d: %q", trialTokens, untrusted.Shorten(text, 60))
	default:
		return fmt.Sprintf("%q", untrusted.Shorten(text, 60))
	}
}
