package facts

import (
	"fmt"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// scalarFact is the schema of a type whose JSON is not that of its fields.
// Without any member every value is allowed.
type scalarFact struct {
	Type   string   `json:"type,omitempty"`
	Format string   `json:"format,omitempty"`
	OneOf  []string `json:"oneOf,omitempty"`
}

// unionFact says that at most one of some fields may be set.
type unionFact struct {
	Discriminator string `json:"discriminator,omitempty"`
	// Fields have the discriminator's value for each.
	Fields map[string]string `json:"fields"`
}

func scalar(schema *spec.Schema) *scalarFact {
	out := &scalarFact{Format: schema.Format}
	if len(schema.Type) > 0 {
		out.Type = schema.Type[0]
	}
	for _, one := range schema.OneOf {
		out.OneOf = append(out.OneOf, one.Type...)
	}
	return out
}

// enum are the allowed strings, wherever they are.
func enum(schema *spec.Schema) []string {
	var out []string
	for _, value := range schema.Enum {
		out = append(out, fmt.Sprint(value))
	}
	slices.Sort(out)
	if schema.Items != nil && schema.Items.Schema != nil {
		out = append(out, enum(schema.Items.Schema)...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		out = append(out, enum(schema.AdditionalProperties.Schema)...)
	}
	return out
}

func unions(schema *spec.Schema) []unionFact {
	list, _ := schema.Extensions["x-kubernetes-unions"].([]interface{})
	var out []unionFact
	for _, item := range list {
		union, _ := item.(map[string]interface{})
		fact := unionFact{Fields: map[string]string{}}
		fact.Discriminator, _ = union["discriminator"].(string)
		fields, _ := union["fields-to-discriminateBy"].(map[string]interface{})
		for name, value := range fields {
			fact.Fields[name] = fmt.Sprint(value)
		}
		out = append(out, fact)
	}
	return out
}
