package facts

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	selection "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
)

// selectorFact is what field selectors a kind knows.
type selectorFact struct {
	FieldSelectors []string `json:"fieldSelectors,omitempty"`
	// FieldAliases are selectors that stand for another one.
	FieldAliases map[string]string `json:"fieldAliases,omitempty"`
	// FieldValues are the values that are not empty for an empty object.
	FieldValues map[string]string `json:"fieldValues,omitempty"`
	// FieldSelectorError is the answer to another selector; {label} stands for it.
	FieldSelectorError string `json:"fieldSelectorError,omitempty"`
}

// moreSelectors are none that follow from the fields of the kinds.
var moreSelectors = []string{
	"name", "namespace", "source", "status.successful", "spec.host", "involvedObject.fieldPath", "reportingComponent",
	"reportingController", "regarding.kind", "metadata.uid", "clusterName",
}

// selectors tries all paths of the kind.
func (e *endpoint) selectors(store *genericregistry.Store) (selectorFact, error) {
	out := selectorFact{FieldAliases: map[string]string{}, FieldValues: map[string]string{}}
	object, err := e.empty()
	if err != nil {
		return out, err
	}
	kinds, _, err := e.scheme.ObjectKinds(object)
	if err != nil {
		return out, err
	}
	gvk := e.gv.WithKind(kinds[0].Kind)
	candidates := map[string]bool{}
	leaves(reflect.TypeOf(object), "", 3, candidates)
	for _, name := range moreSelectors {
		candidates[name] = true
	}
	own, err := e.internal(object)
	if err != nil {
		return out, err
	}
	predicate := store.PredicateFunc(labels.Everything(), selection.Everything())
	_, values, err := predicate.GetAttrs(own)
	if err != nil {
		return out, err
	}
	for name := range values {
		candidates[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(candidates)) {
		field, _, err := e.scheme.ConvertFieldLabel(gvk, name, "x")
		if err != nil {
			continue
		}
		out.FieldSelectors = append(out.FieldSelectors, name)
		if field != name {
			out.FieldAliases[name] = field
		}
		if value := values[field]; value != "" {
			out.FieldValues[field] = value
		}
	}
	const unknown = "no.such.label"
	if _, _, err = e.scheme.ConvertFieldLabel(gvk, unknown, "x"); err == nil {
		return out, errors.New("every label selects")
	}
	out.FieldSelectorError = strings.ReplaceAll(err.Error(), unknown, "{label}")
	return out, nil
}

// leaves collects the JSON paths to a type's scalars.
func leaves(t reflect.Type, prefix string, depth int, into map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		if t.Kind() != reflect.Map && t.Kind() != reflect.Slice && prefix != "" {
			into[prefix] = true
		}
		return
	}
	if depth == 0 {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name := jsonName(field)
		switch {
		case field.Anonymous && name == "":
			leaves(field.Type, prefix, depth, into)
		case name == "" || name == "-":
		case prefix == "":
			leaves(field.Type, name, depth-1, into)
		default:
			leaves(field.Type, prefix+"."+name, depth-1, into)
		}
	}
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
