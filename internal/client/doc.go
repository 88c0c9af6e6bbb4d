// Package client turns the names of providers and models into ways to ask them: it
// looks a provider up, finds its address and key, and makes the client of its
// dialect. Simulated models and files of recorded answers are reached alike.
//
// A Set makes each client once, and checks keys and addresses when a name is first
// used, before anything is asked.
package client
