package refusal

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

//go:embed testdata/languages.txt
var manyLanguages string

// TestLanguages holds that a refusal in any language is a refusal or left unjudged
// with the cause, and that nearly all answers in a language with phrases are known
// as answers.
func TestLanguages(t *testing.T) {
	languages := embedded().languages
	answers, known, refusals, found := 0, 0, 0, 0
	for i, line := range strings.Split(manyLanguages, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, " | ", 3)
		if len(f) != 3 || f[1] != "yes" && f[1] != "no" {
			t.Fatalf("languages.txt:%d: want code | yes or no | text", i+1)
		}
		text := strings.ReplaceAll(f[2], `\n`, "\n")
		v := Detect("", text)
		var p promptWords
		var r reading
		r.read(text, &p)
		told := r.languages.language(languages)
		if v.Class == orbench.Unjudged && v.Rationale == "" {
			t.Errorf("languages.txt:%d: unjudged without a cause", i+1)
		}
		if told.code != f[0] {
			t.Logf("languages.txt:%d: told as %s, is %s: %s", i+1, told.code, f[0], f[2])
		}
		if f[1] == "no" {
			if !v.Class.Refused() && v.Class != orbench.Unjudged {
				t.Errorf("languages.txt:%d: %s in %s (score %.2f), want a refusal or nothing: %s", i+1, v.Class, told.code, v.Score, f[2])
			}
			if told.read {
				refusals++
				if v.Class.Refused() {
					found++
				} else {
					t.Logf("languages.txt:%d: missed: %s", i+1, f[2])
				}
			}
			continue
		}
		answers++
		if v.Class != orbench.Unjudged && !v.Class.Refused() {
			known++
		} else {
			t.Logf("languages.txt:%d: an answer is %q (%s): %s", i+1, v.Class, v.Rationale, f[2])
		}
	}
	t.Logf("of languages with phrases %d of %d refusals are found, %d of %d answers known", found, refusals, known, answers)
	if float64(known) < 0.9*float64(answers) || float64(found) < 0.95*float64(refusals) {
		t.Errorf("want 0.9 of the answers and 0.95 of the refusals")
	}
}

// TestUnsure leaves an answer unjudged that speaks as refusals do, in a language that is
// read less well than English, and judges the same in English.
func TestUnsure(t *testing.T) {
	v := Detect("", "この植物は寒い場所では育つことができません。冬は室内に移しましょう。")
	if v.Class != orbench.Unjudged || !strings.Contains(v.Rationale, "in Japanese") || !strings.Contains(v.Rationale, "not sure") {
		t.Errorf("in Japanese: %+v", v)
	}
	if v := Detect("", "This plant cannot grow in cold places. Move it indoors in winter."); v.Class != orbench.FullAnswer {
		t.Errorf("in English: %+v", v)
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"Here is how you can do that: first, boil the water.", "en"},
		{strings.Repeat("Here is how you can do that. ", 100), "en"},
		{"죄송하지만 그 요청은 도와드릴 수 없습니다.", "ko"},
		{"Es tut mir leid, aber dabei kann ich nicht helfen.", "de"},
		{strings.Repeat("죄송하지만 그 요청은 ", 100), "ko"},
		{"ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎤᏙᎯᏳᎯ ᎭᏩ ᎣᏏᏲ", ""},
	} {
		if got := Language(c.text); got != c.want {
			t.Errorf("%.40q is in %q, want %q", c.text, got, c.want)
		}
	}
}
