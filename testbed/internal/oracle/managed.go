package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// firstStep is the time of the first step; each further one is a second later.
var firstStep = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

type managedFieldsRequest struct {
	Items []managedFieldsItem `json:"items"`
}

// managedFieldsItem is the life of one object, from its creation on.
type managedFieldsItem struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Definition makes it the life of a custom object; group and kind are the
	// definition's then.
	Definition json.RawMessage `json:"definition"`
	// Strategy runs the registry's strategy after each step.
	Strategy bool                `json:"strategy"`
	Steps    []managedFieldsStep `json:"steps"`
}

type managedFieldsStep struct {
	Operation string `json:"operation"`
	Manager   string `json:"manager"`
	// Group and Version are the item's unless told.
	Group       *string         `json:"group"`
	Version     string          `json:"version"`
	Subresource string          `json:"subresource"`
	Force       bool            `json:"force"`
	Object      json.RawMessage `json:"object"`
}

type managedFieldsAnswer struct {
	Results []managedLife `json:"results"`
}

type managedLife struct {
	Steps []managedStep `json:"steps"`
	Error string        `json:"error,omitempty"`
}

// managedStep is the live object after a step, or why it stays as it was. An
// update has both if only the tracking of fields has failed.
type managedStep struct {
	// Live is what the step found, where that is not what the last one wrote:
	// in another version, or a custom object that has been through storage.
	Live   json.RawMessage `json:"live,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
	Error  string          `json:"error"`
	Status *metav1.Status  `json:"status,omitempty"`
}

// managedFields follows objects through updates and applies.
func managedFields(s *session, in *managedFieldsRequest) (*managedFieldsAnswer, error) {
	out := &managedFieldsAnswer{Results: make([]managedLife, len(in.Items))}
	for i := range in.Items {
		life := managedLife{Steps: []managedStep{}}
		run := in.Items[i].run
		if len(in.Items[i].Definition) > 0 {
			run = in.Items[i].runCustom
		}
		life.Error = text(guarded(func() error { return run(s, &life) }))
		out.Results[i] = life
	}
	return out, nil
}

func (item *managedFieldsItem) run(s *session, life *managedLife) error {
	var live runtime.Object
	var last schema.GroupVersionKind
	for i := range item.Steps {
		step := &item.Steps[i]
		group := item.Group
		if step.Group != nil {
			group = *step.Group
		}
		e, err := endpointOf(group, orElse(step.Version, item.Version), item.Kind)
		if err != nil {
			return err
		}
		var found json.RawMessage
		if live != nil && e.kind != last {
			if found, err = e.encodeWithoutUID(live); err != nil {
				return err
			}
		}
		last = e.kind
		started := time.Now()
		next, err := step.take(s, e, live)
		if next != nil && item.Strategy {
			if refused := step.store(e, next, live); refused != nil {
				next, err = nil, refused
			}
		}
		result := managedStep{Live: found, Error: text(err), Status: statusOf(err)}
		if next != nil {
			if live, err = settle(next, live, started, firstStep.Add(time.Duration(i)*time.Second)); err != nil {
				return err
			}
			if result.Object, err = e.encodeWithoutUID(live); err != nil {
				return err
			}
		}
		life.Steps = append(life.Steps, result)
		if keepLive != nil {
			*keepLive = live
		}
	}
	return nil
}

var keepLive *runtime.Object

// runCustom is run for custom objects.
func (item *managedFieldsItem) runCustom(s *session, life *managedLife) error {
	k, err := s.definedKind(item.Definition)
	if err != nil {
		return err
	}
	var live *unstructured.Unstructured
	for i := range item.Steps {
		step := &item.Steps[i]
		version := orElse(step.Version, item.Version)
		manager, err := k.fieldManager(version, step.Subresource)
		if err != nil {
			return err
		}
		result := managedStep{}
		var base runtime.Object
		if live == nil {
			if base, err = k.New(k.kind(version)); err != nil {
				return err
			}
		} else {
			if live, err = k.at(live, version); err != nil {
				return err
			}
			base = live
			if result.Live, err = encodeCustom(live); err != nil {
				return err
			}
		}
		started := time.Now()
		decode := func() (runtime.Object, error) {
			object, err := k.decode(step.Object)
			if err == nil {
				k.Default(object)
			}
			return object, err
		}
		next, err := step.write(manager, base, live == nil, decode)
		result.Error, result.Status = text(err), statusOf(err)
		if next != nil {
			var old runtime.Object
			if live != nil {
				old = live
			}
			settled, err := settle(next, old, started, firstStep.Add(time.Duration(i)*time.Second))
			if err != nil {
				return err
			}
			live = settled.(*unstructured.Unstructured)
			if result.Object, err = encodeCustom(live); err != nil {
				return err
			}
		}
		life.Steps = append(life.Steps, result)
	}
	return nil
}

func encodeCustom(object *unstructured.Unstructured) (json.RawMessage, error) {
	object = object.DeepCopy()
	object.SetUID("")
	return json.Marshal(object.Object)
}

// take is what the handlers of POST, PUT and apply do.
func (step *managedFieldsStep) take(s *session, e *endpoint, live runtime.Object) (runtime.Object, error) {
	manager, err := s.fieldManager(e, step.Subresource)
	if err != nil {
		return nil, err
	}
	base := live
	if base == nil {
		// Not of the hub version: so does the server.
		if base, err = e.scheme.New(e.kind); err != nil {
			return nil, err
		}
	}
	return step.write(manager, base, live == nil, func() (runtime.Object, error) { return e.decode(step.Object) })
}

// write changes an object, or creates it in the place of base.
func (step *managedFieldsStep) write(manager *managedfields.FieldManager, base runtime.Object, creates bool, decode func() (runtime.Object, error)) (runtime.Object, error) {
	switch step.Operation {
	case "update":
		object, err := decode()
		if err != nil {
			return nil, fmt.Errorf("decode `object`: %w", err)
		}
		if creates {
			if accessor, err := meta.Accessor(object); err == nil {
				rest.WipeObjectMetaSystemFields(accessor)
			}
		}
		_, failed := manager.Update(base.DeepCopyObject(), object.DeepCopyObject(), step.Manager)
		if failed == nil {
			return manager.Update(base.DeepCopyObject(), object, step.Manager)
		}
		return manager.UpdateNoErrors(base.DeepCopyObject(), object, step.Manager), failed
	case "apply":
		applied := &unstructured.Unstructured{Object: map[string]any{}}
		if err := yaml.Unmarshal(step.Object, &applied.Object); err != nil {
			return nil, fmt.Errorf("decode `object`: %w", err)
		}
		object, err := manager.Apply(base.DeepCopyObject(), applied, step.Manager, step.Force)
		if err != nil {
			return nil, err
		}
		return object, nil
	default:
		return nil, fmt.Errorf("unknown operation `%s`", step.Operation)
	}
}

// store runs the strategy on the way to storage.
func (step *managedFieldsStep) store(e *endpoint, object, live runtime.Object) error {
	name, stored, ok := storedKind(e.kind.GroupKind())
	if !ok {
		return fmt.Errorf("no strategy of `%s`", e.kind.GroupKind())
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	x := &exchange{
		resource:    name.WithVersion(e.kind.Version),
		subresource: step.Subresource,
		namespace:   accessor.GetNamespace(),
		name:        accessor.GetName(),
	}
	if live == nil {
		return create(x.context("create"), stored.strategy, object, accessor)
	}
	updates, ok := stored.updateStrategy(step.Subresource)
	if !ok {
		return fmt.Errorf("unknown subresource `%s`", step.Subresource)
	}
	return update(x.context("update"), updates, object, live.DeepCopyObject())
}

// settle makes a step's result the live object, at the time of the step.
func settle(next, live runtime.Object, started, at time.Time) (runtime.Object, error) {
	accessor, err := meta.Accessor(next)
	if err != nil {
		return nil, err
	}
	if live != nil {
		old, err := meta.Accessor(live)
		if err != nil {
			return nil, err
		}
		accessor.SetUID(old.GetUID())
		accessor.SetResourceVersion(old.GetResourceVersion())
		if next, err = fieldmanager.IgnoreManagedFieldsTimestampsTransformer(context.Background(), next, live); err != nil {
			return nil, err
		}
		if accessor, err = meta.Accessor(next); err != nil {
			return nil, err
		}
	}
	if accessor.GetUID() == "" {
		// Only an object with uid is one that exists.
		accessor.SetUID(fixedUID)
	}
	entries := accessor.GetManagedFields()
	for i := range entries {
		// In custom objects, times are texts without fractions.
		if entries[i].Time != nil && !entries[i].Time.Time.Before(started.Truncate(time.Second)) {
			entries[i].Time = &metav1.Time{Time: at}
		}
	}
	accessor.SetManagedFields(entries)
	return next, nil
}

func (e *endpoint) encodeWithoutUID(object runtime.Object) (json.RawMessage, error) {
	object = object.DeepCopyObject()
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	accessor.SetUID("")
	return e.encode(object)
}

// fieldManager is that of a resource or subresource.
func (s *session) fieldManager(e *endpoint, subresource string) (*managedfields.FieldManager, error) {
	converter, err := s.converters.of(e)
	if err != nil {
		return nil, fmt.Errorf("describe `%s`: %w", e.kind, err)
	}
	var resets map[fieldpath.APIVersion]fieldpath.Filter
	if _, stored, ok := storedKind(e.kind.GroupKind()); ok {
		updates, known := stored.updateStrategy(subresource)
		if !known {
			return nil, fmt.Errorf("unknown subresource `%s`", subresource)
		}
		switch strategy := updates.(type) {
		case rest.ResetFieldsStrategy:
			resets = fieldpath.NewExcludeFilterSetMap(strategy.GetResetFields())
		case rest.ResetFieldsFilterStrategy:
			resets = strategy.GetResetFieldsFilter()
		}
	}
	return managedfields.NewDefaultFieldManager(converter, runtime.UnsafeObjectConvertor(e.scheme), e.scheme, e.scheme, e.kind, e.hub, subresource, resets)
}

// storedKind finds the resource that stores a kind.
func storedKind(kind schema.GroupKind) (schema.GroupResource, storedResource, bool) {
	for name, stored := range storedResources {
		if name.Group == kind.Group && stored.kind == kind.Kind {
			return name, stored, true
		}
	}
	return schema.GroupResource{}, storedResource{}, false
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
