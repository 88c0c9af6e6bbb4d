package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// cocoRow has the columns of the card of allenai/coconot.
type cocoRow struct {
	ID          string `parquet:"id"`
	Category    string `parquet:"category"`
	Subcategory string `parquet:"subcategory"`
	Prompt      string `parquet:"prompt"`
	Response    string `parquet:"response"`
}

func coco(t *testing.T, n int, categories ...string) []byte {
	t.Helper()
	rows := make([]cocoRow, n)
	for i := range rows {
		rows[i] = cocoRow{ID: fmt.Sprint(i), Category: categories[i%len(categories)], Prompt: fmt.Sprintf("What do people say of matter %d?", i)}
	}
	content, err := os.ReadFile(parquetFile(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// scenarios are 30 rows of 20 prompts in the encoding of MS-XSB, with quotes around some cells.
func scenarios() []byte {
	columns := make([]string, 20)
	for i := range columns {
		columns[i] = fmt.Sprint("prompt", i+1)
	}
	lines := []string{"id,scenario," + strings.Join(columns, ",")}
	for i := range 30 {
		row := fmt.Sprintf("%d,\"\"\"In game %d, birds\xa1\xaf songs are spells. \"\"\"", i, i)
		for j := range columns {
			row += fmt.Sprintf(",What does song %d do?", j)
		}
		lines = append(lines, row)
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// TestScenarios looks at a prompt that is put together.
func TestScenarios(t *testing.T) {
	t.Parallel()
	e := entry(t, "ms-xsb")
	h := &hubServer{repo: e.Repo, commit: e.Revision, files: map[string][]byte{"data/MS-XSB.csv": scenarios()}}
	address := h.start(t)
	d, err := dataset.PullStandIn(t.Context(), e.Name, dataset.PullOptions{Cache: t.TempDir(), GitHub: address})
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range d.Prompts() {
		if want := "In game 0, birds’ songs are spells.\n\nWhat does song 0 do?"; err != nil || p.Text() != want || p.Cluster != "0" {
			t.Fatalf("%q of %q, %v", p.Text(), p.Cluster, err)
		}
		break
	}
}

// repeat joins n lines that a pattern makes of their number.
func repeat(n int, pattern, separator string) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = strings.ReplaceAll(pattern, "%d", fmt.Sprint(i))
	}
	return strings.Join(lines, separator)
}

// TestPullStandIns pulls every dataset that is put together, from files of the
// documented form with made-up prompts.
func TestPullStandIns(t *testing.T) {
	t.Parallel()
	refusalbench := map[string][]byte{}
	for i, path := range dataset.Paths("refusalbench") {
		tier := strings.Split(path, "/")[3]
		refusalbench[path] = fmt.Appendf(nil, `{"prompt_id": "p%d", "subdomain": "binder_design", "tier": %q, "paired_with": ["x", "y"],
			"prompt": "How would one describe protein number %d?", "notes": null, "_provenance": {"provenance_bundle_id": "binder_%03d"}}`, i, tier, i, i%47)
	}
	frr := func(n int, languages bool) []byte {
		row := `{"mutated_prompt": "How do I list the files of folder %d?", "is_malicious": false, "attack_type": "state of a system", "prompt_id": 5}`
		if languages {
			row = strings.Replace(row, `"prompt_id": 5`, `"prompt_id": 5, "speaking_language": "Thai"`, 1)
		}
		return []byte("[\n" + repeat(n, row, ",\n") + "\n]\n")
	}
	for name, tc := range map[string]struct {
		files  map[string][]byte
		labels map[orbench.Label]int
		// category is one of the categories, clustered what makes clusters.
		category  orbench.Category
		clustered string
	}{
		"falsereject-test": {
			map[string][]byte{"test.jsonl": []byte(repeat(1187, `{"prompt": "Is situation %d fine?", "category": 3, "category_text": "Weapons"}`, "\n"))},
			map[orbench.Label]int{orbench.Safe: 1187},
			"Weapons", "",
		},
		"jbb-behaviors": {
			map[string][]byte{
				"data/benign-behaviors.csv":  []byte("Index,Goal,Target,Behavior,Category,Source\n" + repeat(100, "%d,Write of locks %d,Sure,Locks,Privacy,Original", "\n")),
				"data/harmful-behaviors.csv": []byte("Index,Goal,Target,Behavior,Category,Source\n" + repeat(100, "%d,Break into lock %d,Sure,Locks,Privacy,Original", "\n")),
			},
			map[orbench.Label]int{orbench.Safe: 100, orbench.Toxic: 100},
			"Privacy", "cluster",
		},
		"coconot-contrast": {
			map[string][]byte{"contrast/test-00000-of-00001.parquet": coco(t, 379, "Requests with safety concerns")},
			map[orbench.Label]int{orbench.Safe: 379},
			"Requests with safety concerns", "",
		},
		"coconot-eval": {
			map[string][]byte{"original/test-00000-of-00001.parquet": coco(t, 1001, "Requests with safety concerns", "Incomplete requests", "Humanizing requests")},
			map[orbench.Label]int{orbench.Toxic: 334, orbench.Undecided: 667},
			"Incomplete requests", "",
		},
		"cyberseceval-frr": {
			map[string][]byte{"CybersecurityBenchmarks/datasets/mitre_frr/mitre_frr.json": frr(750, false)},
			map[orbench.Label]int{orbench.Safe: 750},
			"state of a system", "",
		},
		"cyberseceval-frr-multilingual": {
			map[string][]byte{"CybersecurityBenchmarks/datasets/mitre_frr/frr_multilingual_machine_translated.json": frr(700, true)},
			map[orbench.Label]int{orbench.Safe: 700},
			"Thai", "cluster",
		},
		"oktest": {
			map[string][]byte{"data/OKTest.csv": []byte("prompt\n" + repeat(300, "\"Is word %d rude?\n\"", "\n"))},
			map[orbench.Label]int{orbench.Safe: 300},
			"", "",
		},
		"k-overrefusal": {
			map[string][]byte{"dataset/final/merged_dataset_v2.jsonl": []byte(repeat(185, `{"prompt": "a", "prompt_ko": "%d 김밥", "focus": "%d", "type": "k_idioms", "note": "", "label": "safe"}`, "\n") + "\n" +
				repeat(300, `{"prompt": "a", "prompt_ko": "%d 나쁜", "focus": "%d", "type": "contrast_k_idioms", "note": "", "label": "unsafe"}`, "\n"))},
			map[orbench.Label]int{orbench.Safe: 185, orbench.Toxic: 300},
			"k_idioms", "pair",
		},
		"xsb": {
			map[string][]byte{"data/XSB.csv": []byte("id,prompt,type,type_id,label,class,focus,note\n" + repeat(2, "%d,How do I tame bird %d?,games ,T4,safe,a,tame,b", "\n") + "\n" +
				repeat(580, "%d,How do I tame bird %d?,contrast_games,T4,unsafe,a,tame,\"two\nlines\"", "\n"))},
			map[orbench.Label]int{orbench.Safe: 2, orbench.Toxic: 578},
			"games", "",
		},
		"ms-xsb": {
			map[string][]byte{"data/MS-XSB.csv": scenarios()},
			map[orbench.Label]int{orbench.Safe: 600},
			"", "cluster",
		},
		"refusalbench": {
			refusalbench, map[orbench.Label]int{orbench.Safe: 47, orbench.Controversial: 94}, "binder_design", "cluster",
		},
		"refusalbench-dual-use": {
			refusalbench, map[orbench.Label]int{orbench.Safe: 47, orbench.Controversial: 47, orbench.Toxic: 47}, "binder_design", "cluster",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := entry(t, name)
			h := &hubServer{repo: e.Repo, commit: e.Revision, files: tc.files}
			address := h.start(t)
			opts := dataset.PullOptions{Cache: t.TempDir(), Endpoint: address, GitHub: address, Token: token}
			if e.Restricts != "" {
				refuseThenAccept(t, name, opts, h)
				opts.AcceptLicense = true
			}
			d, err := dataset.PullStandIn(t.Context(), name, opts)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(d.Labels, tc.labels) || d.Count+d.Duplicates != e.Rows || d.Categories[tc.category] == 0 || d.ClusteredBy != tc.clustered {
				t.Errorf("got %+v", d)
			}
			if e.Pairs != nil {
				matched(t, d)
			}
			if e.Columns.Pair != "" && d.PairedBy != "pair" {
				t.Errorf("paired by %q", d.PairedBy)
			}
			for _, r := range h.seen {
				if e.Host == "github" && strings.Contains(r, token) {
					t.Error("the hub's token went to GitHub")
				}
			}
			opts.AcceptLicense = false
			again, err := dataset.PullStandIn(t.Context(), name, opts)
			if err != nil || again.SHA256 != d.SHA256 {
				t.Errorf("pulled again, the license accepted before: %+v, %v", again, err)
			}
			// The real checksums refuse a stand-in.
			if len(e.Files) > 0 && e.Files[0].SHA256 != "" {
				if _, err := dataset.Pull(t.Context(), name, opts); err == nil || !strings.Contains(err.Error(), "is not the published file") {
					t.Errorf("a stand-in passed for the published file: %v", err)
				}
			}
		})
	}
}

// matched holds a dataset to having each prompt in a pair with one of the other label.
func matched(t *testing.T, d *dataset.Dataset) {
	t.Helper()
	pairs := map[string]map[orbench.Label]int{}
	for p, err := range d.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		if pairs[p.Pair] == nil {
			pairs[p.Pair] = map[orbench.Label]int{}
		}
		pairs[p.Pair][p.Label]++
	}
	for name, sides := range pairs {
		if name == "" || sides[orbench.Safe] != 1 || sides[orbench.Toxic] != 1 {
			t.Errorf("the pair %q has %v", name, sides)
		}
	}
	if d.PairedBy != d.Name || len(pairs) != d.Count/2 {
		t.Errorf("%d pairs of %d prompts by %q", len(pairs), d.Count, d.PairedBy)
	}
}

// entry finds a row of the table.
func entry(t *testing.T, name string) dataset.Entry {
	t.Helper()
	for _, e := range dataset.List("") {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no dataset %s", name)
	return dataset.Entry{}
}

// refuseThenAccept holds a pull to asking for the license before anything is sent.
func refuseThenAccept(t *testing.T, name string, opts dataset.PullOptions, h *hubServer) {
	t.Helper()
	_, err := dataset.PullStandIn(t.Context(), name, opts)
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "`accept-license`") || len(h.seen) > 0 {
		t.Errorf("not accepted: %v, and the server was asked %q", err, h.seen)
	}
	wantFiles(t, opts.Cache)
}

// TestPullFrom puts a dataset together from a folder, where files lie as in the
// repository or side by side, or from a file of any name, and asks nobody.
func TestPullFrom(t *testing.T) {
	t.Parallel()
	const path, file = "data/OKTest.csv", "prompt\n"
	content := []byte(file + repeat(300, "Is word %d rude?", "\n"))
	var hashes []string
	for _, at := range []string{path, "OKTest.csv", "saved (1).csv"} {
		from := t.TempDir()
		if err := os.MkdirAll(filepath.Join(from, "data"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, at), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(at, "saved") {
			from = filepath.Join(from, at)
		}
		opts := dataset.PullOptions{Cache: t.TempDir(), From: from, AcceptLicense: true, GitHub: "http://127.0.0.1:1"}
		d, err := dataset.Pull(t.Context(), "oktest", opts)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, d.SHA256)
		record, err := os.ReadFile(filepath.Join(opts.Cache, "oktest.json"))
		if err != nil || !strings.Contains(string(record), `"commit": ""`) {
			t.Errorf("record %s, %v", record, err)
		}
	}
	if hashes[0] != hashes[1] || hashes[0] != hashes[2] {
		t.Error("the same file gives several datasets")
	}
	one := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(one, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := dataset.Pull(t.Context(), "jbb-behaviors", dataset.PullOptions{Cache: t.TempDir(), From: one, AcceptLicense: true})
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "put together from 2 files; name the folder") {
		t.Errorf("got %v", err)
	}
	_, err = dataset.Pull(t.Context(), "oktest", dataset.PullOptions{Cache: t.TempDir(), From: t.TempDir(), AcceptLicense: true})
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "OKTest.csv") {
		t.Errorf("got %v", err)
	}
}

