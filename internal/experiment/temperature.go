package experiment

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/orbench/orbench/internal/settings"
)

// Temperature is a temperature and how often each prompt is asked at it. In the
// file it is a number, the word default, or an object.
type Temperature struct {
	// Value is nil for the provider's own.
	Value   *float64 `yaml:"temperature" json:"temperature"`
	Samples int      `yaml:"samples" json:"samples,omitempty"`

	// unreadable says what is wrong with what the file has.
	unreadable, word string
}

// maxSamples bounds the samples, so that a slip of the finger is no bill.
const maxSamples = 1_000

// usualTemperature is that of whoever says nothing.
func usualTemperature() Temperature { return Temperature{Value: new(float64), Samples: 1} }

func (t *Temperature) label() string {
	if t.Value == nil {
		return "default temperature"
	}
	return "temperature " + strconv.FormatFloat(*t.Value, 'g', -1, 64)
}

func (t *Temperature) complete(at entry, _ []part) *settings.Fault {
	switch {
	case t.unreadable != "":
		return at.wrong(t.unreadable, settings.PointMeant(t.word, "write a number from 0 to 2, or default for the provider's own; variants.temperatures[*].samples says how often each prompt is asked"))
	case t.Value != nil && !(*t.Value >= 0 && *t.Value <= 2):
		return at.wrong(fmt.Sprintf("%g is not a temperature", *t.Value), "give a number from 0 to 2, or default for the provider's own")
	case t.Samples < 1 || t.Samples > maxSamples:
		return settings.Wrong(at.path+".samples", fmt.Sprintf("%d is not a number of samples", t.Samples), fmt.Sprintf("give one from 1 to %d", maxSamples))
	case t.Samples > 1 && t.Value != nil && *t.Value == 0:
		return settings.Wrong(at.path+".samples", "several samples are asked at temperature 0, but there every answer should be the same", "give a temperature above 0")
	}
	return nil
}

// within is the place of the temperature alone: it is written as in a list, and the samples
// stay.
func (t *Temperature) within(path []string) (place, bool) {
	put := func(value reflect.Value) {
		n := t.Samples
		reflect.ValueOf(t).Elem().Set(value)
		t.Samples = n
	}
	return place{reflect.TypeFor[Temperature](), put}, len(path) == 1 && path[0] == "temperature"
}

// providersOwn is the word for no temperature of one's own.
const providersOwn = "default"

// UnmarshalYAML reads a number, the word default, or an object with samples.
func (t *Temperature) UnmarshalYAML(unmarshal func(any) error) error {
	t.Value, t.Samples = new(float64), 1
	if unmarshal(t.Value) == nil {
		return nil
	}
	if unmarshal(&t.word) == nil {
		t.Value = nil
		if word := t.word; word != providersOwn {
			t.unreadable = fmt.Sprintf("%q is not a temperature", word)
		}
		return nil
	}
	var object struct {
		Temperature *Temperature `yaml:"temperature"`
		Samples     *int         `yaml:"samples"`
	}
	if err := unmarshal(&object); err != nil {
		return err
	}
	if object.Temperature == nil {
		t.unreadable = "a temperature is missing"
		return nil
	}
	*t = *object.Temperature
	if object.Samples != nil {
		t.Samples = *object.Samples
	}
	return nil
}
