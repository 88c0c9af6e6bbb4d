package store

import "github.com/orbench/orbench/model"

// Claim says which of some calls a handle of a store may make.
type Claim struct {
	// ID names the claim among those of the handle; 0 where no call was free.
	ID int64
	// Answered are the calls that have a response, and Taken those that another handle
	// has claimed. All others are the handle's to make.
	Answered, Taken map[model.Hash]bool
	// Batched are those of the handle's that are out in an open batch: whoever makes them
	// may pay for them twice.
	Batched map[model.Hash]bool
	// Seen is for the claims that follow, 0 where the store does not know what other handles
	// write; see Backend.Claim.
	Seen int64
}
