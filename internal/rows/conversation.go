package rows

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// conversation is one of a log in which each row is a message, or a part of one.
type conversation struct {
	said []orbench.Message
	// last has the row of the last message, with what the rows before say besides texts, and
	// id the ID of that message.
	last Record
	id   string
	// replied is true after a reply, and told where its record was given.
	replied, told bool
}

// add takes in a row. A part of a message is joined to what came before of it.
func (c *conversation) add(r Record, role string) {
	part, id := r.cells[partChunk], r.cells[partMessageID]
	text := cmp.Or(part, r.cells[partPrompt], r.cells[partReply])
	if text == "" {
		return
	}
	if part == "" {
		text = sayingOf(text, nil).reply
	}
	replies, n := slices.Contains(assistants, role), len(c.said)
	if c.replied && !replies {
		// A new exchange has the user of the one before, and nothing else of it.
		c.last = Record{cells: [parts]string{partUser: c.last.cells[partUser]}}
	}
	for i, cell := range r.cells {
		if r.cells[i] = cmp.Or(cell, c.last.cells[i]); i == partUser && cell == r.cells[partConversation] {
			r.cells[i] = cmp.Or(c.last.cells[i], cell) // it has no user
		}
	}
	if n > 0 && string(c.said[n-1].Role) == role && (part != "" || id != "") && id == c.id {
		c.said[n-1].Content += text
	} else {
		c.said = append(c.said, orbench.Message{Role: orbench.Role(role), Content: text})
	}
	c.last, c.id, c.replied, c.told = r, id, replies, false
}

// record gives the last exchange, with all that was said before.
func (c *conversation) record() (Record, error) {
	said, err := json.Marshal(c.said)
	r := c.last
	r.cells[partPrompt], r.cells[partReply], c.told = string(said), "", true
	return r, err
}

// exchanges joins rows that are messages, by the column that says of which conversation they
// are. A reply is known to be whole when another message follows or the file ends, so all
// conversations are held until then.
func (l *Log) exchanges(yield func(Record, error) bool) {
	open, order := map[string]*conversation{}, []*conversation(nil)
	for r, err := range l.rows {
		if err != nil {
			yield(r, err)
			return
		}
		role := strings.ToLower(strings.TrimSpace(r.cells[partRole]))
		role = cmp.Or(l.columns.Roles[role], role)
		of := r.cells[partConversation]
		c, known := open[of]
		if !known {
			c = &conversation{}
			open[of], order = c, append(order, c)
		}
		if c.replied && !c.told && !slices.Contains(assistants, role) && !yield(c.record()) {
			return
		}
		c.add(r, role)
	}
	for _, c := range order {
		if len(c.said) > 0 && !c.told && !yield(c.record()) {
			return
		}
	}
}
