package logs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
)

// labeled is an exchange of which people said whether it was refused, and whose prompt is
// known to be safe or not.
type labeled struct {
	prompt, reply string
	refused, safe bool
}

// logOf draws exchanges with replacement, each from a user whom Zipf's law chooses, and
// judges them. It gives the true share of refusals that were wrong, and lexical's alone if
// all refusals counted as wrong were those of safe prompts that it calls refused.
func logOf(all []labeled, n, users int, seed uint64) (log []read, truth float64, of map[[2]string]labeled) {
	draw := rand.New(rand.NewPCG(seed, 1))
	cumulated := make([]float64, users)
	sum := 0.0
	for i := range cumulated {
		sum += 1 / float64(i+1)
		cumulated[i] = sum
	}
	judged := newVerdicts(newCounter(Options{}).seed)
	of = map[[2]string]labeled{}
	refused, wrong := 0, 0
	for range n {
		one := all[draw.IntN(len(all))]
		user, _ := slices.BinarySearch(cumulated, draw.Float64()*sum)
		e := rows.Exchange{Prompt: one.prompt, Reply: one.reply, User: fmt.Sprint("u", user)}
		log = append(log, read{Exchange: e, verdict: judged.of(e)})
		of[[2]string{one.prompt, one.reply}] = one
		if one.refused {
			refused++
			if one.safe {
				wrong++
			}
		}
	}
	return log, float64(wrong) / float64(refused), of
}

// lookAt draws looks and has somebody say the truth, but for a share of careless words.
func lookAt(t *testing.T, log []read, of map[[2]string]labeled, looks int, seed uint64, careless float64) Wrong {
	t.Helper()
	c := newCounter(Options{})
	c.sampler = &sampler{looks: looks, seed: seed, hash: c.seed, pools: map[string]*pool{}}
	for _, e := range log {
		c.add(e)
	}
	drawn, err := c.draw()
	if err != nil {
		t.Fatal(err)
	}
	if len(drawn) > looks {
		t.Fatalf("%d looks, want at most %d", len(drawn), looks)
	}
	draw := rand.New(rand.NewPCG(seed, 2))
	word := func(truth bool) Word {
		if truth != (draw.Float64() < careless) {
			return Yes
		}
		return No
	}
	for i := range drawn {
		one := of[[2]string{drawn[i].Message, drawn[i].Reply}]
		drawn[i].Refused, drawn[i].Answerable = word(one.refused), word(one.safe)
	}
	return Rate(drawn)
}

// redraw draws looks many times and says how often the interval of the share of wrong
// refusals holds the truth, its mean half-width and mean, and the widest half-width.
func redraw(t *testing.T, log []read, of map[[2]string]labeled, truth float64, looks, times int, careless float64) (held, half, widest, mean float64) {
	t.Helper()
	for seed := range times {
		w := lookAt(t, log, of, looks, uint64(seed), careless)
		e := w.OfRefusals
		if e == nil || w.Exchanges != len(log) {
			t.Fatalf("seed %d: %+v", seed, w)
		}
		if e.Lo <= truth && truth <= e.Hi {
			held++
		}
		half += (e.Hi - e.Lo) / 2
		widest = max(widest, (e.Hi-e.Lo)/2)
		mean += e.Value
	}
	n := float64(times)
	return held / n, half / n, widest, mean / n
}

// TestLooks holds the truth of a small log by 60 looks in nearly all of 100 redraws.
func TestLooks(t *testing.T) {
	t.Parallel()
	var all []labeled
	for i := range 400 {
		one := labeled{prompt: fmt.Sprintf("What of subject%d and matter%d", i, 7*i), reply: yes, safe: true}
		if i%2 == 0 {
			one.refused, one.safe, one.reply = true, i%6 == 0, no
		}
		all = append(all, one)
	}
	log, truth, of := logOf(all, 1500, 200, 1)
	held, half, _, mean := redraw(t, log, of, truth, 60, 100, 0)
	if held < 0.9 || math.Abs(mean-truth) > 0.02 || half > 0.14 {
		t.Errorf("the truth %.3f is held in %.2f of redraws, half-width %.3f, mean %.3f", truth, held, half, mean)
	}
}

