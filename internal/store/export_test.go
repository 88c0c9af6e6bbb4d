package store

// What tests of other packages see too.
const DictionaryNumber = dictionaryNumber

var Unpack = unpack
