// Package telemetry reports how calls to models go. It exports spans and
// metrics by OpenTelemetry, with the semantic conventions for generative AI
// (gen_ai, version 1.41.1), and serves the metrics on a page for Prometheus.
//
// New makes a Telemetry from the environment variables that every OpenTelemetry
// tool reads. If they name no collector it returns nil. Every method may be
// called on a nil Telemetry; models are then asked directly.
//
//	Env.Fill ─► Model (a span and two metrics per call) ─► the dialect
//	   └──────► Watch (the counts of fill.Live, read at each export)
//
// Spans leave out the texts of prompts and answers unless these are asked for.
// They always leave out error messages, because providers repeat the prompt in
// them. A collector that is missing or does not answer delays nothing: what it
// does not accept in time is dropped, and that is logged once.
package telemetry
