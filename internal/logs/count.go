package logs

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// counter counts exchanges.
type counter struct {
	o       Options
	seed    maphash.Seed
	users   map[uint64]uint32
	all     tally
	kinds   map[Kind]*tally
	models  map[string]*tally
	days    map[string]*tally
	repeats reply.Repeats
	// refused are the refusals whose source is known only at the end, and sources the
	// others.
	refused []refused
	sources map[Source]*tally
	// sampler draws exchanges for people; nil for none. sizes counts the exchanges that are
	// neither refused nor flagged, by kind.
	sampler *sampler
	sizes   map[string]int
	// passed are exchanges that a guard flagged and that were answered.
	passed            []passed
	unjudged, garbled int
	first, last       time.Time
	untimed, unnamed  int
	transcripts       Transcripts
	rows              int
	left              map[string]int
	notes             []string
}

// refused is a refusal, by numbers of its user and reply.
type refused struct {
	reply  uint64
	user   uint32
	source uint8 // in Sources
}

// passed is an exchange that a guard flagged and whose reply does not say no.
type passed struct {
	refused
	model, day string
}

// numberOf is the number of a source in Sources.
func numberOf(s Source) uint8 { return uint8(slices.Index(Sources, s)) }

func newCounter(o Options) *counter {
	return &counter{
		o: o, seed: maphash.MakeSeed(), left: map[string]int{}, sizes: map[string]int{}, users: map[uint64]uint32{}, all: tally{}, kinds: map[Kind]*tally{}, models: map[string]*tally{}, days: map[string]*tally{},
		repeats: reply.NewRepeats(), sources: map[Source]*tally{},
	}
}

// tally counts exchanges and how many of them are of some kind, also by user.
type tally struct {
	n, part int
	users   map[uint32]*stats.Cluster
}

// add counts exchanges of a user, 0 for an unknown one.
func (t *tally) add(user uint32, n, part int) {
	t.n += n
	t.part += part
	if user == 0 {
		return
	}
	if t.users == nil {
		t.users = map[uint32]*stats.Cluster{}
	}
	c := table.At(t.users, user)
	c.N += n
	c.Sum += part
}

// mostModels is the number of models that are counted apart.
const mostModels = 100

// otherModels stands for the models after mostModels.
const otherModels = "others"

// add counts an exchange.
func (c *counter) add(e read) {
	user := c.user(e.User)
	class, kind := e.verdict.class, e.verdict.kind
	day := c.day(e.Time)
	number := c.repeats.Add(e.Prompt, e.Reply)
	said := c.o.refuses(e.Reply)
	if said {
		kind = WillNot
	}
	if class == orbench.Unjudged && !said {
		c.unjudged++
		return
	}
	if class == orbench.Garbled {
		c.garbled++
	}
	name := e.Model
	if name != "" && c.models[name] == nil && len(c.models) >= mostModels {
		name = otherModels
	}
	part, stratum := 0, cmp.Or(string(kind), answered)
	switch {
	case kind == WillNot:
		part = 1
		source := refuser(e.Exchange, e.before, e.after)
		if said && source == Model {
			source = Fixed
		}
		c.refused = append(c.refused, refused{number, user, numberOf(source)})
		stratum = string(source)
	case e.before || e.after:
		source := GuardBefore
		if !e.before {
			source = GuardAfter
		}
		c.passed = append(c.passed, passed{refused{number, user, numberOf(source)}, name, day})
		stratum = flaggedName(numberOf(source))
	default:
		c.sizes[stratum]++
	}
	if c.sampler != nil {
		c.sampler.add(stratum, e, number)
	}
	c.all.add(user, 1, part)
	if kind == Cannot || kind == AsksBack {
		table.At(c.kinds, kind).add(user, 0, 1)
	}
	if name != "" {
		table.At(c.models, name).add(user, 1, part)
	}
	if day != "" {
		table.At(c.days, day).add(user, 1, part)
	}
	if c.o.SoFar != nil && c.all.n%100_000 == 0 {
		c.o.SoFar(c.all.n, c.all.part)
	}
}

// user gives the number of a user, 0 if the log does not say who it is.
func (c *counter) user(name string) uint32 {
	if name == "" {
		c.unnamed++
		return 0
	}
	key := maphash.String(c.seed, name)
	n, ok := c.users[key]
	if !ok {
		n = uint32(len(c.users) + 1)
		c.users[key] = n
	}
	return n
}

// day gives the day of a time, empty where it cannot be read.
func (c *counter) day(text string) string {
	at, ok := rows.Time(text)
	if !ok {
		c.untimed++
		return ""
	}
	if c.first.IsZero() || at.Before(c.first) {
		c.first = at
	}
	if at.After(c.last) {
		c.last = at
	}
	return at.Format(time.DateOnly)
}

