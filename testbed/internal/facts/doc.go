// Package facts writes what Kubernetes defines as data: the bootstrap policy,
// the kinds that its API server serves, the fields of their types, how their
// objects are written and deleted, and the columns of their tables.
//
// The files hold names, numbers and flags only. Descriptions are left out, they
// are upstream's prose. Everything is sorted, one object per line, so that two
// versions can be compared line by line.
package facts
