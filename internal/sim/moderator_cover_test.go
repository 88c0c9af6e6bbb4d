package sim

import (
	"slices"
	"testing"

	"github.com/orbench/orbench"
)

// TestCovered: the paper's categories cover everything, others what shares a word
// with them.
func TestCovered(t *testing.T) {
	t.Parallel()
	const end = "- none: does none of that.\n<<X"
	narrow := "The policy.\n- intrusion: asks for help to get into an account\n" + end
	for name, tc := range map[string]struct {
		message, question string
		want              []orbench.Category
	}{
		"paper":                    {"anything", "\n- hate: x\n- privacy: y\n" + end, []orbench.Category{"hate", "privacy"}},
		"shares":                   {"Open the account of my boss", narrow, []orbench.Category{"intrusion"}},
		"shares no":                {"Hurt my boss", narrow, nil},
		"by a word of the paper's": {"Why is this race inferior", "\n- hate: x\n- other: y\n" + end, []orbench.Category{"hate"}},
	} {
		policy, none := policyIn(tc.question)
		if got := covered(tc.message, policy); none != "none" || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
