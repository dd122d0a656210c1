package facts

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	openapicommon "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// typeFact is one named type.
type typeFact struct {
	Name string `json:"name"`
	// Codec is set where the JSON form does not follow from the fields; it is
	// the Go name of the type. Such a type has fields only for protobuf.
	Codec string `json:"codec,omitempty"`
	// List is set for a named list that is a message of its own in protobuf,
	// with the items in field 1.
	List typeRef `json:"list,omitempty"`
	// MapType is `atomic` where server-side apply owns the value as a whole.
	MapType string `json:"mapType,omitempty"`
	// OpenAPI is set together with Codec: such a type has no properties.
	OpenAPI *scalarFact `json:"openapi,omitempty"`
	Unions  []unionFact `json:"unions,omitempty"`
	// Fields are in the order in which Go writes them as JSON.
	Fields []fieldFact `json:"fields,omitempty"`
}

// fieldFact is one field of a struct.
type fieldFact struct {
	Name string  `json:"name"`
	Type typeRef `json:"type"`
	// Go is the type in Go where a name in it does not follow from Type.
	Go string `json:"go,omitempty"`
	// Proto is the number in protobuf messages; 0 stands for none.
	Proto         int             `json:"proto,omitempty"`
	Pointer       bool            `json:"pointer,omitempty"`
	Inline        bool            `json:"inline,omitempty"`
	OmitEmpty     bool            `json:"omitempty,omitempty"`
	OmitZero      bool            `json:"omitzero,omitempty"`
	Required      bool            `json:"required,omitempty"`
	ListType      string          `json:"listType,omitempty"`
	MapKeys       []string        `json:"mapKeys,omitempty"`
	MapType       string          `json:"mapType,omitempty"`
	PatchStrategy string          `json:"patchStrategy,omitempty"`
	MergeKey      string          `json:"mergeKey,omitempty"`
	Default       json.RawMessage `json:"default,omitempty"`
	// Enum are the values of a string, or of the strings in a list or map.
	Enum []string `json:"enum,omitempty"`
}

// typeRef is a scalar's name, or an object with one of the members `ref`,
// `list` and `map`. Keys of maps are strings.
type typeRef any

type refType struct {
	Ref string `json:"ref"`
}

type listOf struct {
	List typeRef `json:"list"`
}

type mapOf struct {
	Map typeRef `json:"map"`
}

// catalog collects types and all types that they refer to.
type catalog struct {
	definitions map[string]openapicommon.OpenAPIDefinition
	types       map[string]*typeFact
}

func newCatalog() *catalog {
	ref := func(path string) spec.Ref { return spec.Ref{} }
	return &catalog{definitions: openapi.GetOpenAPIDefinitions(ref), types: map[string]*typeFact{}}
}

// add describes a named type once and returns its name.
func (c *catalog) add(t reflect.Type) (string, error) {
	name := modelName(t)
	if c.types[name] != nil {
		return name, nil
	}
	schema := c.definitions[name].Schema
	fact := &typeFact{Name: name, MapType: extension(&schema, "x-kubernetes-map-type")}
	// Before the fields: types may refer to themselves.
	c.types[name] = fact
	fact.Unions = unions(&schema)
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		fact.Codec = t.Name()
		fact.OpenAPI = scalar(&schema)
	}
	var err error
	switch t.Kind() {
	case reflect.Slice:
		fact.List, err = c.ref(t.Elem())
	case reflect.Struct:
		fact.Fields, err = c.fields(t, &schema, fact.Codec != "")
	default:
		err = fmt.Errorf("named type %v is neither struct nor list", t)
	}
	return name, err
}

// ref describes the use of a type. What counts is the kind: a named string is a
// string. Named lists are types of their own if they are messages in protobuf.
func (c *catalog) ref(t reflect.Type) (typeRef, error) {
	switch t.Kind() {
	case reflect.Pointer:
		return c.ref(t.Elem())
	case reflect.Bool, reflect.String, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Float64:
		return t.Kind().String(), nil
	case reflect.Interface:
		return "any", nil
	case reflect.Struct:
		name, err := c.add(t)
		return refType{name}, err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes", nil
		}
		if isMessage(t) {
			name, err := c.add(t)
			return refType{name}, err
		}
		item, err := c.ref(t.Elem())
		return listOf{item}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("keys of map %v are no strings", t)
		}
		value, err := c.ref(t.Elem())
		return mapOf{value}, err
	}
	return nil, fmt.Errorf("type %v has unexpected kind %v", t, t.Kind())
}

