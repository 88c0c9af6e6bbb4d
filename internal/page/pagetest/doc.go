// Package pagetest opens pages in a headless Chromium for tests, and sees what they ask
// for and complain of.
package pagetest
