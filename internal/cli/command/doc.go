// Package command is what the commands have in common: the world that they run
// in ([Env]), what ends them, and the flags that several of them have, from
// --store and the runs it holds to how calls are made ([Calls]) and where
// results go ([Output]), and the line that shows how far work is.
//
// It prints no figure and measures nothing; what only one command needs stands
// beside that command.
package command
