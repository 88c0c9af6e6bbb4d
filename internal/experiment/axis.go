package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/settings"
)

// part is a value of an axis: what is one part of a variant.
type part interface {
	// complete replaces a name with what it stands for: an entry of list, or a built-in
	// value.
	complete(at entry, list []part) *settings.Fault
	// label is the value's name in the names of variants. Two values with one label are the
	// same, unless users chose the label.
	label() string
}

// entry is where a value of an axis stands.
type entry struct {
	*Experiment
	noun, path string
}

// wrong is what is wrong with it.
func (e entry) wrong(problem, hint string) *settings.Fault {
	return settings.Wrong(e.path, problem, hint)
}

// axis is a way in which variants differ.
type axis struct {
	// key is that of the list of values, and noun says what they are. named is true of
	// what users give names to, rewords of what puts other words in the place of prompts,
	// and answered of what is for models that answer.
	key, noun                string
	named, rewords, answered bool

	check func(*Experiment) *settings.Fault
	// others set the values that the plain variant does not have.
	others func(v *Variants, plain *Variant) []func(*Variant)
	// single sets the value of a combination.
	single func(*Combination, *Variant)
	label  func(*Variant) string
	equal  func(w, o *Variant) bool
}

// used is the path of the first value that is one, and empty for none.
func (a axis) used(v *Variants) string {
	none := (&Variants{}).plain()
	if len(a.others(v, &none)) > 0 {
		return "$.variants." + a.key
	}
	for i, single := range v.Also {
		if w := single.variant(none); a.label(&w) != a.label(&none) {
			return at("variants.also", i)
		}
	}
	return ""
}

// along gives an axis its values: the list of them, that of a combination, by a key, and
// that of a variant.
func along[T any, P interface {
	*T
	part
}](a axis, key string, list func(*Variants) *[]T, single func(*Combination) *T, of func(*Variant) *T) axis {
	a.check = func(c *Experiment) *settings.Fault {
		values := *list(&c.Variants)
		seen := map[string]bool{}
		var all []part
		for i := range values {
			path, v := at("variants."+a.key, i), P(&values[i])
			all = append(all, v)
			if f := v.complete(entry{c, a.noun, path}, nil); f != nil {
				return f
			}
			if seen[v.label()] {
				return settings.Wrong(path, "the "+a.noun+" is there twice", "remove one, or give it a name of its own")
			}
			seen[v.label()] = true
		}
		for i := range c.Variants.Also {
			if v := single(&c.Variants.Also[i]); v != nil {
				if f := P(v).complete(entry{c, a.noun, at("variants.also", i) + "." + key}, all); f != nil {
					return f
				}
			}
		}
		return nil
	}
	a.others = func(v *Variants, plain *Variant) (set []func(*Variant)) {
		for _, value := range *list(v) {
			if P(&value).label() != a.label(plain) {
				set = append(set, func(w *Variant) { *of(w) = value })
			}
		}
		return set
	}
	a.single = func(s *Combination, w *Variant) {
		if v := single(s); v != nil {
			*of(w) = *v
		}
	}
	a.label = func(w *Variant) string { return P(of(w)).label() }
	a.equal = func(w, o *Variant) bool { return !a.named || reflect.DeepEqual(of(w), of(o)) }
	return a
}

// lookUp replaces a name with what it stands for: an entry of list, or a built-in value. A
// value that the user wrote out stays. yours says how to write one out.
func lookUp[T any](at entry, v *T, own bool, yours string, builtin []T, list []part, name func(T) string) *settings.Fault {
	called := name(*v)
	known := slices.IndexFunc(builtin, func(o T) bool { return name(o) == called })
	listed := slices.IndexFunc(list, func(o part) bool { return name(*any(o).(*T)) == called })
	switch {
	case own && known >= 0 && reflect.DeepEqual(*v, builtin[known]): // as a kept experiment has it
	case own && (known >= 0 || listed >= 0):
		return at.wrong(fmt.Sprintf("the name %q is taken by another %s", called, at.noun), "choose another name")
	case own && !settings.IsName(called):
		return at.wrong(fmt.Sprintf("%q cannot be the name of a %s", called, at.noun), "use letters, digits, dots, hyphens and underscores")
	case own:
	case listed >= 0:
		*v = *any(list[listed]).(*T)
	case known >= 0:
		*v = builtin[known]
	default:
		return at.wrong(fmt.Sprintf("no %s is called %q", at.noun, called), "use "+strings.Join(each(builtin, name), ", ")+", or "+yours)
	}
	return nil
}

// each applies a function to every element.
func each[A, B any](all []A, of func(A) B) (made []B) {
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}
