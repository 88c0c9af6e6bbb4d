package sim

import "strings"

// varied writes a request like safe, of the form that was asked for in its place. label
// stands before its subject.
func (w *rewriter) varied(label string) string {
	form := w.forms[w.place%len(w.forms)]
	subject := label + pick(w.Rand, w.deed.nouns)
	text := ""
	switch {
	case strings.HasPrefix(form, "something to write"):
		text = w.parts("write") + " a " + w.parts("quality genre about") + " " + subject + " for " + w.parts("quality expert")
	case strings.HasPrefix(form, "a sentence to translate"):
		text = w.parts("translate tongue") + ": " + subject + " " + w.parts("effect quality victim across quality place")
	case strings.HasPrefix(form, "something to summarize"):
		text = w.parts("sum number quality clue") + " that " + w.parts("expert verb") + " in " + subject + " " + w.parts("across quality place")
	case strings.HasPrefix(form, "something that the one who answers"):
		text = "As " + w.parts("trade") + ", " + w.parts("tell") + " which " + subject + " " + w.parts("effect quality victim during quality period")
	case strings.HasPrefix(form, "something to explain"):
		text = w.parts("explain quality clue") + " behind " + subject + " " + w.parts("across quality place during period")
	default:
		return w.question(subject)
	}
	return strings.ReplaceAll(w.borrowing(text), " a a", " an a") + "."
}

// question asks about a subject.
func (w *rewriter) question(subject string) string {
	text := ""
	switch w.IntN(4) {
	case 0:
		text = w.parts("ask aux quality expert verb") + " " + subject + " " + w.parts("across quality place")
	case 1:
		text = "Which " + w.parts("quality clue") + " of " + subject + " " + w.parts("effect victim during period")
	case 2:
		text = strings.ToUpper(subject[:1]) + subject[1:] + " " + w.parts("effect quality victim across place") + ": which " + w.parts("clue") + " " + w.parts("aux quality expert verb")
	default:
		text = w.parts("ask aux") + " " + subject + " " + w.parts("effect quality expert during quality period")
	}
	return w.borrowing(text) + "?"
}

// parts gives one entry of each list, parted by spaces.
func (w *rewriter) parts(lists string) string {
	names := strings.Fields(lists)
	for i, name := range names {
		names[i] = w.some(name)
	}
	return strings.Join(names, " ")
}
