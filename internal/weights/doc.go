// Package weights tells whether a model still answers as it did when the replies were made that
// a study reuses: a Check asks some of them again. A request is the same by its address and the
// name of its model, so other weights behind both would be taken for the old ones, and one rate
// would be of two models.
//
// What the server says of itself decides where it can; see client.Describe. Else up to 40 stored
// calls are sent twice more, and classes are compared, since rates are made of these: with the
// same weights, each of the three replies is as likely as the others to be the odd one out,
// whatever noise parts them.
package weights
