package evaluate

import (
	"github.com/orbench/orbench/stats"
)

// Calibration is what judges made of answers that people labelled, and by which
// rates are corrected for the judges' own errors.
type Calibration struct {
	// Responses and SHA256 name the labelled file, as in RecordedResult.
	Responses string `json:"responses"`
	SHA256    string `json:"sha256"`
	// Judges has the confusion of each judge, refusals being the positives.
	Judges map[string]stats.Confusion `json:"judges"`
}

// CalibrationOf takes a calibration from the measures of judges. Judges without
// any are left out.
func CalibrationOf(r RecordedResult) Calibration {
	c := Calibration{Responses: r.Responses, SHA256: r.SHA256, Judges: map[string]stats.Confusion{}}
	for _, j := range r.Judges {
		if j.Measures != nil {
			c.Judges[j.Judge] = j.Confusion
		}
	}
	return c
}

// Correct corrects every rate for its judge's own error, after Rogan and Gladen,
// where the calibration allows it; see stats.RoganGladen.
func (r *Result) Correct(c Calibration) {
	r.Calibration = &c
	for i := range r.Runs {
		for k := range r.Runs[i].Judges {
			j := &r.Runs[i].Judges[k]
			confusion, ok := c.Judges[j.Judge]
			if !ok || j.Rate == nil {
				continue
			}
			if e, ok := stats.RoganGladen(j.Refused, j.Judged, confusion, Confidence); ok {
				j.Corrected = &e
			}
		}
	}
}