// result returns the figures.
func (c *counter) result() Result {
	// What a guard flagged and a fixed text answered was stopped.
	passed, said := 0, slices.Clone(c.refused)
	for _, p := range c.passed {
		if !c.repeats.IsFixed(p.reply) {
			passed++
			continue
		}
		c.all.add(p.user, 0, 1)
		if p.model != "" {
			c.models[p.model].add(p.user, 0, 1)
		}
		if p.day != "" {
			c.days[p.day].add(p.user, 0, 1)
		}
		said = append(said, p.refused)
	}
	refusals := map[uint64]int{}
	for _, r := range said {
		source := Sources[r.source]
		if source == Model && c.repeats.IsFixed(r.reply) {
			source = Fixed
		}
		refusals[r.reply]++
		table.At(c.sources, source).add(r.user, 0, 1)
	}
	out := Result{
		RowsRead: c.rows, LeftOut: c.left,
		Exchanges: c.all.n, Users: len(c.users), Unnamed: c.unnamed, Unjudged: c.unjudged, Garbled: c.garbled, FlaggedAnswered: passed,
		Refused: c.figure(&c.all), Cannot: c.share(c.kinds[Cannot]), AsksBack: c.share(c.kinds[AsksBack]), Sources: []SourceFigure{},
	}
	if !c.first.IsZero() {
		out.First, out.Last, out.Untimed = &c.first, &c.last, c.untimed
	}
	for _, source := range Sources {
		if t := c.sources[source]; t != nil {
			out.Sources = append(out.Sources, SourceFigure{source, c.share(t)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.models)) {
		out.Models = append(out.Models, Group{name, c.models[name].n, c.figure(c.models[name])})
	}
	slices.SortStableFunc(out.Models, func(a, b Group) int { return cmp.Compare(b.Exchanges, a.Exchanges) })
	out.Periods = c.periods()
	for key, r := range c.repeats.Fixed {
		out.Fixed = append(out.Fixed, FixedText{Text: r.Text, N: r.N, Refused: refusals[key]})
	}
	slices.SortFunc(out.Fixed, func(a, b FixedText) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(b.N, a.N), cmp.Compare(a.Text, b.Text))
	})
	out.Fixed = out.Fixed[:min(len(out.Fixed), mostTexts)]
	out.Transcripts = c.transcripts.result(c.all.n)
	for i := range out.Fixed {
		out.Fixed[i].Text = c.o.Mask.Text(out.Fixed[i].Text)
	}
	return out
}

// mostTexts is the number of fixed texts that are named.
const mostTexts = 10

// mostDays is the number of days up to which each is a period; then each month is.
const mostDays = 31

// periods counts by day or month.
func (c *counter) periods() []Group {
	days := c.days
	if len(days) > mostDays {
		months := map[string]*tally{}
		for day, t := range days {
			month := table.At(months, day[:len("2006-01")])
			named, refused := 0, 0
			for user, u := range t.users {
				month.add(user, u.N, u.Sum)
				named, refused = named+u.N, refused+u.Sum
			}
			month.add(0, t.n-named, t.part-refused)
		}
		days = months
	}
	return table.RowsOf(slices.Sorted(maps.Keys(days)), func(day string) Group { return Group{day, days[day].n, c.figure(days[day])} })
}

// figure is the share of a tally that is of its kind.
func (c *counter) figure(t *tally) Figure {
	f := Figure{N: t.part, Rate: stats.RateOf(t.part, t.n)}
	var clusters []stats.Cluster
	named := stats.Cluster{}
	for _, user := range slices.Sorted(maps.Keys(t.users)) {
		clusters = append(clusters, *t.users[user])
		named.N, named.Sum = named.N+t.users[user].N, named.Sum+t.users[user].Sum
	}
	if len(clusters) == 0 {
		return f
	}
	// Each exchange without a user is a cluster.
	for i := range t.n - named.N {
		one := stats.Cluster{N: 1}
		if i < t.part-named.Sum {
			one.Sum = 1
		}
		clusters = append(clusters, one)
	}
	f.CI95Clustered = stats.OrNil(stats.WilsonClustered(clusters, 0.95)).Ends()
	return f
}

// share is the share of a tally's exchanges among all.
func (c *counter) share(t *tally) Figure {
	whole := tally{n: c.all.n, users: map[uint32]*stats.Cluster{}}
	for user, all := range c.all.users {
		whole.users[user] = &stats.Cluster{N: all.N}
	}
	if t != nil {
		whole.part = t.part
		for user, u := range t.users {
			whole.users[user].Sum = u.Sum
		}
	}
	return c.figure(&whole)
}
