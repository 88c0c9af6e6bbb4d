// Package telemetrytest provides an OpenTelemetry collector for tests.
package telemetrytest
