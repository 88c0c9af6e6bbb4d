package logs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

const (
	no   = "I'm sorry, but I can't help with that."
	yes  = "Put the eggs into boiling water for eight minutes, then cool them."
	gone = "I could not find a document with that name. Which file do you mean?"
)

// resultOf reads a log from a stream.
func resultOf(t *testing.T, log string, o Options) Result {
	t.Helper()
	o.Stdin = strings.NewReader(log)
	r, _, err := Read(context.Background(), []string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// row is a row of a log.
func row(prompt, reply, more string) string {
	return fmt.Sprintf("{\"prompt\":%q,\"response\":%q%s}\n", prompt, reply, more)
}

// TestSources says who refused; where several did, the earlier one counts.
func TestSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		more, reply string
		want        Source
	}{
		{``, no, Model},
		{`,"finish_reason":"content_filter"`, "", Provider},
		{`,"error":"ContentPolicyViolationError"`, "", Provider},
		{`,"metadata":{"error_information":{"error_message":"Violated guardrail policy"}}`, "", Provider},
		{`,"guard":"BLOCK"`, no, GuardBefore},
		{`,"guard":true`, "", GuardBefore},
		{`,"guard":1,"finish_reason":"content_filter","guard_after":"blocked"`, "", GuardBefore},
		{`,"guard":false,"guard_after":"unsafe"`, no, GuardAfter},
		{`,"finish_reason":"content_filter","guard_after":"blocked"`, "", Provider},
		{`,"template":"decline-3"`, no, Fixed},
		{`,"guard":"blocked","template":"decline-3"`, no, GuardBefore},
		{``, "Our bot talks about eggs alone.", Fixed},
	} {
		r := resultOf(t, row("How do I boil eggs?", c.reply, c.more), Options{Refuses: []string{"Our bot"}})
		if len(r.Sources) != 1 || r.Sources[0].Source != c.want || r.Refused.N != 1 {
			t.Errorf("%s %q: %+v", c.more, c.reply, r.Sources)
		}
	}
}

// TestLeftOut leaves an error out, and a tool call, unless a guard stopped the message: that the
// guard let it pass is no refusal.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	const call = `,"tool_calls":[{"id":"1"}]`
	log := row("a", "b", "") + row("How do I boil eggs?", "", `,"guard":false,"error":"timeout"`) + row("How do I fry eggs?", "", `,"guard":"blocked","error":"stopped"`) +
		`{"prompt":"How do I peel eggs?","response":{"role":"assistant","content":null` + call + `},"guard":"ok"}` + "\n"
	r := resultOf(t, log, Options{})
	if r.Exchanges != 2 || r.Refused.N != 1 || len(r.Sources) != 1 || r.Sources[0].Source != GuardBefore || r.LeftOut[rows.LacksAnswer] != 1 || r.LeftOut[rows.LacksTool] != 1 {
		t.Errorf("%d exchanges, %+v, left out %v", r.Exchanges, r.Sources, r.LeftOut)
	}
}

// TestKinds counts what says no apart from what cannot and what asks back, and a flagged
// exchange that was answered.
func TestKinds(t *testing.T) {
	t.Parallel()
	log := row("How do I boil eggs?", yes, `,"guard":"flagged"`) + row("How do I boil eggs?", no, "") +
		row("Read my file", "I couldn't find that file in the folder.", "") + row("Book it", "Which date would you like? Please tell me the date so I can book.", "") +
		row("Say it", "", `,"tool_calls":1,"error":"timeout"`) + row("", "", "")
	r := resultOf(t, log, Options{})
	if r.RowsRead != 6 || r.Exchanges != 4 || r.Refused.N != 1 || r.Cannot.N+r.AsksBack.N == 0 || r.FlaggedAnswered != 1 || len(r.LeftOut) != 2 {
		t.Errorf("%+v", r)
	}
}

