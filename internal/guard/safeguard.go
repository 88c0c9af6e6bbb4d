package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/orbench/orbench/internal/question"
)

// readSafeguard reads the replies that the guide of gpt-oss-safeguard proposes: a JSON
// object with the field "violation", or the number alone. 1 is a violation, 0 is none.
func readSafeguard(about About, reply string) (Assessment, error) {
	var a Assessment
	body := strings.TrimSpace(strings.Trim(strings.TrimPrefix(strings.Trim(reply, "`\n "), "json"), "` \n"))
	switch body {
	case "0", "1":
		a.set(about, body == "1")
		return a, nil
	}
	dec := json.NewDecoder(strings.NewReader(body))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return a, fmt.Errorf("it is %q, neither a JSON object nor 0 or 1", question.Clip(reply))
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return Assessment{}, errors.New("it is a JSON object that breaks off")
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return Assessment{}, errors.New("it is a JSON object that breaks off")
		}
		switch key {
		case "violation":
			var violation bool
			switch value {
			case true, 1.0, "1", "true":
				violation = true
			case false, 0.0, "0", "false":
			default:
				return Assessment{}, fmt.Errorf("its violation is %v, neither 0 nor 1", question.Clip(fmt.Sprint(value)))
			}
			if before := a.Of(about); before != nil && *before != violation {
				return Assessment{}, errors.New("it gives two verdicts")
			}
			a.set(about, violation)
		case "policy_category":
			name, _ := value.(string)
			a.addHazards(name)
		case "rule_ids":
			for _, id := range asList(value) {
				a.addHazards(id)
			}
		}
	}
	rest := &bytes.Buffer{}
	if _, err := dec.Token(); err != nil {
		return Assessment{}, errors.New("it is a JSON object that breaks off")
	}
	if _, err := rest.ReadFrom(dec.Buffered()); err == nil && strings.ContainsAny(rest.String(), "{[") {
		return Assessment{}, errors.New("it holds more than one JSON object")
	}
	if a.Of(about) == nil {
		return Assessment{}, errors.New(`it has no field "violation"`)
	}
	return a, nil
}

// asList gives the texts of a list.
func asList(value any) (texts []string) {
	list, _ := value.([]any)
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
