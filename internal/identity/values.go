package identity

import (
	"crypto/sha256"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/model"
)

// parts stand for the values of a request's parts, in few bytes: each is a number that
// finder.values gave.
type parts struct {
	message, answer uint32
	// rest is the number of the other parts in values.rests. Most calls have the same ones
	// as the call before.
	rest uint32
}

// rest are the numbers of all parts but the message and the answer, which are zero, and
// the kind of the request.
type rest struct {
	kind    int
	numbers [len(weights)]uint32
}

// digest stands for a text: the first half of its SHA-256.
type digest [sha256.Size / 2]byte

func digestOf(text string) digest {
	hash := sha256.Sum256([]byte(text))
	return digest(hash[:sha256.Size/2])
}

// numbered gives numbers to values: to each new one the next, from 0.
type numbered[T comparable] struct {
	// all are the values by their number.
	all []T
	of  map[T]uint32
}

// number gives the number of a value; fresh is true if it is new.
func (n *numbered[T]) number(value T) (number uint32, fresh bool) {
	number, ok := n.of[value]
	if ok {
		return number, false
	}
	if n.of == nil {
		n.of = map[T]uint32{}
	}
	number = uint32(len(n.all))
	n.of[value] = number
	n.all = append(n.all, value)
	return number, true
}

// values gives numbers to the values of parts: equal numbers mean equal values. Of long
// texts only those of the run get one; all others are 0, so memory does not grow with the
// store.
type values struct {
	long  map[digest]uint32
	short numbered[string]
	rests numbered[rest]
}

// number gives the parts of a request of the run, or of another.
func (v *values) number(t *texts, kind int, own bool) parts {
	r := rest{kind: kind}
	for i, w := range weights {
		if !w.long {
			r.numbers[i], _ = v.short.number(t[i])
			continue
		}
		hash := digestOf(t[i])
		n, ok := v.long[hash]
		if !ok && own {
			n = uint32(len(v.long) + 1)
			v.long[hash] = n
		}
		r.numbers[i] = n
	}
	p := parts{message: r.numbers[messageText], answer: r.numbers[answerText]}
	r.numbers[messageText], r.numbers[answerText] = 0, 0
	p.rest, _ = v.rests.number(r)
	return p
}

// parse splits a stored request into parts.
func (v *values) parse(canonical []byte) (t texts, p parts, err error) {
	var r model.Request
	if err := json.Unmarshal(canonical, &r); err != nil {
		return t, p, fmt.Errorf("a stored request is damaged: %w", err)
	}
	t, kind := textsOf(&r)
	return t, v.number(&t, kind, false), nil
}

// text is the value of a part that is not long.
func (v *values) text(p parts, at int) string { return v.short.all[v.rests.all[p.rest].numbers[at]] }

// set has a bit for each of the parts.
type set uint32

// compare gives the parts in which a request of the run differs from another.
func (v *values) compare(own, other parts) (differs set) {
	if own.message != other.message {
		differs |= 1 << messageText
	}
	if own.answer != other.answer {
		differs |= 1 << answerText
	}
	if own.rest != other.rest {
		was := &v.rests.all[other.rest].numbers
		for i, n := range v.rests.all[own.rest].numbers {
			if n != was[i] {
				differs |= 1 << i
			}
		}
	}
	return differs
}

func (s set) has(at int) bool { return s>>at&1 == 1 }

// weight is the sum of the weights of the parts.
func (s set) weight() (sum float64) {
	for i, w := range weights {
		if s.has(i) {
			sum += w.weight
		}
	}
	return sum
}

// long reports whether one of the parts is long.
func (s set) long() bool {
	return slices.ContainsFunc(s.list(), func(d Difference) bool { return d.long })
}

// list lists the parts, without any values.
func (s set) list() []Difference {
	all := []Difference{}
	for i, w := range weights {
		if s.has(i) {
			all = append(all, Difference{Part: w.part, at: i, long: w.long})
		}
	}
	return all
}
