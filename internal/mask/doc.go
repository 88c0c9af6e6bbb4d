// Package mask replaces what identifies people in a text: mail addresses, phone numbers,
// payment cards, bank accounts (IBAN), IP addresses, and names that the user lists. The same
// value gets the same mask, so who is meant twice stays recognizable. A masked text is not
// anonymous: what is said in it can still tell whom it is about.
package mask
