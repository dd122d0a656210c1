package oracle

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// generatedSuffix replaces the random part of generated names.
const generatedSuffix = "xxxxx"

type strategyRequest struct {
	Items []strategyItem `json:"items"`
}

type strategyItem struct {
	Group       string          `json:"group"`
	Version     string          `json:"version"`
	Resource    string          `json:"resource"`
	Subresource string          `json:"subresource"`
	Operation   string          `json:"operation"`
	Namespace   string          `json:"namespace"`
	Name        string          `json:"name"`
	Object      json.RawMessage `json:"object"`
	Old         json.RawMessage `json:"old"`
}

type strategyAnswer struct {
	Results []prepared `json:"results"`
}

// prepared is an object as it would be stored, or why it is not. Error is about
// the item itself.
type prepared struct {
	Object   json.RawMessage `json:"object,omitempty"`
	Errors   []fieldError    `json:"errors"`
	Status   *metav1.Status  `json:"status,omitempty"`
	Warnings []string        `json:"warnings"`
	Error    string          `json:"error,omitempty"`
}

// applyStrategy prepares and validates writes with the strategies of the
// registries.
func applyStrategy(_ *session, in *strategyRequest) (*strategyAnswer, error) {
	out := &strategyAnswer{Results: make([]prepared, len(in.Items))}
	for i := range in.Items {
		result := prepared{Errors: []fieldError{}, Warnings: []string{}}
		result.Error = text(guarded(func() error { return in.Items[i].run(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

func (item *strategyItem) run(result *prepared) error {
	stored, ok := storedResources[resource(item.Group, item.Resource)]
	if !ok {
		return fmt.Errorf("unknown resource `%s`", resource(item.Group, item.Resource))
	}
	e, err := endpointOf(item.Group, item.Version, stored.kind)
	if err != nil {
		return err
	}
	object, err := e.decode(item.Object)
	if err != nil {
		return fmt.Errorf("decode `object`: %w", err)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	x := &exchange{
		resource:    schema.GroupVersionResource{Group: item.Group, Version: item.Version, Resource: item.Resource},
		subresource: item.Subresource,
		namespace:   item.Namespace,
		name:        item.Name,
		warnings:    []string{},
	}
	if x.namespace == "" && stored.strategy.NamespaceScoped() {
		x.namespace = accessor.GetNamespace()
	}
	if x.name == "" {
		x.name = accessor.GetName()
	}
	ctx := x.context(item.Operation)
	var found field.ErrorList
	switch item.Operation {
	case "create":
		if item.Subresource != "" {
			return fmt.Errorf("create of subresource `%s` is not known", item.Subresource)
		}
		err = create(ctx, &spyingCreate{stored.strategy, &found}, object, accessor)
	case "update":
		var old runtime.Object
		if old, err = e.decode(item.Old); err != nil {
			return fmt.Errorf("decode `old`: %w", err)
		}
		updates, ok := stored.updateStrategy(item.Subresource)
		if !ok {
			return fmt.Errorf("unknown subresource `%s`", item.Subresource)
		}
		err = update(ctx, &spyingUpdate{updates, &found}, object, old)
	default:
		return fmt.Errorf("unknown operation `%s`", item.Operation)
	}
	result.Warnings = x.warnings
	if err != nil {
		result.Status, result.Errors = statusOf(err), fieldErrors(err, found)
		return nil
	}
	result.Object, err = e.encode(object)
	return err
}

// create does what handler and registry do with a new object, and takes the
// chance out of it.
func create(ctx context.Context, s rest.RESTCreateStrategy, object runtime.Object, accessor metav1.Object) error {
	rest.WipeObjectMetaSystemFields(accessor)
	rest.FillObjectMetaSystemFields(accessor)
	accessor.SetUID(fixedUID)
	if base := accessor.GetGenerateName(); base != "" && accessor.GetName() == "" {
		name := s.GenerateName(base)
		if name != base && len(name) >= len(generatedSuffix) {
			name = name[:len(name)-len(generatedSuffix)] + generatedSuffix
		}
		accessor.SetName(name)
	}
	if err := rest.BeforeCreate(s, ctx, object); err != nil {
		return err
	}
	accessor.SetUID("")
	accessor.SetCreationTimestamp(metav1.Time{})
	return nil
}

func update(ctx context.Context, s rest.RESTUpdateStrategy, object, old runtime.Object) error {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	oldAccessor, err := meta.Accessor(old)
	if err != nil {
		return err
	}
	keepServerFields(accessor, oldAccessor)
	return rest.BeforeUpdate(s, ctx, object, old)
}

// fieldErrors lists what an Invalid error is about. The status has lost where
// the value ends and the detail begins, so that comes from the strategy's list;
// errors from around the strategy keep both in the detail.
func fieldErrors(err error, found field.ErrorList) []fieldError {
	out := []fieldError{}
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return out
	}
	for _, cause := range status.Status().Details.Causes {
		e := fieldError{Type: string(cause.Type), Field: cause.Field, Detail: cause.Message, Text: cause.Field + ": " + cause.Message}
		for _, f := range found {
			if string(f.Type) == e.Type && f.Field == cause.Field && f.ErrorBody() == cause.Message {
				e.Detail = f.Detail
				break
			}
		}
		out = append(out, e)
	}
	return out
}

// spyingCreate keeps the errors of a strategy.
type spyingCreate struct {
	rest.RESTCreateStrategy
	found *field.ErrorList
}

func (s *spyingCreate) Validate(ctx context.Context, object runtime.Object) field.ErrorList {
	*s.found = s.RESTCreateStrategy.Validate(ctx, object)
	return *s.found
}

// spyingUpdate keeps the errors of a strategy.
type spyingUpdate struct {
	rest.RESTUpdateStrategy
	found *field.ErrorList
}

func (s *spyingUpdate) ValidateUpdate(ctx context.Context, object, old runtime.Object) field.ErrorList {
	*s.found = s.RESTUpdateStrategy.ValidateUpdate(ctx, object, old)
	return *s.found
}
