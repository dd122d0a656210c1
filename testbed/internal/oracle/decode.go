package oracle

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
)

type decodeRequest struct {
	Items []decodeItem `json:"items"`
}

type decodeItem struct {
	ContentType string `json:"contentType"`
	Body        string `json:"body"`
	BodyBase64  string `json:"bodyBase64"`
	Group       string `json:"group"`
	Version     string `json:"version"`
	Kind        string `json:"kind"`
	Strict      bool   `json:"strict"`
	Defaulting  bool   `json:"defaulting"`
}

type decodeAnswer struct {
	Results []decoded `json:"results"`
}

// decoded is what became of one body. A strict error leaves an object, which
// is stored if the client asks for warnings only.
type decoded struct {
	Object       json.RawMessage `json:"object,omitempty"`
	Error        string          `json:"error"`
	StrictErrors []string        `json:"strictErrors"`
	// Warnings are those of `fieldValidation=Warn`.
	Warnings []string       `json:"warnings"`
	Status   *metav1.Status `json:"status,omitempty"`
}

// decode reads bodies as the handlers of an API server do.
func decode(_ *session, in *decodeRequest) (*decodeAnswer, error) {
	out := &decodeAnswer{Results: make([]decoded, len(in.Items))}
	for i := range in.Items {
		result := decoded{StrictErrors: []string{}, Warnings: []string{}}
		if err := guarded(func() error { return in.Items[i].run(&result) }); err != nil {
			result.Error = err.Error()
		}
		out.Results[i] = result
	}
	return out, nil
}

func (item *decodeItem) run(result *decoded) error {
	e, err := endpointOf(item.Group, item.Version, item.Kind)
	if err != nil {
		return err
	}
	body := []byte(item.Body)
	if item.BodyBase64 != "" {
		if body, err = base64.StdEncoding.DecodeString(item.BodyBase64); err != nil {
			return fmt.Errorf("decode `bodyBase64`: %w", err)
		}
	}
	info, err := e.serializer(item.ContentType)
	if err != nil {
		return err
	}
	if item.Kind == "DeleteOptions" {
		return e.decodeOptions(item.ContentType, body, result)
	}
	reader := info.Serializer
	if item.Strict {
		reader = info.StrictSerializer
	}
	decoder := e.codecs.DecoderToVersion(reader, e.hub)
	into, err := e.empty()
	if err != nil {
		return err
	}
	if !item.Defaulting {
		// Conversion works on defaulted objects, so it is left out too.
		decoder = versioning.NewCodec(nil, reader, e.scheme, e.scheme, e.scheme, noDefaults{}, nil, e.kind.GroupVersion(), e.scheme.Name())
		if into, err = e.scheme.New(e.kind); err != nil {
			return err
		}
	}
	kind := e.kind
	object, found, err := decoder.Decode(body, &kind, into)
	if err != nil || *found != e.kind {
		if failed := item.refusal(e, body, result); failed != nil {
			return failed
		}
	}
	if err != nil {
		result.Error = err.Error()
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok || object == nil {
			return nil
		}
		for _, part := range strict.Errors() {
			result.StrictErrors = append(result.StrictErrors, part.Error())
		}
	}
	result.Object, err = e.encode(object)
	return err
}

// refusal asks the handler of POST what it answers.
func (item *decodeItem) refusal(e *endpoint, body []byte, result *decoded) error {
	resource := e.kind.GroupVersion().WithResource("resources")
	scope, err := e.scope(resource, e.codecs)
	if err != nil {
		return err
	}
	into, err := e.empty()
	if err != nil {
		return err
	}
	directives := []string{metav1.FieldValidationIgnore}
	if item.Strict {
		directives = []string{metav1.FieldValidationWarn, metav1.FieldValidationStrict}
	}
	for _, directive := range directives {
		x := &exchange{method: http.MethodPost, contentType: item.ContentType, fieldValidation: directive, resource: resource, name: "name", body: body}
		x.run(handlers.CreateResource(echo{into.DeepCopyObject()}, scope, nil))
		result.Warnings = append(result.Warnings, x.warnings...)
		result.Status = x.failure()
	}
	return nil
}

// decodeOptions reads the body of DELETE, which has a codec of its own and is
// never strict.
func (e *endpoint) decodeOptions(contentType string, body []byte, result *decoded) error {
	codecs := metainternalversionscheme.Codecs
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), contentType)
	if !ok {
		return fmt.Errorf("unknown media type `%s`", contentType)
	}
	options := &metav1.DeleteOptions{}
	kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	object, _, err := codecs.DecoderToVersion(info.Serializer, kind.GroupVersion()).Decode(body, &kind, options)
	if err == nil && object != options {
		err = fmt.Errorf("decoded object cannot be converted to DeleteOptions")
	}
	if err != nil {
		result.Error, result.Status = err.Error(), statusOf(apierrors.NewBadRequest(err.Error()))
		return nil
	}
	result.Object, err = json.Marshal(options)
	return err
}

// noDefaults is a scheme without defaults.
type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

// echo is storage that answers with what it is given.
type echo struct{ empty runtime.Object }

func (e echo) New() runtime.Object { return e.empty }
func (echo) Destroy()              {}

func (echo) Create(_ context.Context, object runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	return object, nil
}

type encodeProtoRequest struct {
	Items []encodeProtoItem `json:"items"`
}

type encodeProtoItem struct {
	Object json.RawMessage `json:"object"`
}

type encodeProtoAnswer struct {
	Results []encodedProto `json:"results"`
}

type encodedProto struct {
	Base64 string `json:"base64"`
	Error  string `json:"error,omitempty"`
}

// encodeProto writes versioned objects in protobuf, without defaults.
func encodeProto(_ *session, in *encodeProtoRequest) (*encodeProtoAnswer, error) {
	out := &encodeProtoAnswer{Results: make([]encodedProto, len(in.Items))}
	for i := range in.Items {
		result := &out.Results[i]
		err := guarded(func() error {
			data, err := protobufOf(in.Items[i].Object)
			result.Base64 = base64.StdEncoding.EncodeToString(data)
			return err
		})
		result.Error = text(err)
	}
	return out, nil
}

func protobufOf(data []byte) ([]byte, error) {
	var about metav1.TypeMeta
	if err := json.Unmarshal(data, &about); err != nil {
		return nil, err
	}
	kind := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind)
	e, err := endpointOf(kind.Group, kind.Version, kind.Kind)
	if err != nil {
		return nil, err
	}
	reader, err := e.serializer(runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	object, _, err := reader.Serializer.Decode(data, &kind, nil)
	if err != nil {
		return nil, err
	}
	writer, err := e.serializer(runtime.ContentTypeProtobuf)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	return runtime.Encode(writer.Serializer, object)
}
