package compare

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

// Gate is a condition on a metric, over all prompts or in one category. An
// alarm (> or <) fails a comparison when it holds. A requirement (>= or <=)
// fails it when it cannot be shown to hold. Make a Gate with ParseGate.
type Gate struct {
	// label is that of the prompts whose rate it is on.
	label orbench.Label
	// category is empty for all prompts.
	category orbench.Category
	// op is >, <, >= or <=.
	op string
	// ofRate is true for a limit on the candidate's rate, and false for one on
	// the difference, candidate minus base.
	ofRate bool
	// number is the limit as it was written, with its sign. limit is the same
	// number in percentage points, exactly.
	number string
	limit  *big.Rat
	// significant is true if the figure alone does not decide.
	significant bool
	// byVerdicts is true if neither the judge's error nor people's labels count.
	byVerdicts bool
}

// GateStatus says how a gate was decided.
type GateStatus string

// The ways in which a gate is decided. Undecided means that there was too
// little data to decide; the gate does not pass.
const (
	Passed    GateStatus = "passed"
	Tripped   GateStatus = "failed"
	Undecided GateStatus = "undecided"
)

// GateResult is a gate with what became of it.
type GateResult struct {
	// Gate is the gate, such as "over_refusal > +2pp, significant or not".
	Gate string `json:"gate"`
	// Metric is over_refusal or toxic_refusal.
	Metric figure.Measure `json:"metric"`
	// Category is empty for a gate on all prompts.
	Category orbench.Category `json:"category,omitempty"`
	Status   GateStatus       `json:"status"`
	// Reason says why, in a sentence without the final period.
	Reason string `json:"reason"`
	// Command is what to do about it; empty if nothing is known to help.
	Command string `json:"command,omitempty"`
	// Figure is the figure that decided, in shares: the difference, candidate
	// minus base, or the candidate's rate. Its interval is at the confidence 1
	// - alpha. It is nil if too little could be compared.
	Figure *stats.Estimate `json:"figure"`
	// WithJudgeError is Figure's interval, widened by the judge's error; nil if
	// that does not count or is not known.
	WithJudgeError *stats.Interval `json:"with_judge_error,omitempty"`
	// Missing counts the prompts that lack a verdict which the studies asked for, on
	// either side. The gate bears so many, whatever their verdicts would be.
	Missing int `json:"missing,omitempty"`
	Bears   int `json:"bears,omitempty"`
	// Labels is the number of people's labels that decided; 0 if none did.
	Labels int `json:"labels,omitempty"`
	// LabelsNeeded is how many labels would decide an undecided gate; see
	// versus.Pairs.Labels. It is 0 if versus.MostLabels would not.
	LabelsNeeded int `json:"labels_needed,omitempty"`
	// Chances are those of a candidate with as many flips and missing prompts. They
	// are nil for a limit on the rate, for labels of drawn pairs and for runs that are
	// not paired.
	Chances *Chances `json:"chances,omitempty"`
}

// Chances say what a gate can tell.
type Chances struct {
	// EqualPasses is the chance that a candidate equal to the base passes.
	EqualPasses float64 `json:"equal_passes"`
	// TwiceCaught is the chance that one twice the limit worse does not pass; nil for a
	// limit that allows nothing worse.
	TwiceCaught *float64 `json:"twice_caught"`
}

// String has the verdict, the reason and the command.
func (g GateResult) String() string {
	return fmt.Sprintf("gate %s: %s; %s", g.Status, g.Gate, g.why())
}

// why is the reason, with the command.
func (g GateResult) why() string {
	if g.Command == "" {
		return g.Reason
	}
	return g.Reason + ": " + g.Command
}

// The endings of a gate. byVerdicts may follow either of the others.
const (
	andSignificant   = "and significant"
	significantOrNot = "significant or not"
	byVerdicts       = "by verdicts"
)

