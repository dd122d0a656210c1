package oracle

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// definedKind is what the server makes of a definition.
type definedKind struct {
	crd       *apiextensionsv1.CustomResourceDefinition
	schemas   map[string]*structuralschema.Structural
	types     managedfields.TypeConverter
	converter runtime.ObjectConvertor
}

var converterFactory = sync.OnceValues(func() (*conversion.CRConverterFactory, error) {
	return conversion.NewCRConverterFactory(nil, webhook.AuthenticationInfoResolverWrapper(nil))
})

// definedKindOf reads a definition. One whose schemas are not structural is
// refused: the server would see its objects in another way.
func definedKindOf(definition []byte) (*definedKind, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := utiljson.Unmarshal(definition, crd); err != nil {
		return nil, fmt.Errorf("decode `definition`: %w", err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	k := &definedKind{crd: crd, schemas: map[string]*structuralschema.Structural{}}
	var specs []*spec3.OpenAPI
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Schema == nil {
			return nil, fmt.Errorf("no schema of `%s`", version.Name)
		}
		internal := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, internal, nil); err != nil {
			return nil, err
		}
		structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
		if err != nil {
			return nil, fmt.Errorf("schema of `%s`: %w", version.Name, err)
		}
		if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 {
			return nil, fmt.Errorf("schema of `%s`: %w", version.Name, errs.ToAggregate())
		}
		structural = structural.DeepCopy()
		if err := defaulting.PruneDefaults(structural); err != nil {
			return nil, err
		}
		k.schemas[version.Name] = structural
		spec, err := builder.BuildOpenAPIV3(crd, version.Name, builder.Options{})
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	if err != nil {
		return nil, err
	}
	if k.types, err = managedfields.NewTypeConverter(merged.Components.Schemas, crd.Spec.PreserveUnknownFields); err != nil {
		return nil, err
	}
	factory, err := converterFactory()
	if err != nil {
		return nil, err
	}
	k.converter, _, err = factory.NewConverter(crd)
	return k, err
}

// mostDefinedKinds bounds what is kept of definitions.
const mostDefinedKinds = 1000

// definedKind keeps what was made of a definition: that takes longer than what
// is done with it.
func (s *session) definedKind(definition []byte) (*definedKind, error) {
	if known, ok := s.definedKinds[string(definition)]; ok {
		return known, nil
	}
	k, err := definedKindOf(definition)
	if err != nil {
		return nil, err
	}
	if s.definedKinds == nil || len(s.definedKinds) >= mostDefinedKinds {
		s.definedKinds = map[string]*definedKind{}
	}
	s.definedKinds[string(definition)] = k
	return k, nil
}

func (k *definedKind) kind(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.crd.Spec.Group, Version: version, Kind: k.crd.Spec.Names.Kind}
}

// New is part of runtime.ObjectCreater.
func (k *definedKind) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// Default is part of runtime.ObjectDefaulter.
func (k *definedKind) Default(in runtime.Object) {
	object := in.(*unstructured.Unstructured)
	defaulting.Default(object.Object, k.schemas[object.GroupVersionKind().Version])
}

// at is an object as a request in that version finds it in storage.
func (k *definedKind) at(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	object = object.DeepCopy()
	object.SetGroupVersionKind(k.kind(version))
	metadata, _, _, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{DropMalformedFields: true})
	if err != nil {
		return nil, err
	}
	pruning.PruneWithOptions(object.Object, k.schemas[version], true, structuralschema.UnknownFieldPathOptions{})
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, k.schemas[version])
	if err, _ := objectmeta.CoerceWithOptions(nil, object.Object, k.schemas[version], false, objectmeta.CoerceOptions{DropInvalidFields: true}); err != nil {
		return nil, err
	}
	object.SetGroupVersionKind(k.kind(version))
	if err := objectmeta.SetObjectMeta(object.Object, metadata); err != nil {
		return nil, err
	}
	k.Default(object)
	return object, nil
}

func (k *definedKind) version(name string) (*apiextensionsv1.CustomResourceDefinitionVersion, error) {
	for i := range k.crd.Spec.Versions {
		if k.crd.Spec.Versions[i].Name == name {
			return &k.crd.Spec.Versions[i], nil
		}
	}
	return nil, fmt.Errorf("unknown version `%s`", name)
}

// resetFields is what the strategies of a version, or those of the subresource
// status in all versions, do not leave to clients.
func (k *definedKind) resetFields(version, subresource string) (map[fieldpath.APIVersion]*fieldpath.Set, error) {
	fields := map[fieldpath.APIVersion]*fieldpath.Set{}
	for i := range k.crd.Spec.Versions {
		v := &k.crd.Spec.Versions[i]
		hasStatus := v.Subresources != nil && v.Subresources.Status != nil
		if subresource == "" && v.Name != version || subresource == "status" && !hasStatus {
			continue
		}
		var status *apiextensions.CustomResourceSubresourceStatus
		if hasStatus {
			status = &apiextensions.CustomResourceSubresourceStatus{}
		}
		strategy := customresource.NewStrategy(nil, true, k.kind(v.Name), nil, nil, k.schemas[v.Name], status, nil, nil)
		of := strategy.GetResetFields
		switch subresource {
		case "":
		case "status":
			of = customresource.NewStatusStrategy(strategy).GetResetFields
		default:
			return nil, fmt.Errorf("unknown subresource `%s`", subresource)
		}
		for apiVersion, set := range of() {
			fields[apiVersion] = set
		}
	}
	return fields, nil
}

func (k *definedKind) fieldManager(version, subresource string) (*managedfields.FieldManager, error) {
	v, err := k.version(version)
	if err != nil {
		return nil, err
	}
	if subresource == "status" && (v.Subresources == nil || v.Subresources.Status == nil) {
		return nil, fmt.Errorf("version `%s` has no status", version)
	}
	resets, err := k.resetFields(version, subresource)
	if err != nil {
		return nil, err
	}
	kind := k.kind(version)
	return managedfields.NewDefaultCRDFieldManager(k.types, k.converter, k, k, kind, kind.GroupVersion(), subresource, fieldpath.NewExcludeFilterSetMap(resets))
}

func (k *definedKind) decode(body json.RawMessage) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &object.Object); err != nil {
		return nil, fmt.Errorf("decode `object`: %w", err)
	}
	return object, nil
}