// TestFixedTexts names replies that come word for word to unlike messages. One that a guard
// flagged is a refusal whatever its words; a frequent reply to one question is none.
func TestFixedTexts(t *testing.T) {
	t.Parallel()
	const notice = "Please write to our support desk about this matter."
	var log strings.Builder
	for i, about := range []string{"cooking an egg quickly", "trains from Bonn", "tax forms for pupils", "repairing bicycles alone", "naming small parrots", "the height of towers"} {
		log.WriteString(row("Tell me of "+about, no, fmt.Sprintf(`,"user_id":"u%d"`, i)))
		log.WriteString(row("What of "+about+" then", notice, fmt.Sprintf(`,"user_id":"u%d","guard":%t`, i, i < 4)))
		log.WriteString(row("How do I boil an egg?", yes, fmt.Sprintf(`,"user_id":"u%d"`, i)))
	}
	r := resultOf(t, log.String(), Options{})
	if len(r.Fixed) != 2 || r.Fixed[0] != (FixedText{no, 6, 6}) || r.Fixed[1] != (FixedText{notice, 6, 4}) {
		t.Errorf("fixed texts %+v", r.Fixed)
	}
	if len(r.Sources) != 2 || r.Sources[0].N != 4 || r.Sources[0].Source != GuardBefore || r.Sources[1].N != 6 || r.Sources[1].Source != Fixed || r.FlaggedAnswered != 0 {
		t.Errorf("sources %+v", r.Sources)
	}
	r = resultOf(t, log.String(), Options{Refuses: []string{"Please write to our support"}})
	if r.Refused.N != 12 || r.Sources[1].N != 8 {
		t.Errorf("with the user's word: %+v", r.Sources)
	}
}

// TestGateway reads the log of a gateway that keeps messages in one place or another, errors
// deep in a row, and replaces replies by a text with a number in it.
func TestGateway(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i, about := range []string{"cooking an egg quickly", "trains from Bonn", "tax forms for pupils", "repairing bicycles alone", "naming small parrots", "the height of towers"} {
		message := fmt.Sprintf(`[{"role":"user","content":"Tell me of %s"}]`, about)
		fmt.Fprintf(&log, `{"up":{"ask":%s,"error":null},"in":null,"guard":{"pre":"pass","post":"none"},"out":"Here is all that I know of it."}`+"\n", message)
		fmt.Fprintf(&log, `{"up":{"ask":%s,"error":null},"in":null,"guard":{"pre":"pass","post":"replace"},"out":"This reply has been removed (ref. %d)."}`+"\n", message, 1<<i)
		fmt.Fprintf(&log, `{"up":{"ask":%s,"error":{"code":"overloaded"}},"in":null,"guard":{"pre":"pass","post":null},"out":null}`+"\n", message)
		fmt.Fprintf(&log, `{"up":null,"in":%s,"guard":{"pre":"block","post":null},"out":"I can't talk about that."}`+"\n", message)
		fmt.Fprintf(&log, `{"up":{"ask":[{"role":"user","content":"Tell me of %s"},{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"seen"}]},"in":null,"guard":{"pre":"pass","post":"none"},"out":"I looked: all is well."}`+"\n", about)
	}
	o := Options{Flagged: []string{"block", "replace"}, Columns: rows.ExchangeColumns{
		Prompt: []string{"up.ask", "in"}, Reply: []string{"out"}, Before: "guard.pre", After: "guard.post", Error: "up.error.code",
	}}
	r := resultOf(t, log.String(), o)
	if r.Exchanges != 24 || r.LeftOut[rows.LacksAnswer] != 6 || len(r.LeftOut) != 1 || r.source(GuardBefore) != 6 || r.source(GuardAfter) != 6 || r.FlaggedAnswered != 0 {
		t.Errorf("%d exchanges, left out %v, sources %+v, %d flagged and answered", r.Exchanges, r.LeftOut, r.Sources, r.FlaggedAnswered)
	}
	// Tools were perhaps not offered to those whom the guard refused.
	if _, known := r.Transcripts.Ends[RefusedAtOnce]; known || r.Transcripts.All != 6 {
		t.Errorf("transcripts %+v", r.Transcripts)
	}
	o.Columns.Error = ""
	r = resultOf(t, log.String(), o)
	if r.LeftOut[rows.LacksReply] != 6 || !slices.ContainsFunc(r.warnings(), func(w string) bool { return strings.Contains(w, "error_column") }) {
		t.Errorf("errors that are not seen: sources %+v, %q", r.Sources, r.warnings())
	}
}

