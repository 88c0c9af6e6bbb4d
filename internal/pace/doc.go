// Package pace spreads calls over time as the provider of a model lets them be made: it
// learns the rate from what becomes of calls, alone or together with other processes.
package pace
