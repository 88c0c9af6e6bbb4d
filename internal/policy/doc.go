// Package policy reads policies of harm from files: several that ship with orbench under
// a name, and the user's own.
//
// A policy's definitions are the basis on which moderators vote and seeds are generated,
// and the policy given to a guard that accepts one. Its examples of what is allowed and
// what is not are for people, and for a guard that receives the whole Text. Moderators
// are asked by the definitions alone, so two policies differ for them only in these. A
// shipped definition that has been used is never edited, since it is part of requests'
// hashes.
package policy
