package oracle

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	componentvalidation "k8s.io/component-helpers/auth/rbac/validation"
)

var errNoIterations = errors.New("`iterations` must be at least 1")

// stopwatch measures elapsed time and the CPU time of the whole process,
// garbage collection included.
type stopwatch struct {
	start time.Time
	cpu   time.Duration
}

// startWatch collects earlier garbage first, so that it is not counted.
func startWatch() stopwatch {
	runtime.GC()
	return stopwatch{start: time.Now(), cpu: processCPU()}
}

func (w stopwatch) elapsed() (wall, cpu time.Duration) {
	return time.Since(w.start), processCPU() - w.cpu
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	// Cannot fail for the calling process.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

type benchAnswer struct {
	NsPerOp    float64 `json:"ns_per_op"`
	CPUNsPerOp float64 `json:"cpu_ns_per_op"`
}

func perOp(w stopwatch, ops int) benchAnswer {
	wall, cpu := w.elapsed()
	return benchAnswer{NsPerOp: float64(wall) / float64(ops), CPUNsPerOp: float64(cpu) / float64(ops)}
}

type benchAuthorizeRequest struct {
	Requests   []accessRequest `json:"requests"`
	Iterations int             `json:"iterations"`
}

type benchAuthorizeAnswer struct {
	benchAnswer
	// Allowed counts the allowed requests of one pass.
	Allowed int `json:"allowed"`
}

// benchAuthorize passes over all requests, iterations times; one operation is
// one decision. It reads bindings through an informer's lister, in the order in
// which that yields them, as kube-apiserver does.
func benchAuthorize(s *session, in *benchAuthorizeRequest) (*benchAuthorizeAnswer, error) {
	if in.Iterations < 1 {
		return nil, errNoIterations
	}
	if len(in.Requests) == 0 {
		return nil, errors.New("`requests` is empty")
	}
	authz := chain(s.world, s.world.roleBindings, s.world.clusterRoleBindings)
	attributes := make([]*authorizer.AttributesRecord, len(in.Requests))
	for i := range in.Requests {
		attributes[i] = in.Requests[i].attributes()
	}
	allowed := 0
	ctx := context.Background()
	watch := startWatch()
	for range in.Iterations {
		allowed = 0
		for _, a := range attributes {
			if decided, _, _ := authz.Authorize(ctx, a); decided == authorizer.DecisionAllow {
				allowed++
			}
		}
	}
	return &benchAuthorizeAnswer{perOp(watch, in.Iterations*len(attributes)), allowed}, nil
}

type benchCoversRequest struct {
	Owner      []rbacv1.PolicyRule `json:"owner"`
	Servant    []rbacv1.PolicyRule `json:"servant"`
	Iterations int                 `json:"iterations"`
}

func benchCovers(_ *session, in *benchCoversRequest) (*benchAnswer, error) {
	if in.Iterations < 1 {
		return nil, errNoIterations
	}
	watch := startWatch()
	for range in.Iterations {
		componentvalidation.Covers(in.Owner, in.Servant)
	}
	out := perOp(watch, in.Iterations)
	return &out, nil
}
