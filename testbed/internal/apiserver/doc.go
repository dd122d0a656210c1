// Package apiserver runs the real kube-apiserver with an etcd in the same
// process, on loopback and on ports of the system's choice.
//
// The server keeps Kubernetes' defaults but for what one machine forces: RBAC
// is the only authorizer, nobody reconciles the endpoints of the `kubernetes`
// service, and etcd does not wait for the disk. The data survive an end of the
// process, not one of the machine.
package apiserver