// isMessage says whether the type has its own protobuf message.
func isMessage(t reflect.Type) bool {
	return t.Name() != "" && reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ Unmarshal([]byte) error }]())
}

// fields describes the fields of a struct, those of protobuf alone if onlyProto.
func (c *catalog) fields(t reflect.Type, schema *spec.Schema, onlyProto bool) ([]fieldFact, error) {
	required := map[string]bool{}
	for _, name := range schema.Required {
		required[name] = true
	}
	var out []fieldFact
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		proto := protoNumber(field.Tag.Get("protobuf"))
		if !field.IsExported() || onlyProto && proto == 0 || !onlyProto && name == "-" {
			continue
		}
		if name == "-" {
			name = ""
		}
		ref, err := c.ref(field.Type)
		if err != nil {
			return nil, fmt.Errorf("field `%s` of %v: %w", field.Name, t, err)
		}
		fact := fieldFact{
			Name:      name,
			Type:      ref,
			Go:        goType(field.Type),
			Proto:     proto,
			Pointer:   field.Type.Kind() == reflect.Pointer,
			Inline:    name == "" && field.Anonymous,
			OmitEmpty: hasOption(options, "omitempty"),
			OmitZero:  hasOption(options, "omitzero"),
			Required:  required[name],
		}
		if name == "" && !fact.Inline {
			fact.Name = field.Name
		}
		property := schema.Properties[name]
		if err := fact.describe(&property); err != nil {
			return nil, fmt.Errorf("field `%s` of %v: %w", field.Name, t, err)
		}
		out = append(out, fact)
	}
	return out, nil
}

// goType is the name of a type if that says more than the kinds in it.
func goType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := t.String(); name != plainType(t) {
		return name
	}
	return ""
}

// plainType is the name of a type whose strings, numbers, lists and maps have
// no names of their own.
func plainType(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Interface || isMessage(t):
		return t.String()
	case t.Kind() == reflect.Slice:
		return "[]" + plainType(t.Elem())
	case t.Kind() == reflect.Map:
		return "map[string]" + plainType(t.Elem())
	}
	return t.Kind().String()
}

// describe adds what OpenAPI says about a field beyond its Go type.
func (f *fieldFact) describe(property *spec.Schema) error {
	f.ListType = extension(property, "x-kubernetes-list-type")
	f.MapType = extension(property, "x-kubernetes-map-type")
	f.PatchStrategy = extension(property, "x-kubernetes-patch-strategy")
	f.MergeKey = extension(property, "x-kubernetes-patch-merge-key")
	if keys, ok := property.Extensions["x-kubernetes-list-map-keys"].([]interface{}); ok {
		for _, key := range keys {
			f.MapKeys = append(f.MapKeys, fmt.Sprint(key))
		}
	}
	f.Enum = enum(property)
	// The zero value of a field that is always there is no news.
	value := reflect.ValueOf(property.Default)
	if !value.IsValid() || value.Kind() == reflect.Map && value.Len() == 0 {
		return nil
	}
	if value.IsZero() && !f.Pointer && !f.OmitEmpty {
		return nil
	}
	var err error
	f.Default, err = json.Marshal(property.Default)
	return err
}

func extension(schema *spec.Schema, name string) string {
	value, _ := schema.Extensions[name].(string)
	return value
}

func hasOption(options, name string) bool {
	return slices.Contains(strings.Split(options, ","), name)
}

// protoNumber reads a tag such as `bytes,2,rep,name=rules`.
func protoNumber(tag string) int {
	_, rest, _ := strings.Cut(tag, ",")
	number, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// modelName is the name under which OpenAPI documents publish a type.
func modelName(t reflect.Type) string {
	if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}
