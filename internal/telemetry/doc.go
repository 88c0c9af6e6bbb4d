// Package telemetry tells others how calls to models go: spans and metrics by OpenTelemetry,
// with the semantic conventions of generative AI (gen_ai, version 1.41.1), and the metrics as a
// page for Prometheus.
//
// A Telemetry is made from the environment variables that every tool with OpenTelemetry
// reads, and nil, on which every method may be called, where none of them names a collector.
// Then models are asked as they are.
//
//	Env.Fill ─► Model (a span and two figures a call) ─► the dialect
//	   └──────► Watch (what fill.Live counts, read when figures are told)
//
// What models are asked and answer is in no span unless it is asked for, and neither are the
// messages of errors, in which providers repeat what they were asked. A collector that is not
// there, or does not answer, keeps nobody waiting: what it does not take in time is dropped,
// and told once.
package telemetry
