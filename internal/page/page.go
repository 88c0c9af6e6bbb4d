package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

var (
	//go:embed assets
	assets embed.FS
	//go:embed templates
	templates embed.FS
	// Style is the style sheet of all pages.
	//
	//go:embed assets/page.css
	Style string
	// Script has the keys and switches of pages with answers, and what chooses figures.
	//
	//go:embed assets/page.js
	Script string
)

// Assets holds the files that pages of a server load: the style sheet and the scripts.
func Assets() fs.FS {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return files
}

// Frame is what every page has around its own content. The data of a page embeds it, and
// its template calls "top" and "bottom".
type Frame struct {
	Title string
	// Static is the address of Assets, with a slash at its end. Without one the page is a
	// file: Inline is its style and script, and Policy its Content-Security-Policy.
	Static string
	Inline Inline
	Policy string
	// Menu links to the other pages of a server.
	Menu []Link
	// Simulated says that some figures are of simulated models.
	Simulated bool
	// Redacted says that the texts of prompts and answers are left out.
	Redacted bool
}

// Inline is the style and the script within a page.
type Inline struct {
	Style  template.CSS
	Script template.JS
}

// Link is a link of a page. Here is true for the page itself. Set is the parameters that
// the link sets, as in an address; empty where it sets none.
type Link struct {
	Text, Address, Set string
	Here               bool
}

// Notice says that models are simulated.
func (Frame) Notice() string { return table.SimulatedNotice }

// File is the frame of a page that is a file with a script of its own, if script is not
// empty, and loads images alone. The script may load what loads allows, which are expressions of
// a Content-Security-Policy.
func File(title, style, script string, loads ...string) Frame {
	allowed := []string{"'none'"}
	if script != "" {
		sum := sha256.Sum256([]byte(script))
		allowed = append([]string{"'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}, loads...)
	}
	return Frame{
		Title: title, Inline: Inline{template.CSS(style), template.JS(script)},
		Policy: "default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'; script-src " + strings.Join(allowed, " ") + "; base-uri 'none'; form-action 'none'",
	}
}

// Parse parses the templates of a page, with those that all pages share: top, bottom, grid,
// verdicts, list for Answers, row for a Row, cell for a Shown, and study for one in a list.
func Parse(name, text string, more template.FuncMap) (*template.Template, error) {
	t := template.New(name).Funcs(template.FuncMap{
		"word": func(s string) string { return s }, "count": table.Count, "category": table.Category,
		"className": ClassName, "verdictClass": verdictClass, "spaced": Spaced, "redacted": func() string { return redacted },
	}).Funcs(more)
	t, err := t.ParseFS(templates, "templates/*.html")
	if err != nil {
		return nil, err
	}
	return t.New(name).Parse(text)
}

// redacted is the notice of pages without texts.
const redacted = "The texts of prompts and answers, what judges wrote about them, and the words of errors are left out."

// Spaced is a name as people write it.
func Spaced(name any) string { return strings.ReplaceAll(fmt.Sprint(name), "_", " ") }

// ClassName returns a class's name for people.
func ClassName(c orbench.Class) string {
	if c == orbench.Unjudged {
		return "unjudged"
	}
	return strings.ReplaceAll(string(c), "_", " ")
}

// verdictClass returns the style of a verdict.
func verdictClass(v score.JudgeVerdict) string {
	switch {
	case v.Class == orbench.Unjudged:
		return "unjudged"
	case v.Class.Refused():
		return "refused"
	}
	return "answered"
}