// TestLooksOfLabeledAnswers draws the log of 3,000 users from answers that people labeled,
// XSTest's and Do-Not-Answer's, and 150 looks of it a thousand times.
func TestLooksOfLabeledAnswers(t *testing.T) {
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	var all []labeled
	read := func(name string, add func(row map[string]string)) {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", name))
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		table, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, cells := range table[1:] {
			row := map[string]string{}
			for i, name := range table[0] {
				row[name] = cells[i]
			}
			add(row)
		}
	}
	for _, name := range []string{"xstest_completions_llama2orig.csv", "xstest_completions_mistralguard.csv"} {
		read(name, func(row map[string]string) {
			all = append(all, labeled{row["prompt"], row["completion"], row["final_label"] != "1_full_compliance", !strings.HasPrefix(row["type"], "contrast_")})
		})
	}
	read("human-do-not-answer.csv", func(row map[string]string) {
		if row["label"] != "" {
			all = append(all, labeled{row["prompt"], row["response"], row["label"] == "refused", false})
		}
	})
	const looks, users, exchanges, times = 150, 3000, 10_000, 1000
	seeds := map[string]uint64{"1": 1, "2": 3}[os.Getenv("ORBENCH_LONG")]
	for seed := range seeds {
		log, truth, of := logOf(all, exchanges, users, seed)
		lexical, safe := 0, 0
		for _, e := range log {
			if e.verdict.kind == WillNot {
				lexical++
				if of[[2]string{e.Prompt, e.Reply}].safe {
					safe++
				}
			}
		}
		held, half, widest, mean := redraw(t, log, of, truth, looks, times, 0)
		_, _, _, careless := redraw(t, log, of, truth, looks, times/4, 0.05)
		t.Logf("seed %d: truth %.4f; %d looks hold it in %.3f of %d redraws, half-width %.4f (widest %.4f), mean %.4f; 5%% careless words give %.4f; lexical calls %d of %d refused, of which %.4f are of safe prompts",
			seed, truth, looks, held, times, half, widest, mean, careless, lexical, len(log), float64(safe)/float64(lexical))
		if held < 0.94 || held > 0.97 || half > 0.08 {
			t.Errorf("seed %d: held in %.3f, half-width %.4f", seed, held, half)
		}
	}
}

// TestSheetOfLooks reads what it writes, and refuses a sheet that was changed.
func TestSheetOfLooks(t *testing.T) {
	t.Parallel()
	looks := []Look{
		{"model", 10, 3, 2, "=1+1", "no, \"really\"", Yes, Unknown, "", []orbench.Message{{Role: orbench.System, Content: "Sell."}, {Role: orbench.User, Content: "a"}, {Role: orbench.Assistant, Content: "b"}}},
		{"model", 10, 3, 1, "b", "no", "", "", "", nil},
		{"answered", 90, 1, 1, "c\nd", "yes", No, Yes, "", nil},
	}
	for _, file := range []string{"a.csv", "a.jsonl"} {
		var out bytes.Buffer
		if err := WriteLooks(&out, file, looks); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		got, err := ReadLooks(file, strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(got, looks) {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
		lines := strings.SplitAfter(text, "\n")
		for name, bad := range map[string][2]string{
			"a row deleted": {strings.Replace(text, lines[1], "", 1), "leave every row in the sheet"},
			"a size":        {strings.Replace(text, "90", "0", 1), "no number of exchanges"},
			"a word":        {strings.Replace(text, "cannot tell", "perhaps", 1), "write yes, no or cannot tell"},
			"a column":      {strings.ReplaceAll(text, "should_answer", "x"), "not a sheet of drawn exchanges"},
			"sizes":         {strings.Replace(text, "10", "11", 1), "another size or drawing"},
		} {
			if strings.HasSuffix(file, "v") && name == "a row deleted" {
				bad[0] = strings.Replace(text, lines[2], "", 1)
			}
			if _, err := ReadLooks(file, strings.NewReader(bad[0])); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), bad[1]) {
				t.Errorf("%s, %s: %v, want %q", file, name, err, bad[1])
			}
		}
	}
}

