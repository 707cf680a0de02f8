// Package leaf has no code. Packages below it stand on their own: they may import the nouns at the
// module's root and, of this module, nothing else. Any package may import them. One below another
// may import that one.
package leaf
