// Package client turns the names of providers and models into ways to ask them: it
// looks a provider up, finds its address and key, and makes the client of its
// dialect. Simulated models and files of recorded answers are reached alike.
//
// A Set makes each client once, and checks keys and addresses when a name is first
// used, before anything is asked.
//
// A server of the user's own is asked what it says of itself ([Describe]): which model it
// has, from which file or digest. That is one line of text beside each response, and part of
// no hash. Where a server does not answer it is silent, and two descriptions differ only in
// what both of them say.
package client
