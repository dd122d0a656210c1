package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/registry/rest"
)

// updateFact is found out by updating an object in one field after the other.
type updateFact struct {
	// UpdateKeeps are fields that an update does not change.
	UpdateKeeps []string `json:"updateKeeps,omitempty"`
	// GenerationFields are fields whose change counts up metadata.generation.
	GenerationFields []string `json:"generationFields,omitempty"`
}

// metaFields are those parts of the metadata that strategies care about.
var metaFields = []string{"Annotations", "DeletionTimestamp", "Finalizers", "Labels", "OwnerReferences"}

func (e *endpoint) updates(ctx context.Context, strategy rest.RESTUpdateStrategy, create func() runtime.Object) (updateFact, error) {
	var fact updateFact
	given, err := e.empty()
	if err != nil {
		return fact, err
	}
	before, other := create(), create()
	fill(reflect.ValueOf(before).Elem(), 1, 0)
	fill(reflect.ValueOf(other).Elem(), 2, 0)
	// Some strategies clean up what they find, even if nothing changes.
	idle := before.DeepCopyObject()
	if err := tried(func() { strategy.PrepareForUpdate(ctx, idle, before.DeepCopyObject()) }); err != nil {
		return fact, err
	}
	for _, path := range updatable(reflect.TypeOf(before).Elem()) {
		after := before.DeepCopyObject()
		at(after, path).Set(at(other, path))
		if err := tried(func() { strategy.PrepareForUpdate(ctx, after, before.DeepCopyObject()) }); err != nil {
			return fact, fmt.Errorf("update of %v: %w", path, err)
		}
		name := jsonPath(given, path)
		if equality.Semantic.DeepEqual(at(after, path).Interface(), at(idle, path).Interface()) {
			fact.UpdateKeeps = append(fact.UpdateKeeps, name)
		}
		if metadata(after).GetGeneration() != metadata(idle).GetGeneration() {
			fact.GenerationFields = append(fact.GenerationFields, name)
		}
	}
	slices.Sort(fact.UpdateKeeps)
	slices.Sort(fact.GenerationFields)
	return fact, nil
}

// drops are fields that a new object does not get, whatever is given.
func (e *endpoint) drops(ctx context.Context, strategy rest.RESTCreateStrategy, create func() runtime.Object) ([]string, error) {
	given, err := e.empty()
	if err != nil {
		return nil, err
	}
	one, other := create(), create()
	fill(reflect.ValueOf(one).Elem(), 1, 0)
	fill(reflect.ValueOf(other).Elem(), 2, 0)
	usual := one.DeepCopyObject()
	if err := tried(func() { strategy.PrepareForCreate(ctx, usual) }); err != nil {
		return nil, err
	}
	var out []string
	for _, path := range updatable(reflect.TypeOf(one).Elem()) {
		object := one.DeepCopyObject()
		at(object, path).Set(at(other, path))
		if err := tried(func() { strategy.PrepareForCreate(ctx, object) }); err != nil {
			return nil, fmt.Errorf("creation with %v: %w", path, err)
		}
		// As text, because strategies put in the current time.
		with, err := textOf(at(object, path).Interface())
		if err != nil {
			return nil, err
		}
		without, err := textOf(at(usual, path).Interface())
		if err != nil {
			return nil, err
		}
		if bytes.Equal(with, without) {
			out = append(out, jsonPath(given, path))
		}
	}
	slices.Sort(out)
	return out, nil
}

// updatable are the paths to the fields that are tried.
func updatable(t reflect.Type) [][]string {
	var paths [][]string
	for i := range t.NumField() {
		if name := t.Field(i).Name; name != "TypeMeta" && name != "ObjectMeta" {
			paths = append(paths, []string{name})
		}
	}
	for _, name := range metaFields {
		paths = append(paths, []string{"ObjectMeta", name})
	}
	return paths
}

func at(object runtime.Object, path []string) reflect.Value {
	v := reflect.ValueOf(object).Elem()
	for _, name := range path {
		v = v.FieldByName(name)
	}
	return v
}

// jsonPath translates the names of Go's fields, which the internal types share
// with those that have names for JSON.
func jsonPath(versioned runtime.Object, path []string) string {
	t := reflect.TypeOf(versioned).Elem()
	out := ""
	for _, name := range path {
		if field, ok := t.FieldByName(name); ok {
			if tag := jsonName(field); tag != "" {
				name = tag
			}
			t = field.Type
		}
		if out != "" {
			out += "."
		}
		out += name
	}
	return out
}

// fill gives every field a value that depends on the seed.
func fill(v reflect.Value, seed int, depth int) {
	// Types may contain themselves.
	const deepest = 8
	container := v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice || v.Kind() == reflect.Map
	if depth > deepest || depth == deepest && container || !v.CanSet() {
		return
	}
	switch v.Interface().(type) {
	case metav1.TypeMeta:
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(int64(seed), 0))))
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(time.Unix(int64(seed), 0))))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromInt32(int32(seed))))
		return
	case resource.Quantity:
		v.Set(reflect.ValueOf(*resource.NewQuantity(int64(seed), resource.DecimalSI)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("value-%d", seed))
	case reflect.Bool:
		v.SetBool(seed%2 == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(seed))
	case reflect.Uint8:
		// A digit, because some bytes have to be JSON.
		v.SetUint(uint64('0' + seed))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(seed))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), seed, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), seed, depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, seed, depth+1)
		fill(value, seed, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), seed, depth+1)
		}
	}
}

// metadata is that of an object of a known type; all of them have it.
func metadata(object runtime.Object) metav1.Object {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return accessor
}

// tried turns a panic into an error: strategies rely on what validation and
// decoding have ensured.
func tried(action func()) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	action()
	return nil
}

// timestamp is the time of a moment ago, in JSON.
var timestamp = regexp.MustCompile(`"2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"`)

// textOf is a value's JSON with {now} for the current time.
func textOf(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	return timestamp.ReplaceAll(text, []byte(`"{now}"`)), err
}

// contentOf is an object's JSON without its kind and metadata.
func contentOf(object runtime.Object) (json.RawMessage, error) {
	text, err := textOf(object)
	if err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"kind", "apiVersion", "metadata"} {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil, nil
	}
	return json.Marshal(members)
}
