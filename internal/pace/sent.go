package pace

// sent is what became of the last calls of this process, in the order in which they were
// sent. Rejects come back sooner than answers, so that the order in which calls end tells
// little: of calls sent next to each other, those that were not rejected with the others are
// still worked on.
type sent struct {
	calls [256]one
	// last numbers the calls from 1, and uncounted is how many were rejected and are not counted.
	last      uint64
	uncounted int
}

// one is a call that was sent when so many were under way, itself among them.
type one struct {
	number uint64
	epoch  int
	width  int
	end    end
	// counted is true for a reject that is counted.
	counted bool
}

const (
	// A provider is closed where so many of the last so many calls sent were rejected: while
	// no rate is known, and when one is.
	freeRejects, freeOf   = 6, 8
	pacedRejects, pacedOf = 3, 4
	// settled is among how many accepted calls the one with the most others beside it is
	// looked for.
	settled = 64
	// crowded is how many rejects show that they are for the number of calls under way, and
	// crowdedAgain how many where others have shown it before.
	crowded, crowdedAgain = 4, 2
)

// add notes a call that goes.
func (s *sent) add(mine *Pass, width int) {
	s.last++
	mine.number = s.last
	s.settle(s.at(s.last))
	*s.at(s.last) = one{number: s.last, epoch: mine.epoch, width: width}
}

func (s *sent) at(number uint64) *one { return &s.calls[number%uint64(len(s.calls))] }

// end notes what became of a call.
func (s *sent) end(mine Pass, e end) {
	if c := s.at(mine.number); c.number == mine.number && mine.number > 0 {
		c.end = e
		if e == rejected {
			s.uncounted++
		}
	}
}

// settle counts a reject.
func (s *sent) settle(c *one) (is bool) {
	if c.end != rejected || c.counted {
		return false
	}
	c.counted = true
	s.uncounted--
	return true
}

// rejectsBefore counts those rejects of an accepted call's epoch that were sent before it and
// that no call before has counted.
func (s *sent) rejectsBefore(mine Pass) (n int) {
	for i := mine.number; i > 0 && i+uint64(len(s.calls)) > s.last && s.uncounted > 0; i-- {
		if c := s.at(i); s.settle(c) && c.epoch == mine.epoch {
			n++
		}
	}
	return n
}

// nearlyAll reports whether so many of the last calls sent until one were rejected, all of
// one epoch.
func (s *sent) nearlyAll(until Pass, rejects, of int) bool {
	n := 0
	for i := range uint64(of) {
		if until.number <= i {
			break
		}
		if c := s.at(until.number - i); c.number == until.number-i && c.epoch == until.epoch && c.end == rejected {
			n++
		}
	}
	return n >= rejects
}

// room is how many calls the provider has room for, 0 where that is not known: the most that
// were under way with an accepted call, where the last so many that were sent with more were
// rejected, whatever their rate.
func (s *sent) room(until Pass, rejects int) int {
	mine := s.at(until.number)
	if mine.number != until.number || until.number == 0 {
		return 0
	}
	room, accepts, oldest := 0, 0, s.last
	for i := s.last; i > 0 && i+uint64(len(s.calls)) > s.last && accepts < settled; i-- {
		if c := s.at(i); c.end == accepted {
			room, accepts, oldest = max(room, c.width), accepts+1, i
		}
	}
	if accepts < settled/4 || mine.width <= room {
		return 0
	}
	// Where others are rejected as well, it is not for their number.
	within := 0
	for i := oldest; i <= s.last; i++ {
		if c := s.at(i); c.end == rejected && c.width <= room {
			within++
		}
	}
	if within*8 > accepts {
		return 0
	}
	for i := until.number - 1; i > 0 && i+uint64(len(s.calls)) > s.last; i-- {
		switch c := s.at(i); {
		case c.width <= room:
		case c.end != rejected:
			return 0
		default:
			if rejects--; rejects <= 1 {
				return room
			}
		}
	}
	return 0
}
