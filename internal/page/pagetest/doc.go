// Package pagetest looks at what people see, for tests: it opens pages in a headless Chromium
// and says what they ask for and complain of, and it reads the texts of figures.
package pagetest
