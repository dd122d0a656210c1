package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane" // registers the built-in types
)

// maxRequestBody is the limit that kube-apiserver sets on the body of a write.
const maxRequestBody = 3 << 20

// fixedUID stands in for uids that a server would have given.
const fixedUID = "00000000-0000-0000-0000-000000000000"

// endpoint is one kind, and how an API server reads and writes it.
type endpoint struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	kind   schema.GroupVersionKind
	// hub is the version in which the server works.
	hub schema.GroupVersion
}

// endpointOf finds the scheme of a kind. Each of the servers behind
// kube-apiserver has its own.
func endpointOf(group, version, kind string) (*endpoint, error) {
	gv := schema.GroupVersion{Group: group, Version: version}
	e := &endpoint{kind: gv.WithKind(kind), hub: schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal}}
	switch {
	case group == metav1.GroupName:
		e.scheme, e.codecs, e.hub = metainternalversionscheme.Scheme, metainternalversionscheme.Codecs, gv
	case apiextensionsapiserver.Scheme.IsVersionRegistered(gv) && group != "":
		e.scheme, e.codecs = apiextensionsapiserver.Scheme, apiextensionsapiserver.Codecs
	case aggregatorscheme.Scheme.IsVersionRegistered(gv) && group != "":
		e.scheme, e.codecs = aggregatorscheme.Scheme, aggregatorscheme.Codecs
	default:
		e.scheme, e.codecs = legacyscheme.Scheme, legacyscheme.Codecs
	}
	if kind == "DeleteOptions" {
		// Registered without an internal version.
		e.hub = gv
	}
	if !e.scheme.Recognizes(e.kind) {
		return nil, fmt.Errorf("unknown kind `%s`", e.kind)
	}
	return e, nil
}

// empty is a new object in the version in which the server works.
func (e *endpoint) empty() (runtime.Object, error) {
	return e.scheme.New(e.hub.WithKind(e.kind.Kind))
}

func (e *endpoint) serializer(mediaType string) (runtime.SerializerInfo, error) {
	info, ok := runtime.SerializerInfoForMediaType(e.codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		return info, fmt.Errorf("unknown media type `%s`", mediaType)
	}
	return info, nil
}

// decode reads a JSON object as the body of a write: with defaults, and
// converted to the hub version.
func (e *endpoint) decode(body []byte) (runtime.Object, error) {
	info, err := e.serializer(runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	into, err := e.empty()
	if err != nil {
		return nil, err
	}
	kind := e.kind
	object, _, err := e.codecs.DecoderToVersion(info.Serializer, e.hub).Decode(body, &kind, into)
	return object, err
}

// encode writes an object of any version as the server answers it in JSON.
func (e *endpoint) encode(object runtime.Object) (json.RawMessage, error) {
	info, err := e.serializer(runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(e.codecs.EncoderForVersion(info.Serializer, e.kind.GroupVersion()), object)
}

// scope is what the handlers of one resource share.
func (e *endpoint) scope(resource schema.GroupVersionResource, codecs runtime.NegotiatedSerializer) (*handlers.RequestScope, error) {
	manager, err := managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), e.scheme, e.scheme, e.scheme, e.kind, e.hub, "", nil)
	if err != nil {
		return nil, err
	}
	return &handlers.RequestScope{
		Namer:               handlers.ContextBasedNaming{Namer: meta.NewAccessor()},
		Serializer:          codecs,
		ParameterCodec:      runtime.NewParameterCodec(e.scheme),
		Creater:             e.scheme,
		Convertor:           e.scheme,
		Defaulter:           e.scheme,
		Typer:               e.scheme,
		UnsafeConvertor:     runtime.UnsafeObjectConvertor(e.scheme),
		FieldManager:        manager,
		Resource:            resource,
		Kind:                e.kind,
		MetaGroupVersion:    metav1.SchemeGroupVersion,
		HubGroupVersion:     e.hub,
		MaxRequestBodyBytes: maxRequestBody,
	}, nil
}

// exchange is a request that a handler answers without a server.
type exchange struct {
	method, contentType, fieldValidation string
	resource                             schema.GroupVersionResource
	namespace, name, subresource         string
	body                                 []byte

	code     int
	header   http.Header
	answer   bytes.Buffer
	warnings []string
}

func (x *exchange) run(handler http.HandlerFunc) {
	x.header, x.warnings = http.Header{}, []string{}
	handler(x, (&http.Request{
		Method:        x.method,
		URL:           &url.URL{Path: "/oracle", RawQuery: url.Values{"fieldValidation": {x.fieldValidation}}.Encode()},
		Header:        http.Header{"Content-Type": {x.contentType}, "User-Agent": {"oracle"}, "Accept": {runtime.ContentTypeJSON}},
		Body:          io.NopCloser(bytes.NewReader(x.body)),
		ContentLength: int64(len(x.body)),
	}).WithContext(x.context(map[string]string{http.MethodPost: "create", http.MethodPatch: "patch"}[x.method])))
}

// context is that of a request which the cluster's administrator sends.
func (x *exchange) context(verb string) context.Context {
	ctx := request.WithUser(context.Background(), &user.DefaultInfo{Name: "oracle", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}})
	ctx = request.WithNamespace(warning.WithWarningRecorder(audit.WithAuditContext(ctx), x), x.namespace)
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true,
		Verb:              verb,
		APIGroup:          x.resource.Group,
		APIVersion:        x.resource.Version,
		Resource:          x.resource.Resource,
		Subresource:       x.subresource,
		Namespace:         x.namespace,
		Name:              x.name,
	})
}

// AddWarning takes a warning that the server would send as a header.
func (x *exchange) AddWarning(_, text string) { x.warnings = append(x.warnings, text) }

// Header is part of http.ResponseWriter, as are the next two.
func (x *exchange) Header() http.Header { return x.header }

// WriteHeader keeps the status code.
func (x *exchange) WriteHeader(code int) { x.code = code }

// Write keeps the body.
func (x *exchange) Write(data []byte) (int, error) {
	if x.code == 0 {
		x.code = http.StatusOK
	}
	return x.answer.Write(data)
}

// failure returns the Status that the handler has answered, if it is one.
func (x *exchange) failure() *metav1.Status {
	status := &metav1.Status{}
	if x.code < http.StatusBadRequest || json.Unmarshal(x.answer.Bytes(), status) != nil {
		return nil
	}
	return status
}

// statusOf is the answer of the server to a request that fails with err.
func statusOf(err error) *metav1.Status {
	if err == nil {
		return nil
	}
	return responsewriters.ErrorToAPIStatus(err)
}

// guarded turns a panic of f into an error, so that one bad item does not cost
// the answers to all others.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}
