package settings

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/orbench/orbench"
)

// Bounds on the cost of reading a text of settings. The YAML reader has none: 100 kB of
// opening brackets cost it gigabytes, ten lines of nested aliases cost more memory than
// any machine has, and the time for a mapping grows with the square of its keys.
const (
	// maxText is the longest text in bytes, both before and after aliases are expanded. A
	// list of thousands of entries is shorter.
	maxText = 1 << 20
	// maxDepth is the deepest nesting of lists and mappings.
	maxDepth = 100
	// maxKeys is the most keys of one mapping.
	maxKeys = 10_000
)

// bound says which bound a text exceeds, as an *orbench.InputError; nil means none.
// Errors call the file name.
func bound(name string, text []byte) error {
	exceeds := func(line int, problem string) error {
		return &orbench.InputError{File: name, Line: line, Problem: problem, Hint: "shorten it, or split the file"}
	}
	if len(text) > maxText {
		return exceeds(1, fmt.Sprintf("the file has more than %d bytes", maxText))
	}
	tokens := lexer.Tokenize(string(text))
	var open nesting
	aliases := 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceEntryType, token.MappingKeyType:
			open.block(t.Position.Column, 0)
		case token.MappingValueType:
			if i > 0 {
				open.block(tokens[i-1].Position.Column, 1)
			}
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, level{flow: true})
		case token.SequenceEndType, token.MappingEndType:
			open.close()
		case token.AliasType:
			aliases++
		}
		switch deepest := len(open) - 1; {
		case deepest >= maxDepth:
			return exceeds(t.Position.Line, fmt.Sprintf("more than %d lists and mappings are nested here", maxDepth))
		case deepest >= 0 && open[deepest].keys > maxKeys:
			return exceeds(t.Position.Line, fmt.Sprintf("the mapping has more than %d keys here", maxKeys))
		}
	}
	if aliases == 0 {
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil // reading it says what is wrong, and where
	}
	e := expansion{anchors: map[string]int{}}
	for _, d := range file.Docs {
		if d.Body != nil {
			ast.Walk(&e, d.Body)
		}
	}
	switch {
	case e.twice != nil:
		return exceeds(e.twice.Position.Line, fmt.Sprintf("a second anchor is called %.40q", e.twice.Value))
	case e.tooMuch != nil:
		return exceeds(e.tooMuch.Position.Line, fmt.Sprintf("with its aliases expanded, the file has more than %d bytes", maxText))
	}
	return nil
}

// level is a list or mapping that is open at a position in a text.
type level struct {
	// column is the column of its entries, if it is not within brackets.
	column int
	flow   bool
	keys   int
}

// nesting are the open levels at a position in a text, from the outermost.
type nesting []level

// block is an entry at a column, with the given number of keys. Columns mean nothing
// within brackets.
func (n *nesting) block(column, keys int) {
	s := *n
	for len(s) > 0 && !s[len(s)-1].flow && s[len(s)-1].column > column {
		s = s[:len(s)-1]
	}
	if last := len(s) - 1; last < 0 || !s[last].flow && s[last].column < column {
		s = append(s, level{column: column})
	}
	s[len(s)-1].keys += keys
	*n = s
}

// close ends the innermost level within brackets, and those inside it.
func (n *nesting) close() {
	for i := len(*n) - 1; i >= 0; i-- {
		if (*n)[i].flow {
			*n = (*n)[:i]
			return
		}
	}
}

// expansion measures a text with every alias expanded.
type expansion struct {
	size int
	// anchors are the sizes of the values at the anchors.
	anchors map[string]int
	// twice is the name of an anchor that occurs twice. tooMuch is the place where the
	// size exceeded maxText.
	twice, tooMuch *token.Token
}

// Visit implements ast.Visitor.
func (e *expansion) Visit(n ast.Node) ast.Visitor {
	if e.twice != nil || e.tooMuch != nil {
		return nil
	}
	at := n.GetToken()
	switch n := n.(type) {
	case *ast.AnchorNode:
		name := n.Name.GetToken()
		if _, ok := e.anchors[name.Value]; ok {
			e.twice = name
			return nil
		}
		before := e.size
		ast.Walk(e, n.Value)
		e.anchors[name.Value] = e.size - before
		return nil
	case *ast.AliasNode:
		e.size += 1 + e.anchors[n.Value.GetToken().Value]
	case *ast.StringNode:
		e.size += 1 + len(n.Value)
	default:
		e.size++
	}
	if e.size > maxText {
		e.tooMuch = at
		return nil
	}
	if _, ok := n.(*ast.AliasNode); ok {
		return nil
	}
	return e
}
