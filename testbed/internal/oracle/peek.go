package oracle

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
)

// syncFunc and workQueue are the types of the controller's fields `syncHandler`
// and `queue`.
type (
	syncFunc  = func(ctx context.Context, key string) error
	workQueue = workqueue.TypedRateLimitingInterface[string]
)

// privateField gives access to an unexported field of the aggregation
// controller, which has no other way in: Run starts its own goroutines and says
// nothing about progress.
func privateField[T any](c *clusterroleaggregation.ClusterRoleAggregationController, name string) (*T, error) {
	field := reflect.ValueOf(c).Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[T]() {
		return nil, fmt.Errorf("aggregation controller has no field `%s` of type %v", name, reflect.TypeFor[T]())
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr())), nil
}