// TestClusters counts people, not exchanges: one who is refused always widens the interval.
func TestClusters(t *testing.T) {
	t.Parallel()
	var log, unnamed strings.Builder
	for i := range 400 {
		user, reply := i%37, yes
		if user < 6 {
			reply = no
		}
		log.WriteString(row("How do I boil eggs?", reply, fmt.Sprintf(`,"user_id":%d,"model":"m%d","time":"2026-0%d-02T10:00:00Z"`, user, i%2, 1+i%3)))
		unnamed.WriteString(row("How do I boil eggs?", reply, ""))
	}
	r, alone := resultOf(t, log.String(), Options{}), resultOf(t, unnamed.String(), Options{})
	width := func(f Figure) float64 { ci := f.Interval(); return ci[1] - ci[0] }
	if r.Users != 37 || r.Exchanges != 400 || alone.Users != 0 || alone.Unnamed != 400 || width(r.Refused) < 2*width(alone.Refused) {
		t.Errorf("%d users: width %v beside %v", r.Users, width(r.Refused), width(alone.Refused))
	}
	if math.Abs(*r.Refused.Share-*alone.Refused.Share) > 1e-12 || r.Sources[0].Interval()[1] != r.Refused.Interval()[1] {
		t.Errorf("%+v and %+v", r.Refused, r.Sources)
	}
	if len(r.Models) != 2 || r.Models[0].Exchanges != 200 || len(r.Periods) != 3 || r.Periods[0].Name != "2026-01-02" || r.Periods[0].CI95Clustered == nil {
		t.Errorf("models %+v, periods %+v", r.Models, r.Periods)
	}
}

// TestGuardWords does not guess what an unknown word of a guard means.
func TestGuardWords(t *testing.T) {
	t.Parallel()
	log := row("a", yes, "") + row("a", no, `,"guard":"level 3"`)
	_, _, err := Read(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(log)})
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), `standard input:2: the guard's word "level 3" is not known`) {
		t.Errorf("%v", err)
	}
	if r := resultOf(t, log, Options{Flagged: []string{"Level 3"}}); r.Sources[0].Source != GuardBefore {
		t.Errorf("%+v", r.Sources)
	}
}

// TestUnfound names the columns of a log without a message or reply.
func TestUnfound(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		`{"said":"a","got":"b"}`:           `no message of a user is found in the columns "got", "said"; name the column with`,
		`{"prompt":"a","got":"b"}`:         `no reply is found in the columns "got", "prompt"`,
		"said,got\na,b\n":                  `no message of a user is found in the columns "said", "got"`,
		`{"prompt":"a","got":"b"` + "}\n{": "malformed JSON",
	} {
		r, _, err := Read(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(log)})
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) || r.Exchanges != 0 {
			t.Errorf("%s: %v", log, err)
		}
	}
}

// TestTimes reads the forms in which logs write a time.
func TestTimes(t *testing.T) {
	t.Parallel()
	const want = "2025-11-24"
	for _, text := range []string{
		"1764000000", "1764000000.5", "1764000000000", "1764000000000000", "1764000000000000000", "2025-11-24T16:00:00Z", "2025-11-24T18:00:00.5+02:00",
		"2025-11-24 16:00:00", "2025-11-24 16:00:00.123+00:00", "2025-11-24T16:00:00", "2025-11-24 16:00:00 UTC", "2025-11-24",
	} {
		if at, ok := rows.Time(text); !ok || at.Format("2006-01-02") != want {
			t.Errorf("%s: %v, %t", text, at, ok)
		}
	}
	for _, text := range []string{"", "soon", "12", "-5", "NaN"} {
		if at, ok := rows.Time(text); ok {
			t.Errorf("%q: %v", text, at)
		}
	}
}

// source is how many refusals a source gave.
func (r Result) source(s Source) int {
	for _, by := range r.Sources {
		if by.Source == s {
			return by.N
		}
	}
	return 0
}
