package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
)

var patchTypes = map[string]types.PatchType{
	"json":      types.JSONPatchType,
	"merge":     types.MergePatchType,
	"strategic": types.StrategicMergePatchType,
}

type patchRequest struct {
	Items []patchItem `json:"items"`
}

type patchItem struct {
	Type    string `json:"type"`
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Custom takes the kind for a custom one, of which nothing is known.
	Custom   bool            `json:"custom"`
	Original json.RawMessage `json:"original"`
	Patch    string          `json:"patch"`
	// FieldValidation is Warn unless told.
	FieldValidation string `json:"fieldValidation"`
}

type patchAnswer struct {
	Results []patched `json:"results"`
}

// patched is what became of one original. Raw is the document between patch and
// typed decoding.
type patched struct {
	Raw          json.RawMessage `json:"patched,omitempty"`
	Result       json.RawMessage `json:"result,omitempty"`
	Error        string          `json:"error"`
	StrictErrors []string        `json:"strictErrors"`
	Status       *metav1.Status  `json:"status,omitempty"`
}

// patch applies patches with the server's handler over a store of one object.
func patch(_ *session, in *patchRequest) (*patchAnswer, error) {
	out := &patchAnswer{Results: make([]patched, len(in.Items))}
	for i := range in.Items {
		result := patched{StrictErrors: []string{}}
		if err := guarded(func() error { return in.Items[i].run(&result) }); err != nil {
			result.Error = err.Error()
		}
		out.Results[i] = result
	}
	return out, nil
}

func (item *patchItem) run(result *patched) error {
	patchType, ok := patchTypes[item.Type]
	if !ok {
		return fmt.Errorf("unknown type `%s`", item.Type)
	}
	if item.Custom {
		return item.runCustom(patchType, result)
	}
	e, err := endpointOf(item.Group, item.Version, item.Kind)
	if err != nil {
		return err
	}
	original, err := e.decode(item.Original)
	if err != nil {
		return fmt.Errorf("decode `original`: %w", err)
	}
	accessor, err := meta.Accessor(original)
	if err != nil {
		return err
	}
	if accessor.GetUID() == "" {
		// The handler takes an object without uid for missing.
		accessor.SetUID(fixedUID)
	}
	// Without them, the handler does not track fields.
	accessor.SetManagedFields(nil)
	x := &exchange{
		method:          http.MethodPatch,
		contentType:     string(patchType),
		fieldValidation: item.FieldValidation,
		resource:        e.kind.GroupVersion().WithResource("resources"),
		namespace:       accessor.GetNamespace(),
		name:            accessor.GetName(),
		body:            []byte(item.Patch),
	}
	if e.kind.GroupKind() == (schema.GroupKind{Kind: "Namespace"}) {
		x.resource.Resource, x.namespace = "namespaces", x.name
	}
	spy := &spyingCodecs{NegotiatedSerializer: e.codecs}
	scope, err := e.scope(x.resource, spy)
	if err != nil {
		return err
	}
	if patchType == types.StrategicMergePatchType {
		result.Raw = item.strategicRaw(e, original)
	}
	x.run(handlers.PatchResource(single{endpoint: e, object: original}, scope, nil, []string{string(patchType)}))
	if data := spy.decoded.Load(); data != nil && json.Valid(*data) {
		result.Raw = *data
	}
	result.StrictErrors = x.warnings
	if result.Status = x.failure(); result.Status != nil {
		result.Error = result.Status.Message
		return nil
	}
	result.Result, err = withoutManagedFields(e, x.answer.Bytes())
	return err
}

// strategicRaw repeats the merge, whose result the handler keeps to itself.
func (item *patchItem) strategicRaw(e *endpoint, original runtime.Object) json.RawMessage {
	versioned, err := e.scheme.ConvertToVersion(original.DeepCopyObject(), e.kind.GroupVersion())
	if err != nil {
		return nil
	}
	document, err := runtime.DefaultUnstructuredConverter.ToUnstructured(versioned)
	if err != nil {
		return nil
	}
	var change map[string]any
	if err := utiljson.Unmarshal([]byte(item.Patch), &change); err != nil {
		return nil
	}
	empty, err := e.scheme.New(e.kind)
	if err != nil {
		return nil
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(document, change, empty)
	if err != nil {
		return nil
	}
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil
	}
	return raw
}

// withoutManagedFields drops what the handler tracks if the patch itself brings
// managedFields; `managed_fields` is about those.
func withoutManagedFields(e *endpoint, answer []byte) (json.RawMessage, error) {
	object, _, err := e.codecs.UniversalDeserializer().Decode(answer, nil, nil)
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(object)
	if err != nil || len(accessor.GetManagedFields()) == 0 {
		return answer, nil
	}
	accessor.SetManagedFields(nil)
	return e.encode(object)
}

// single is a store of one object, and all that PATCH asks of one.
type single struct {
	endpoint *endpoint
	object   runtime.Object
}

func (s single) New() runtime.Object {
	object, err := s.endpoint.empty()
	if err != nil {
		panic(err) // it was decoded before
	}
	return object
}

func (single) Destroy() {}

func (s single) Get(context.Context, string, *metav1.GetOptions) (runtime.Object, error) {
	return s.object.DeepCopyObject(), nil
}

func (s single) Update(ctx context.Context, _ string, change rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, _ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	object, err := change.UpdatedObject(ctx, s.object.DeepCopyObject())
	if err == nil && object == nil {
		err = errors.New("the patch gave no object")
	}
	return object, false, err
}

// spyingCodecs keeps what the handler decodes last. The handler runs the store
// on another goroutine.
type spyingCodecs struct {
	runtime.NegotiatedSerializer
	decoded atomic.Pointer[[]byte]
}

func (s *spyingCodecs) DecoderToVersion(reader runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return &spyingDecoder{Decoder: s.NegotiatedSerializer.DecoderToVersion(reader, gv), codecs: s}
}

type spyingDecoder struct {
	runtime.Decoder
	codecs *spyingCodecs
}

func (d *spyingDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	d.codecs.decoded.Store(&data)
	return d.Decoder.Decode(data, defaults, into)
}