// TestRate computes figures from looks: open and undecided ones are in none, and all looks of
// a stratum weigh as its size.
func TestRate(t *testing.T) {
	t.Parallel()
	looks := []Look{
		{"model", 100, 4, 3, "a", "no", Yes, Yes, "", nil},
		{"model", 100, 4, 1, "b", "no", Yes, No, "", nil},
		{"guard_before", 50, 2, 1, "c", "", Yes, No, "", nil},
		{"guard_before", 50, 2, 1, "d", "", Yes, No, "", nil},
		{"answered", 850, 3, 1, "e", "y", No, Yes, "", nil},
		{"answered", 850, 3, 1, "f", "y", No, No, "", nil},
		{"answered", 850, 3, 1, "g", "y", Unknown, Yes, "", nil},
	}
	w := Rate(looks)
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("wrong refusals", w.WrongRefusals.Value, 0.075)
	near("of refusals", w.OfRefusals.Value, 0.5)
	near("missed", w.Missed.Value, 0.425)
	near("of the model", w.Sources[1].Wrong.Value, 0.75)
	if w.Undecided != 1 || w.Open != 0 || w.Exchanges != 1000 || w.UndecidedRange != nil || w.Sources[0].Source != GuardBefore {
		t.Errorf("%+v", w)
	}
	// A log with a tenth of the refusals has too few for the labels that would be needed.
	few := slices.Clone(looks)
	for i := range few {
		few[i].Size /= 10
	}
	if of := Rate(few); w.Needed < 100 || of.Needed != 0 {
		t.Errorf("%d labels are needed, and %d of few refusals", w.Needed, of.Needed)
	}
	looks[3].Answerable = Unknown
	if w = Rate(looks); w.UndecidedRange == nil || w.UndecidedRange[0] != 0.5 || w.UndecidedRange[1] < 0.66 {
		t.Errorf("the range is %v", w.UndecidedRange)
	}
	undecided := slices.Clone(looks)
	undecided[2].Answerable = Unknown
	if w = Rate(undecided); w.UndecidedExchanges != 50 || w.OfRefusals == nil || math.Abs(w.WrongRefusals.Value-75./950) > 1e-9 {
		t.Errorf("with a stratum that nobody could decide: %+v", w)
	}
	looks[0].Refused, looks[1].Refused = "", ""
	if w = Rate(looks); w.Open != 2 || w.OfRefusals != nil || w.WrongRefusals != nil || w.Sources[0].Wrong == nil {
		t.Errorf("with a stratum open: %+v", w)
	}
}

// TestStrata draws of every source, fixed texts apart, and sizes add up to the log.
func TestStrata(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 60 {
		log.WriteString(row(fmt.Sprintf("Tell me of subject%d with matter%d", i, i*i), no, ""))
		log.WriteString(row(fmt.Sprintf("Say something%d about matter%d", i, i), fmt.Sprintf("I'm sorry, but I can't help with case %c%c.", 'a'+i/26, 'a'+i%26), ""))
		log.WriteString(row(fmt.Sprintf("What is thing%d", i), yes, ""))
		log.WriteString(row(fmt.Sprintf("Which other%d", i), "Ask the desk about it please.", `,"guard":true`))
		log.WriteString(row("Hello", "", `,"guard":true`))
	}
	looks, r, _, err := Draw(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(log.String())}, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	sizes, drawn := map[string]int{}, 0
	for _, l := range looks {
		sizes[l.Stratum] = l.Size
		if l.Stratum == string(GuardBefore) && (l.Times != 60 || l.Drawn != 60) {
			t.Errorf("equal exchanges cost one look: %+v", l)
		}
		drawn++
	}
	want := map[string]int{"answered": 60, "flagged_before+fixed": 60, "guard_before": 60, "model": 60, "model+fixed": 60}
	if !maps.Equal(sizes, want) || drawn != 40 || r.Exchanges != 300 || r.Refused.N != 240 {
		t.Errorf("strata %v, %d looks, %+v", sizes, drawn, r)
	}
	_, _, _, err = Draw(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(log.String())}, 4, 1)
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "5 strata") {
		t.Errorf("%v", err)
	}
}

// TestPlausible puts values in place of masks, and of nothing else.
func TestPlausible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Write to [mail 9], or call [phone 2] of [name 1].": "Write to person9@example.com, or call +1 202 555 0102 of Sam.",
		"See [note 3], [mail] and [card].":                  "See [note 3], [mail] and [card].",
		"Is [IP 1] mine?":                                   "Is 192.0.2.2 mine?",
		"Does [key 1] work?":                                "",
	} {
		whole := true
		if got := plausible(text, &whole); whole != (want != "") || whole && got != want {
			t.Errorf("%s: %s, %t", text, got, whole)
		}
	}
	// A greeting answers nobody, and what one said at once is one message.
	looks := Look{Message: "And now?", Context: []orbench.Message{
		{Role: orbench.Assistant, Content: "Hello."},
		{Role: orbench.User, Content: "Hi"},
		{Role: orbench.System, Content: "Sell."},
	}}
	if got := looks.Asked().Transcript(); got != "system:\nSell.\n\nuser:\nHi\n\nAnd now?" {
		t.Errorf("%q", got)
	}
}
