package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type customRequest struct {
	Items []customItem `json:"items"`
}

// customItem is an object of a custom kind on its way into the store: a new
// one, or one that replaces `old`.
type customItem struct {
	Group      string          `json:"group"`
	Version    string          `json:"version"`
	Kind       string          `json:"kind"`
	Namespaced bool            `json:"namespaced"`
	Schema     json.RawMessage `json:"schema"`
	// Status says that the kind has the status subresource.
	Status bool                                            `json:"status"`
	Scale  *apiextensionsv1.CustomResourceSubresourceScale `json:"scale"`
	Object json.RawMessage                                 `json:"object"`
	Old    json.RawMessage                                 `json:"old"`
	// Subresource is empty or `status`.
	Subresource string `json:"subresource"`
	// Stored reads the object as the store does it: what is malformed in
	// metadata is dropped.
	Stored bool `json:"stored"`
}

type customAnswer struct {
	Results []customResult `json:"results"`
}

type customResult struct {
	// Structural are the faults of the schema itself.
	Structural []string `json:"structural"`
	// Dropped are the paths of unknown fields, as strict decoding tells them.
	Dropped []string `json:"dropped"`
	// Refusals are all the errors of decoding that the random order of maps
	// brings up.
	Refusals []string `json:"refusals"`
	// Decoded is the object after pruning and defaulting, Prepared after the
	// strategy had its hands on it.
	Decoded  any      `json:"decoded,omitempty"`
	Prepared any      `json:"prepared,omitempty"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	Error    string   `json:"error,omitempty"`
}

// custom follows objects of custom kinds from decoding to the end of
// validation.
func custom(_ *session, in *customRequest) (*customAnswer, error) {
	out := &customAnswer{Results: make([]customResult, len(in.Items))}
	for i := range in.Items {
		result := customResult{Structural: []string{}, Dropped: []string{}, Refusals: []string{}, Errors: []string{}, Warnings: []string{}}
		result.Error = text(guarded(func() error { return in.Items[i].run(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

// customKind is a kind as the server holds it.
type customKind struct {
	props      *apiextensions.JSONSchemaProps
	structural *structuralschema.Structural
}

func newCustomKind(raw json.RawMessage, faults *[]string) (*customKind, error) {
	versioned := &apiextensionsv1.JSONSchemaProps{}
	if err := utiljson.Unmarshal(raw, versioned); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(versioned, props, nil); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("structural schema: %w", err)
	}
	for _, fault := range structuralschema.ValidateStructural(nil, structural) {
		*faults = append(*faults, fault.Error())
	}
	structural = structural.DeepCopy()
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, fmt.Errorf("prune defaults: %w", err)
	}
	return &customKind{props: props, structural: structural}, nil
}

// decode is what the server does between the bytes and the strategy.
func (k *customKind) decode(raw json.RawMessage, stored bool, dropped *[]string) (*unstructured.Unstructured, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{DropMalformedFields: stored, ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	*dropped = append(*dropped, unknown...)
	*dropped = append(*dropped, pruning.PruneWithOptions(object, k.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structural)
	refused, unknown := objectmeta.CoerceWithOptions(nil, object, k.structural, false, objectmeta.CoerceOptions{DropInvalidFields: stored, ReturnUnknownFieldPaths: true})
	if refused != nil {
		return nil, refused
	}
	*dropped = append(*dropped, unknown...)
	if found {
		if err := objectmeta.SetObjectMeta(object, meta); err != nil {
			return nil, err
		}
	}
	defaulting.Default(object, k.structural)
	return &unstructured.Unstructured{Object: object}, nil
}

func (item *customItem) run(result *customResult) error {
	kind, err := newCustomKind(item.Schema, &result.Structural)
	if err != nil {
		return err
	}
	if _, err := kind.decode(item.Object, item.Stored, &[]string{}); err != nil {
		result.Refusals = append(result.Refusals, err.Error())
		// Which of several errors is found first depends on the order of maps.
		for range 200 {
			if _, err := kind.decode(item.Object, item.Stored, &[]string{}); err != nil && !slices.Contains(result.Refusals, err.Error()) {
				result.Refusals = append(result.Refusals, err.Error())
			}
		}
		return nil
	}
	object, err := kind.decode(item.Object, item.Stored, &result.Dropped)
	if err != nil {
		return err
	}
	result.Decoded = runtime.DeepCopyJSONValue(object.Object)
	var old *unstructured.Unstructured
	if item.Old != nil {
		if old, err = kind.decode(item.Old, true, &[]string{}); err != nil {
			return fmt.Errorf("old: %w", err)
		}
	}
	errs, warnings, err := item.strategy(kind, object, old)
	if err != nil {
		return err
	}
	result.Prepared = object.Object
	for _, err := range errs {
		result.Errors = append(result.Errors, string(err.Type)+" "+err.Error())
	}
	result.Warnings = append(result.Warnings, warnings...)
	return nil
}

func (item *customItem) strategy(kind *customKind, object, old *unstructured.Unstructured) (field.ErrorList, []string, error) {
	validator, _, err := apiservervalidation.NewSchemaValidator(kind.props)
	if err != nil {
		return nil, nil, err
	}
	var status *apiextensions.CustomResourceSubresourceStatus
	var statusValidator apiservervalidation.SchemaValidator
	if item.Status {
		status = &apiextensions.CustomResourceSubresourceStatus{}
		if props, ok := kind.props.Properties["status"]; ok {
			if statusValidator, _, err = apiservervalidation.NewSchemaValidator(&props); err != nil {
				return nil, nil, err
			}
		}
	}
	var scale *apiextensions.CustomResourceSubresourceScale
	if item.Scale != nil {
		scale = &apiextensions.CustomResourceSubresourceScale{}
		if err := apiextensionsv1.Convert_v1_CustomResourceSubresourceScale_To_apiextensions_CustomResourceSubresourceScale(item.Scale, scale, nil); err != nil {
			return nil, nil, err
		}
	}
	gvk := schema.GroupVersionKind{Group: item.Group, Version: item.Version, Kind: item.Kind}
	main := customresource.NewStrategy(nil, item.Namespaced, gvk, validator, statusValidator, kind.structural, status, scale, nil)
	ctx := context.Background()
	switch {
	case old == nil:
		main.PrepareForCreate(ctx, object)
		return main.Validate(ctx, object), main.WarningsOnCreate(ctx, object), nil
	case item.Subresource == "status":
		sub := customresource.NewStatusStrategy(main)
		sub.PrepareForUpdate(ctx, object, old)
		return sub.ValidateUpdate(ctx, object, old), sub.WarningsOnUpdate(ctx, object, old), nil
	default:
		main.PrepareForUpdate(ctx, object, old)
		return main.ValidateUpdate(ctx, object, old), main.WarningsOnUpdate(ctx, object, old), nil
	}
}
