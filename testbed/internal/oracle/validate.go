package oracle

import (
	"context"
	"encoding/json"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	rbacinternal "k8s.io/kubernetes/pkg/apis/rbac"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install" // registers conversions and defaults
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

// strategy is what the registry of one kind runs around a write.
type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// registered is one kind that validate knows.
type registered struct {
	resource string
	strategy strategy
	empty    func() runtime.Object
}

var kinds = map[string]registered{
	"ClusterRole":        {"clusterroles", clusterrole.Strategy, func() runtime.Object { return &rbacv1.ClusterRole{} }},
	"Role":               {"roles", role.Strategy, func() runtime.Object { return &rbacv1.Role{} }},
	"ClusterRoleBinding": {"clusterrolebindings", clusterrolebinding.Strategy, func() runtime.Object { return &rbacv1.ClusterRoleBinding{} }},
	"RoleBinding":        {"rolebindings", rolebinding.Strategy, func() runtime.Object { return &rbacv1.RoleBinding{} }},
}

type validateRequest struct {
	Items []validateItem `json:"items"`
}

type validateItem struct {
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old"`
}

type validateAnswer struct {
	Results []validity `json:"results"`
}

// validity is the result for one object. Error is set instead of Errors when
// the object could not be read at all.
type validity struct {
	Errors []fieldError `json:"errors"`
	Error  string       `json:"error,omitempty"`
}

type fieldError struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Detail string `json:"detail"`
	Text   string `json:"text"`
}

func validate(_ *session, in *validateRequest) (*validateAnswer, error) {
	out := &validateAnswer{Results: make([]validity, len(in.Items))}
	for i := range in.Items {
		invalid, err := in.Items[i].check()
		result := validity{Errors: []fieldError{}, Error: text(err)}
		for _, e := range invalid {
			result.Errors = append(result.Errors, fieldError{Type: string(e.Type), Field: e.Field, Detail: e.Detail, Text: e.Error()})
		}
		out.Results[i] = result
	}
	return out, nil
}

func (item *validateItem) check() (field.ErrorList, error) {
	kind, ok := kinds[item.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown kind `%s`", item.Kind)
	}
	object, err := kind.decode(item.Object)
	if err != nil {
		return nil, fmt.Errorf("decode `object`: %w", err)
	}
	if len(item.Old) == 0 || string(item.Old) == "null" {
		ctx, err := kind.context("create", object)
		if err != nil {
			return nil, err
		}
		return kind.validateCreate(ctx, object)
	}
	old, err := kind.decode(item.Old)
	if err != nil {
		return nil, fmt.Errorf("decode `old`: %w", err)
	}
	ctx, err := kind.context("update", object)
	if err != nil {
		return nil, err
	}
	return kind.validateUpdate(ctx, object, old)
}

// decode reads a v1 object, sets the defaults and converts it to the version
// that the registry works with.
func (k *registered) decode(data []byte) (runtime.Object, error) {
	versioned := k.empty()
	if err := utiljson.Unmarshal(data, versioned); err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(versioned)
	return legacyscheme.Scheme.ConvertToVersion(versioned, rbacinternal.SchemeGroupVersion)
}

// context is that of the request which would carry the object; declarative
// validation takes the version to validate from it.
func (k *registered) context(verb string, object runtime.Object) (context.Context, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	ctx := request.WithNamespace(context.Background(), accessor.GetNamespace())
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true,
		Verb:              verb,
		APIGroup:          rbacv1.GroupName,
		APIVersion:        "v1",
		Resource:          k.resource,
		Namespace:         accessor.GetNamespace(),
		Name:              accessor.GetName(),
	}), nil
}

func (k *registered) validateCreate(ctx context.Context, object runtime.Object) (field.ErrorList, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(accessor)
	if accessor.GetName() == "" && accessor.GetGenerateName() != "" {
		accessor.SetName(k.strategy.GenerateName(accessor.GetGenerateName()))
	}
	k.strategy.PrepareForCreate(ctx, object)
	return k.strategy.Validate(ctx, object), nil
}

func (k *registered) validateUpdate(ctx context.Context, object, old runtime.Object) (field.ErrorList, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	oldAccessor, err := meta.Accessor(old)
	if err != nil {
		return nil, err
	}
	k.strategy.PrepareForUpdate(ctx, object, old)
	keepServerFields(accessor, oldAccessor)
	return k.strategy.ValidateUpdate(ctx, object, old), nil
}

// keepServerFields carries over the metadata that an API server fills in before
// it validates an update, so that a manifest without it is no error.
func keepServerFields(object, old metav1.Object) {
	object.SetGeneration(old.GetGeneration())
	if old.GetResourceVersion() == "" {
		// A stored object always has one.
		old.SetResourceVersion("1")
	}
	if object.GetResourceVersion() == "" {
		object.SetResourceVersion(old.GetResourceVersion())
	}
	if object.GetUID() == "" {
		object.SetUID(old.GetUID())
	}
	if created := old.GetCreationTimestamp(); !created.IsZero() {
		object.SetCreationTimestamp(created)
	}
	if !old.GetDeletionTimestamp().IsZero() {
		object.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if object.GetDeletionGracePeriodSeconds() == nil {
		object.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}
