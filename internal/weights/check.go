package weights

import (
	"bytes"
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

const (
	// mostStored is how many replies of a model are looked at.
	mostStored = 400
	// mostFingerprints is from how many on a fingerprint is that of a call, and tells nothing.
	mostFingerprints = 3
	// prompts are asked again at most, and no more than one of share stored ones, each times
	// times.
	prompts, share, times = 40, 10, 2
	// A check finds other weights where the chance of replies that part as much with the same
	// ones is at most sure. At temperature 0 replies seldom part by chance, so less is enough.
	sure, sureAtZero = .01, .04
)

// Refused reports whether a reply to a stored call is a refusal, or calls an answer one; judge
// is empty for a target's.
type Refused func(of model.Ref, judge string, request model.Request, response model.Response) bool

// Check asks a model in one role some of its remembered calls again.
type Check struct {
	job.Asked
	// N counts the calls with a reply.
	N int
	// Requests ask some of them again, each times times. No figure has their revision.
	Requests []model.Request
	// stored are those that are looked at, those of the least hashes, and again those of Requests.
	stored, again []stored
	// fingerprints are those that the server gave with the replies.
	fingerprints map[string]bool
	// lacks is true where other calls of the model are to be made.
	lacks bool
	// odds are the chances that of three replies that part the stored one is the odd one out, by
	// its kind.
	odds [2]float64
}

// stored is a remembered call with its reply.
type stored struct {
	job.Call
	// said is what the server said of itself when it made the reply.
	said client.Description
	// kind is 0 for a reply that is called refused, and 1 for another.
	kind int
}

// Find looks through what the first of jobs has already of models that may change, each named
// once, and what the others have of judges. It gives a check of each model of which there are
// some replies while the first job lacks others that are not out. Simulated replies are left out:
// their models have no weights.
func Find(ctx context.Context, models []job.Asked, jobs []*job.Job, m store.Reader, refused Refused, out map[model.Hash]bool) (all []*Check, err error) {
	for _, asked := range models {
		all = append(all, &Check{Asked: asked})
	}
	for i, j := range jobs {
		for item, err := range j.Items(ctx, m, job.Scope{Extent: job.SoFar, Remembered: true}) {
			if err != nil {
				return nil, err
			}
			for _, call := range item.Calls {
				if !out[call.Hash] && (i == 0 || call.Remembered && call.Role.Judges()) {
					for _, c := range all {
						c.add(call)
					}
				}
			}
		}
	}
	var hashes []model.Hash
	for _, c := range all {
		for _, s := range c.stored {
			hashes = append(hashes, s.Hash)
		}
	}
	replies, err := m.Get(ctx, hashes)
	for _, c := range all {
		c.draw(replies, refused)
	}
	return slices.DeleteFunc(all, func(c *Check) bool { return !c.lacks || len(c.stored) == 0 }), err
}

// add counts a call of the job.
func (c *Check) add(call job.Call) {
	own := c.Role == call.Role && c.Ref == job.RefOf(call.Request)
	if !call.Remembered {
		// A judge lacks the verdicts on answers that are lacking.
		c.lacks = c.lacks || own || c.Role.Judges() && !call.Role.Judges()
	} else if own {
		c.N++
		at, there := slices.BinarySearchFunc(c.stored, call.Hash, func(s stored, h model.Hash) int { return bytes.Compare(s.Hash[:], h[:]) })
		if at < mostStored && !there {
			c.stored = slices.Insert(c.stored, at, stored{Call: call})[:min(len(c.stored)+1, mostStored)]
		}
	}
}

// draw chooses the calls that are asked again: half of them were called refused, if there are so
// many.
func (c *Check) draw(replies map[model.Hash]model.Response, refused Refused) {
	var all [2][]stored
	c.fingerprints = map[string]bool{}
	for _, s := range c.stored {
		response, ok := replies[s.Hash]
		if !ok || response.Simulated() || response.ByOther(c.Ref) {
			continue
		}
		if !refused(c.Ref, s.Judge, s.Request, response) {
			s.kind = 1
		}
		s.said = c.Said(response)
		c.fingerprints[s.said.Value(client.Fingerprint)] = true
		all[s.kind] = append(all[s.kind], s)
	}
	most := min(prompts, c.N/share)
	some := min(len(all[0]), max(most/2, most-len(all[1])))
	others := min(len(all[1]), most-some)
	c.stored, c.again = slices.Concat(all[:]...), slices.Concat(all[0][:some], all[1][:others])
	for _, s := range c.again {
		s.Request.Revision = "check-" + time.Now().UTC().Format(time.RFC3339Nano) // that of no other check
		for s.Request.Sample = range times {
			c.Requests = append(c.Requests, s.Request)
		}
	}
	// Each of three replies to a prompt is as likely to be the one that was stored, but those that
	// are called refused are drawn more times as often as the others.
	more := float64(max(1, some*len(all[1]))) / float64(max(1, others*len(all[0])))
	c.odds = [2]float64{more / (more + 2), 1 / (1 + 2*more)}
}

// Said is what a server says of itself with a reply; the name of a target on a server that runs
// weights too.
func (c *Check) Said(response model.Response) client.Description {
	if c.Role.Judges() {
		return client.Description(response.Server)
	}
	return client.Description(response.Server).Named(response)
}

// Differs says in what the server describes itself otherwise now than when some of the replies
// were made, and of how many of those that are looked at. It is empty where nothing differs.
func (c *Check) Differs(now client.Description) (change string, n, of int) {
	if len(c.fingerprints) > mostFingerprints {
		now = now.Without(client.Fingerprint)
	}
	for _, s := range c.stored {
		if d := s.said.Difference(now); d != "" {
			change, n = d, n+1
		}
	}
	return change, n, len(c.stored)
}

// Known reports whether what a server says of itself tells its weights by a digest, then and
// now.
func (c *Check) Known(now client.Description) bool {
	return now.Value(client.Digest) != "" && !slices.ContainsFunc(c.stored, func(s stored) bool { return s.said.Value(client.Digest) == "" })
}

// Outcome is what a check comes to.
type Outcome struct {
	// Compared is of how many stored calls both new replies are there. The three part for Parted
	// of them, of which for Odd the new ones agree.
	Compared, Parted, Odd int
	// Other says that these are other weights. Finds is the chance that the check would see a
	// tenth of the replies change, without noise.
	Other bool
	Finds float64
}

// Outcome compares the replies that a lookup has.
func (c *Check) Outcome(look model.Lookup, refused Refused) (o Outcome) {
	limit := sureAtZero
	// How many of each kind were asked again, and for how many of it the stored reply is the odd
	// one out. of counts all by how many of the three are refusals.
	var asked, odd [2]int
	var of [times + 2]int
again:
	for i, s := range c.again {
		refusals := 1 - s.kind
		for _, q := range c.Requests[i*times:][:times] {
			response, ok := look(q)
			if !ok {
				continue again
			}
			if refused(c.Ref, s.Judge, q, response) {
				refusals++
			}
		}
		if t := s.Request.Params.Temperature; t == nil || *t > 0 {
			limit = sure
		}
		asked[s.kind]++
		of[refusals]++
		if refusals == s.kind+1 {
			odd[s.kind]++
		}
	}
	parted := [2]int{of[1], of[2]}
	o.Compared, o.Parted, o.Odd = asked[0]+asked[1], parted[0]+parted[1], odd[0]+odd[1]
	o.Other = c.chance(parted, odd) <= limit
	o.Finds = sum(asked, [2]float64{.1, .1}, func(found [2]int) bool { return c.allOdd(found) <= limit })
	return o
}

// chance is that of stored replies that are as odd or odder, with the same weights and as many
// that part: an exact test of two binomial counts.
func (c *Check) chance(parted, odd [2]int) float64 {
	return sum(parted, c.odds, func(other [2]int) bool { return c.allOdd(other) <= c.allOdd(odd)*(1+1e-9) })
}

// allOdd is the chance that of so many that part each stored reply is the odd one out.
func (c *Check) allOdd(n [2]int) float64 {
	return math.Pow(c.odds[0], float64(n[0])) * math.Pow(c.odds[1], float64(n[1]))
}

// sum adds the chances of two binomial counts of n, each by its p, where these are wanted.
func sum(n [2]int, p [2]float64, wanted func([2]int) bool) (chance float64) {
	first, second := distuv.Binomial{N: float64(n[0]), P: p[0]}, distuv.Binomial{N: float64(n[1]), P: p[1]}
	for i := range n[0] + 1 {
		for k := range n[1] + 1 {
			if wanted([2]int{i, k}) {
				chance += first.Prob(float64(i)) * second.Prob(float64(k))
			}
		}
	}
	return chance
}
