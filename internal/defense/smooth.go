package defense

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// smoothing is SmoothLLM (algorithm 1 of arXiv 2310.03684). The target answers
// differently perturbed copies of the prompt. The answers vote on whether to answer, and
// one answer of the winning side is shown.
type smoothing struct {
	name string
	kind perturbation
	// copies is N and percent is q.
	copies, percent int
}

// answer gives the answer to show. The choice depends on the prompt.
func (s *smoothing) answer(d *Defense, t Target, p orbench.Prompt, look model.Lookup) (model.Response, Finding, []model.Request) {
	responses := make([]model.Response, s.copies)
	copies := make([]orbench.Prompt, s.copies)
	var missing []model.Request
	for i := range s.copies {
		copies[i] = p
		copies[i].Messages = s.perturbed(p, t.Sample, i)
		// The copy's number is its sample, so two copies that came out alike are still
		// asked separately.
		request := d.request(t, copies[i].Messages, t.Sample*s.copies+i)
		var ok bool
		if responses[i], ok = look(request); !ok {
			missing = append(missing, request)
		}
	}
	if len(missing) > 0 {
		return model.Response{}, Finding{}, missing
	}
	var refused, answered []int
	for i, r := range responses {
		v, _ := judge.Lexical.Verdict(judge.Case{Prompt: copies[i], Response: read(r)}, look)
		switch {
		case v.Class == orbench.Unjudged, r.ByOther(t.Ref):
			// It casts no vote.
		case v.Class.Refused():
			refused = append(refused, i)
		default:
			answered = append(answered, i)
		}
	}
	// As published, answers must be more than half; a tie declines.
	winners := refused
	if len(answered) > len(refused) {
		winners = answered
	}
	finding := Finding{
		Step: s.name, Decision: Voted,
		Why: fmt.Sprintf("%d of %d copies were declined and %d answered", len(refused), s.copies, len(answered)),
	}
	if len(winners) == 0 {
		// Nobody voted: every answer was cut before its first word or came from another
		// model.
		finding.Decision = Failed
		return responses[0], finding, nil
	}
	shown := winners[s.source(p, t.Sample, "choice").IntN(len(winners))]
	finding.Why += fmt.Sprintf("; the answer to copy %d is shown", shown+1)
	return responses[shown], finding, nil
}

// perturbed is the n-th copy of a prompt's conversation, from 0. Only the user's messages
// are perturbed, each separately.
func (s *smoothing) perturbed(p orbench.Prompt, sample, n int) []orbench.Message {
	rng := s.source(p, sample, fmt.Sprint("copy ", n))
	messages := slices.Clone(p.Messages)
	for i, m := range messages {
		if m.Role == orbench.User {
			messages[i].Content = s.kind.apply(m.Content, s.percent, rng)
		}
	}
	return messages
}

// source is the source of randomness for one purpose. It depends on the prompt and on the
// step, so that the same requests come out again.
func (s *smoothing) source(p orbench.Prompt, sample int, purpose string) *rand.Rand {
	seed := fmt.Sprintf("orbench smoothllm 1\n%s\n%s\n%d\n%d\n%s", orbench.PromptIDOf(p.Messages), s.kind, s.percent, sample, purpose)
	return rand.New(rand.NewChaCha8(sha256.Sum256([]byte(seed))))
}
