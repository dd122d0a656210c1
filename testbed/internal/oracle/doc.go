// Package oracle answers questions about Kubernetes' own code, from RBAC to the
// wire format of the API server, over JSON lines, so that a program in
// another language can compare itself with it.
//
// Every answer comes from a call into k8s.io/kubernetes. The package adds only
// what such a call needs around it: listers over a loaded world, an in-memory
// ClusterRole store for the aggregation controller, stores of one object for the
// API server's handlers, and clocks for the benches. It never talks to an API
// server and keeps nothing on disk.
//
// One file per family of operations; each registers its operations in
// operations (registry.go).
package oracle