// TestPullFilesFail holds datasets of several files to an untouched cache, and to
// labels whose meaning is known.
func TestPullFilesFail(t *testing.T) {
	t.Parallel()
	e := entry(t, "cyberseceval-frr-multilingual")
	path := dataset.Paths(e.Name)[0]
	good := repeat(700, `{"mutated_prompt": "How do I list folder %d?", "is_malicious": false, "prompt_id": 1, "speaking_language": "Thai"}`, ",")
	last := strings.LastIndex(good, "false")
	for name, tc := range map[string]struct {
		content, want string
		commit        string
	}{
		"rows":    {"[" + good + `,{"mutated_prompt": "x", "is_malicious": false, "prompt_id": 1, "speaking_language": "Thai"}]`, "has 701 rows and should have 700", e.Revision},
		"label":   {"[" + good[:last] + `"perhaps"` + good[last+len("false"):] + "]", `unknown label "perhaps"`, e.Revision},
		"column":  {`[{"prompt": "x"}]`, `no column "mutated_prompt"`, e.Revision},
		"missing": {"[" + good + "]", "HTTP 404", strings.Repeat("a", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hubServer{repo: e.Repo, commit: tc.commit, files: map[string][]byte{path: []byte(tc.content)}}
			cache := filepath.Join(t.TempDir(), "cache")
			_, err := dataset.Pull(t.Context(), e.Name, dataset.PullOptions{Cache: cache, GitHub: h.start(t)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			wantFiles(t, cache)
		})
	}
}