// gateForm is the grammar. It accepts more than is allowed, so that each fault
// gets an error of its own.
var gateForm = regexp.MustCompile(`^([A-Za-z_-]+)(?:\[([^\[\]]*)\])? *(>=|<=|==|=|>|<) *([+-]?)([0-9][0-9.eE]*) *(%|[A-Za-z]*)(?:,? +([a-z ,]+))?$`)

// decimal is the form of a limit.
var decimal = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,6})?$`)

// gateExample ends the error messages.
const gateExample = `write it like "over_refusal > +2pp", "toxic_refusal >= -1pp", "over_refusal[privacy] <= 10%" or "over_refusal > +2pp, significant or not"`

// maxCategory is the longest category that a gate may name, in bytes.
const maxCategory = 100

// ParseGate reads a gate:
//
//	METRIC ["[" CATEGORY "]"] (">" | "<" | ">=" | "<=") LIMIT ["and significant" | [","] "significant or not"] [[","] "by verdicts"]
//
// METRIC is over_refusal or toxic_refusal. LIMIT is one of two things. A
// difference, candidate minus base, is in percentage points from -100 to +100,
// such as +2pp; it needs a sign unless it is 0. A rate of the candidate is from
// 0 to 100 per cent, such as 10%. Numbers have up to three digits and up to six
// decimals. Words and signs may be separated by spaces.
//
// > and < make an alarm, which fails a comparison when it holds. >= and <= make
// a requirement, which fails it unless it holds. Both need significance unless
// they say "significant or not". For a requirement and for a rate, significance
// means the whole interval: an alarm fails when all of it is beyond the limit;
// a requirement passes when none of it is. An alarm on a difference needs a
// significant test that there is a difference. An alarm that trips when a model
// is compared with itself, such as "over_refusal > -2pp", must say "significant
// or not", because no test can show that there is no difference.
//
// "by verdicts" leaves the judge's error and people's labels out. A gate that would stop a
// better candidate is an error.
//
// The error is an *orbench.InputError.
func ParseGate(text string) (Gate, error) {
	fault := func(problem, hint string) (Gate, error) {
		return Gate{}, &orbench.InputError{Problem: fmt.Sprintf("gate %.100q: %s", text, problem), Hint: hint}
	}
	part := gateForm.FindStringSubmatch(strings.TrimSpace(text))
	if part == nil || !utf8.ValidString(text) {
		return fault("is not METRIC > LIMIT, METRIC < LIMIT, METRIC >= LIMIT or METRIC <= LIMIT", gateExample)
	}
	metric, op, sign, number, unit, end := figure.Measure(part[1]), part[3], part[4], part[5], part[6], part[7]
	category := strings.TrimSpace(part[2])
	switch {
	case metric != figure.OverRefusal && metric != figure.ToxicRefusal:
		return fault(fmt.Sprintf("there is no metric %q", metric), "use over_refusal or toxic_refusal")
	case category == "" && strings.Contains(text, "["):
		return fault("the brackets name no category", "write one between them, or leave them out")
	case len(category) > maxCategory || strings.ContainsFunc(category, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fault("the brackets do not hold the name of a category", fmt.Sprintf("a name is printable and has up to %d bytes", maxCategory))
	case op == "=" || op == "==":
		return fault(fmt.Sprintf("%s is not a comparison that gates have", op), "use > or < for what must not hold, >= or <= for what must hold")
	case (op[0] == '<') == ((metric == figure.OverRefusal) == (len(op) == 1)):
		better, fails, holds := "over-refusal is better low", ">", "<="
		if metric == figure.ToxicRefusal {
			better, fails, holds = "toxic refusal is better high", "<", ">="
		}
		return fault(better, fmt.Sprintf("did you mean %[1]s %[3]s, to fail where that holds, or %[2]s %[3]s, to require it?", fails, holds, sign+number+unit))
	case unit == "" && sign == "":
		return fault("the limit has no unit", fmt.Sprintf("write +%[1]spp for %[1]s points more than the base, or %[1]s%% for the candidate's rate", number))
	case unit == "":
		return fault("the limit has no unit", fmt.Sprintf("write %s%spp, for percentage points", sign, number))
	case unit == "%" && sign != "":
		return fault("a rate has no sign", fmt.Sprintf("write %s%spp for a difference, %s%% for the candidate's rate", sign, number, number))
	case unit != "pp" && unit != "%":
		return fault(fmt.Sprintf("there is no unit %q", unit), "use pp, for percentage points of difference, or %, for a rate")
	case !decimal.MatchString(number):
		return fault(fmt.Sprintf("%q is not a limit", number), "use up to three digits and six decimals, as in +2.5pp")
	}
	limit, _ := new(big.Rat).SetString(sign + number) // a decimal is a number
	switch {
	case new(big.Rat).Abs(limit).Cmp(big.NewRat(100, 1)) > 0:
		return fault("no difference is larger than 100pp, and no rate is larger than 100%", gateExample)
	case unit == "pp" && sign == "" && limit.Sign() != 0:
		return fault("the difference has no sign", fmt.Sprintf("write +%[1]spp for %[1]s points more than the base, -%[1]spp for fewer", number))
	}
	g := Gate{label: orbench.Safe, category: orbench.Category(category), op: op, ofRate: unit == "%", number: sign + number, limit: limit, significant: true}
	if metric == figure.ToxicRefusal {
		g.label = orbench.Toxic
	}
	end = strings.Join(strings.Fields(end), " ")
	if rest, ok := strings.CutSuffix(end, byVerdicts); ok {
		g.byVerdicts, end = true, strings.TrimRight(rest, ", ")
	}
	switch end {
	case "", andSignificant:
		if g.tripsAtZero() {
			g.significant = false
			return fault("a model equal to its base would fail this gate, so the gate cannot need significance", fmt.Sprintf("write %q", g))
		}
	case significantOrNot:
		g.significant = false
	default:
		return fault(fmt.Sprintf("it ends in %.60q", end), fmt.Sprintf("end it with %q, with %q or with neither, and then with %q or not", andSignificant, significantOrNot, ", "+byVerdicts))
	}
	return g, nil
}

// Requirement reports whether the gate is a requirement, not an alarm.
func (g Gate) Requirement() bool { return len(g.op) == 2 }

// tripsAtZero reports whether the gate is an alarm on differences that trips if
// there is no difference.
func (g Gate) tripsAtZero() bool { return !g.ofRate && !g.Requirement() && g.holds(new(big.Rat)) }

// holds reports whether the gate's condition is true of a figure in percentage
// points.
func (g Gate) holds(points *big.Rat) bool {
	return g.allows(points.Cmp(g.limit))
}

// allows reports whether the condition is true of a figure that is above the
// limit (compared is positive), below it (negative) or equal to it (0).
func (g Gate) allows(compared int) bool {
	switch {
	case compared == 0:
		return g.Requirement()
	case compared > 0:
		return g.op[0] == '>'
	}
	return g.op[0] == '<'
}

// holdsThroughout reports whether the condition is true of a whole interval of
// shares.
func (g Gate) holdsThroughout(e stats.Estimate) bool {
	limit, _ := g.limit.Float64()
	return g.allows(compareShares(e.Lo, limit)) && g.allows(compareShares(e.Hi, limit))
}

// compareShares compares a share with a limit in percentage points.
func compareShares(share, limit float64) int { return cmp.Compare(100*share, limit) }

// metric is the rate that the gate is on.
func (g Gate) metric() figure.Measure { return figure.RateOf(g.label) }

// String returns the gate in the form that ParseGate reads.
func (g Gate) String() string {
	subject, unit, end := string(g.metric()), "pp", ""
	if g.category != "" {
		subject += "[" + string(g.category) + "]"
	}
	if g.ofRate {
		unit = "%"
	}
	if !g.significant {
		end = ", " + significantOrNot
	}
	if g.byVerdicts {
		end += ", " + byVerdicts
	}
	return fmt.Sprintf("%s %s %s%s%s", subject, g.op, g.number, unit, end)
}
