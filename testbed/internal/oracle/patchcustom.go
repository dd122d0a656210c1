package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
)

// runCustom patches an object that is nothing but JSON to the server.
func (item *patchItem) runCustom(patchType types.PatchType, result *patched) error {
	original := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(item.Original, &original.Object); err != nil {
		return fmt.Errorf("decode `original`: %w", err)
	}
	kind := schema.GroupVersionKind{Group: item.Group, Version: item.Version, Kind: item.Kind}
	original.SetGroupVersionKind(kind)
	if original.GetUID() == "" {
		original.SetUID(fixedUID)
	}
	original.SetManagedFields(nil)
	x := &exchange{
		method:          http.MethodPatch,
		contentType:     string(patchType),
		fieldValidation: item.FieldValidation,
		resource:        kind.GroupVersion().WithResource("resources"),
		namespace:       original.GetNamespace(),
		name:            original.GetName(),
		body:            []byte(item.Patch),
	}
	spy := &spyingCodecs{NegotiatedSerializer: plainCodecs{}}
	creater, typer := unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper()
	converter := unchangedConverter{}
	manager, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), converter, noDefaults{}, creater, kind, kind.GroupVersion(), "", nil)
	if err != nil {
		return err
	}
	scope := &handlers.RequestScope{
		Namer:               handlers.ContextBasedNaming{Namer: meta.NewAccessor()},
		Serializer:          spy,
		ParameterCodec:      runtime.NewParameterCodec(runtime.NewScheme()),
		Creater:             creater,
		Convertor:           converter,
		Defaulter:           noDefaults{},
		Typer:               typer,
		UnsafeConvertor:     converter,
		FieldManager:        manager,
		Resource:            x.resource,
		Kind:                kind,
		MetaGroupVersion:    metav1.SchemeGroupVersion,
		HubGroupVersion:     kind.GroupVersion(),
		MaxRequestBodyBytes: maxRequestBody,
	}
	x.run(handlers.PatchResource(customSingle{object: original}, scope, nil, []string{string(patchType)}))
	if data := spy.decoded.Load(); data != nil && json.Valid(*data) {
		result.Raw = *data
	}
	result.StrictErrors = x.warnings
	if result.Status = x.failure(); result.Status != nil {
		result.Error = result.Status.Message
		return nil
	}
	result.Result = json.RawMessage(x.answer.Bytes())
	return nil
}

// plainCodecs reads and writes JSON, as what serves custom resources does.
type plainCodecs struct{}

func (plainCodecs) SupportedMediaTypes() []runtime.SerializerInfo {
	creater, typer := unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper()
	return []runtime.SerializerInfo{{
		MediaType:        runtime.ContentTypeJSON,
		MediaTypeType:    "application",
		MediaTypeSubType: "json",
		EncodesAsText:    true,
		Serializer:       kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, creater, typer, kjson.SerializerOptions{}),
		StrictSerializer: kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, creater, typer, kjson.SerializerOptions{Strict: true}),
	}}
}

func (plainCodecs) EncoderForVersion(encoder runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return encoder
}

func (plainCodecs) DecoderToVersion(decoder runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return decoder
}

// unchangedConverter knows one version.
type unchangedConverter struct{}

func (unchangedConverter) Convert(in, out, _ any) error {
	out.(*unstructured.Unstructured).Object = in.(*unstructured.Unstructured).Object
	return nil
}

func (unchangedConverter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (unchangedConverter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// customSingle is single for custom objects.
type customSingle struct {
	object *unstructured.Unstructured
}

func (customSingle) New() runtime.Object { return &unstructured.Unstructured{} }

func (customSingle) Destroy() {}

func (s customSingle) Get(context.Context, string, *metav1.GetOptions) (runtime.Object, error) {
	return s.object.DeepCopy(), nil
}

func (s customSingle) Update(ctx context.Context, _ string, change rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, _ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	object, err := change.UpdatedObject(ctx, s.object.DeepCopy())
	return object, false, err
}
