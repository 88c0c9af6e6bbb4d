// Package eval measures models from Go, as "orbench eval" does from a shell.
//
// Run reads the same YAML as "orbench eval --config" ("orbench config init experiment"
// prints one with every setting), asks what the store does not remember, at the pace
// that the providers take, and gives the rates. Every answer is in the store before it
// counts, so a call that is interrupted is given again and goes on. The command line
// shows what the store holds: "orbench report --store FILE".
//
// The package prints nothing and has no state of its own.
package eval
