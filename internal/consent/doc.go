// Package consent keeps which hosts the user lets have keys although only files name
// them, in a file of the user's own configuration: one host a line, as provider.Host
// gives it. Blank lines and those that begin with # say nothing.
package consent
