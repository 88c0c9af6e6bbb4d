// Package telemetrytest has a collector of OpenTelemetry for tests.
package telemetrytest
