package compare

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// JUnit writes the comparison as JUnit XML, with the parts that CI servers read: one test case
// for each metric and each gate. That of a metric holds the figures; it is skipped if nothing
// could be compared. That of a gate fails if the gate does, and has an error if the gate is
// undecided.
func (c Result) JUnit(w io.Writer) error {
	type message struct {
		Message string `xml:"message,attr"`
	}
	type property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	type testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure"`
		Error   *message `xml:"error"`
		Skipped *message `xml:"skipped"`
		Out     string   `xml:"system-out,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		// Properties is empty if it is not known how the runs were made.
		Properties []property `xml:"properties>property,omitempty"`
		Cases      []testCase `xml:"testcase"`
	}{Name: "orbench compare"}
	if c.Provenance != nil {
		suite.Properties = []property{{"provenance", c.Provenance.Line()}}
	}
	class := untrusted.Terminal(table.Name(c.Title(), c.Simulated))
	for _, m := range c.Metrics {
		test := testCase{Class: class, Name: string(m.Name)}
		if m.Difference == nil {
			suite.Skipped++
			test.Skipped = &message{untrusted.Terminal(strings.Join(append([]string{c.Verdict(m)}, c.Warnings()...), " "))}
		} else {
			if c.Simulated {
				test.Out = table.SimulatedNotice + " "
			}
			for _, line := range c.Warnings() {
				test.Out += "Warning. " + untrusted.Terminal(line) + " "
			}
			test.Out += untrusted.Terminal(strings.Join([]string{c.Verdict(m), "The difference by " + c.Candidate.Judge + ": range", c.Range(m) + "; by verdicts", table.DifferenceInterval(m.Difference, table.Hyphen) + ".", c.Account(m)}, " "))
		}
		suite.Cases = append(suite.Cases, test)
	}
	for _, g := range c.Gates {
		test := testCase{Class: class, Name: "gate: " + untrusted.Terminal(g.Gate)}
		switch g.Status {
		case Tripped:
			suite.Failures++
			test.Failure = &message{untrusted.Terminal(g.why())}
		case Undecided:
			suite.Errors++
			test.Error = &message{untrusted.Terminal(g.why())}
		case Passed:
			test.Out = untrusted.Terminal(g.why())
		}
		suite.Cases = append(suite.Cases, test)
	}
	suite.Tests = len(suite.Cases)
	b, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(b)+"\n")
	return err
}
