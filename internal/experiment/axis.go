package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/settings"
)

// value is what an axis has values of: a pointer to T.
type value[T any] interface {
	*T
	// complete puts what a name stands for in the place of the name: that of an entry of
	// list, or a built-in one.
	complete(c *Config, path string, list []T) *settings.Fault
	// label is the name in the names of variants. Two values of one label are the same,
	// unless they are what users call so.
	label() string
}

// axis is a way in which variants differ.
type axis struct {
	// key is that of the list of values, and noun says what they are. named is true of
	// what users give names to, rewords of what puts other words in the place of prompts.
	key, noun      string
	named, rewords bool

	check func(*Config) *settings.Fault
	// others set the values that the plain variant does not have.
	others func(v *Variants, plain *Variant) []func(*Variant)
	// single sets what a combination says.
	single func(*Combination, *Variant)
	label  func(*Variant) string
	equal  func(w, o *Variant) bool
}

// along gives an axis its values: the list of them, that of a combination, by a key, and
// that of a variant.
func along[T any, P value[T]](a axis, key string, list func(*Variants) *[]T, single func(*Combination) *T, of func(*Variant) *T) axis {
	a.check = func(c *Config) *settings.Fault {
		values := *list(&c.Variants)
		seen := map[string]bool{}
		for i := range values {
			path, v := at("variants."+a.key, i), P(&values[i])
			if f := v.complete(c, path, nil); f != nil {
				return f
			}
			if seen[v.label()] {
				return settings.Wrong(path, "the "+a.noun+" is there twice", "remove one, or give it a name of its own")
			}
			seen[v.label()] = true
		}
		for i := range c.Variants.Also {
			if v := single(&c.Variants.Also[i]); v != nil {
				if f := P(v).complete(c, at("variants.also", i)+"."+key, values); f != nil {
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

// lookUp puts what a name stands for in the place of a value that is no own one of the
// user: an entry of list, or a built-in value. yours is how to write an own one.
func lookUp[T any](v *T, own bool, noun, yours, path string, builtin, list []T, name func(T) string) *settings.Fault {
	called := name(*v)
	same := func(o T) bool { return name(o) == called }
	known, listed := slices.IndexFunc(builtin, same), slices.IndexFunc(list, same)
	switch {
	case own && (known >= 0 || listed >= 0):
		return settings.Wrong(path, fmt.Sprintf("the name %q has a %s already", called, noun), "choose another name")
	case own && !settings.IsName(called):
		return settings.Wrong(path, fmt.Sprintf("%q is no name for a %s", called, noun), "use letters, digits, dots, hyphens and underscores")
	case own:
	case listed >= 0:
		*v = list[listed]
	case known >= 0:
		*v = builtin[known]
	default:
		return settings.Wrong(path, fmt.Sprintf("no %s is called %q", noun, called), "use "+strings.Join(named(builtin, name), ", ")+", or "+yours)
	}
	return nil
}

// named lists the names of what has one.
func named[T any](all []T, name func(T) string) []string {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}
