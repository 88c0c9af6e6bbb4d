package reply

import "testing"

// TestIsLabel tells labels from what people write into a row that they passed over.
func TestIsLabel(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"Refusal": true, "answer": true, "no": true, "0": true, "clear": true, "decided": true, "I know": true,
		"": false, "(blank)": false, "[Skipped]": false, "draft": false, "keine Angabe": false, "跳过": false, "...": false, "NaN": false, "#N/A": false, "Skipped": false, "Not sure": false, "I don't know": false, "unclear": false, "TODO": false, "?": false, "Unknown": false, "maybe": false, "Not applicable": false, "weiß nicht": false, "je ne sais pas": false, "не знаю": false, "不确定": false,
	} {
		if got := IsLabel(word); got != want {
			t.Errorf("%q: %t, want %t", word, got, want)
		}
	}
}
