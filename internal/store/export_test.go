package store

// What tests of other packages see too.
const NewestDictionary = newest

var Unpack = unpack
