package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	restclient "k8s.io/client-go/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// strategyFact is how a stored resource, or a subresource that can be updated,
// is written and deleted.
type strategyFact struct {
	Group       string `json:"group"`
	Version     string `json:"version"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Namespaced  bool   `json:"namespaced"`

	AllowCreateOnUpdate      bool `json:"allowCreateOnUpdate,omitempty"`
	AllowUnconditionalUpdate bool `json:"allowUnconditionalUpdate,omitempty"`
	// ResetFields are taken out of what a manager owns after a write here.
	ResetFields []string `json:"resetFields,omitempty"`
	// HasGeneration says whether a created object has metadata.generation.
	HasGeneration bool `json:"hasGeneration,omitempty"`
	// Created is what an object without content has when it is stored; {now}
	// stands for the time.
	Created json.RawMessage `json:"created,omitempty"`
	// CreateDrops are fields that a new object does not take over.
	CreateDrops []string `json:"createDrops,omitempty"`
	updateFact

	DefaultGarbageCollection string `json:"defaultGarbageCollection,omitempty"`
	// GracefulDelete is the grace period in seconds of an empty object.
	GracefulDelete      *int64 `json:"gracefulDelete,omitempty"`
	ReturnDeletedObject bool   `json:"returnDeletedObject,omitempty"`
	selectorFact
}

// strategies looks at the API server's storages; the server itself is asked for
// nothing.
func strategies(_ context.Context, server *restclient.Config) ([]byte, error) {
	all, err := endpoints(server)
	if err != nil {
		return nil, err
	}
	var out []strategyFact
	for _, e := range all {
		if _, ok := e.storage.(rest.Updater); !ok {
			continue
		}
		fact, err := e.strategy()
		if err != nil {
			return nil, fmt.Errorf("describe `%s` of `%s`: %w", e.path(), e.gv, err)
		}
		out = append(out, *fact)
	}
	d := newDocument()
	list(d, "strategies", out)
	return d.bytes()
}

func (e *endpoint) path() string {
	if e.subresource == "" {
		return e.resource
	}
	return e.resource + "/" + e.subresource
}

func (e *endpoint) strategy() (*strategyFact, error) {
	fact := &strategyFact{Group: e.gv.Group, Version: e.gv.Version, Resource: e.resource, Subresource: e.subresource}
	if _, ok := e.storage.(rest.ResetFieldsFilterStrategy); ok {
		return nil, fmt.Errorf("%T resets fields by a filter, which no storage did so far", e.storage)
	}
	fact.resetFields(e.storage, fieldpath.APIVersion(e.gv.String()))
	store := e.store()
	if store == nil {
		return nil, fmt.Errorf("%T has no store", e.storage)
	}
	fact.Namespaced = store.UpdateStrategy.NamespaceScoped()
	own := store.NewFunc()
	if fmt.Sprintf("%T", own) != fmt.Sprintf("%T", e.storage.New()) {
		// Such as scale: a view, whose writes go through the resource's own strategy.
		return fact, nil
	}
	fact.AllowCreateOnUpdate = store.UpdateStrategy.AllowCreateOnUpdate()
	fact.AllowUnconditionalUpdate = store.UpdateStrategy.AllowUnconditionalUpdate()
	ctx := e.context(fact.Namespaced)
	var err error
	if fact.updateFact, err = e.updates(ctx, store.UpdateStrategy, store.NewFunc); err != nil {
		return nil, err
	}
	if e.subresource != "" {
		return fact, nil
	}
	if err := e.creation(ctx, fact, store); err != nil {
		return nil, err
	}
	fact.deletion(ctx, store)
	fact.selectorFact, err = e.selectors(store)
	return fact, err
}

// context is that of a request to the endpoint.
func (e *endpoint) context(namespaced bool) context.Context {
	ctx := request.WithUser(request.NewContext(), &user.DefaultInfo{Name: "somebody"})
	info := &request.RequestInfo{
		IsResourceRequest: true, APIGroup: e.gv.Group, APIVersion: e.gv.Version,
		Resource: e.resource, Subresource: e.subresource,
	}
	ctx = request.WithRequestInfo(ctx, info)
	if namespaced {
		return request.WithNamespace(ctx, "default")
	}
	return request.WithNamespace(ctx, metav1.NamespaceNone)
}

func (f *strategyFact) resetFields(storage rest.Storage, version fieldpath.APIVersion) {
	if s, ok := storage.(rest.ResetFieldsStrategy); ok {
		if set := s.GetResetFields()[version]; set != nil {
			set.Leaves().Iterate(func(path fieldpath.Path) {
				f.ResetFields = append(f.ResetFields, strings.TrimPrefix(path.String(), "."))
			})
		}
	}
	slices.Sort(f.ResetFields)
}

// creation says what becomes of an object without any content.
func (e *endpoint) creation(ctx context.Context, fact *strategyFact, store *genericregistry.Store) error {
	given, err := e.empty()
	if err != nil {
		return err
	}
	own, err := e.internal(given)
	if err != nil {
		return err
	}
	if err := tried(func() { store.CreateStrategy.PrepareForCreate(ctx, own) }); err != nil {
		return err
	}
	created, err := e.versioned(own)
	if err != nil {
		return err
	}
	fact.HasGeneration = metadata(own).GetGeneration() != 0
	if fact.Created, err = contentOf(created); err != nil {
		return err
	}
	fact.CreateDrops, err = e.drops(ctx, store.CreateStrategy, store.NewFunc)
	return err
}

func (f *strategyFact) deletion(ctx context.Context, store *genericregistry.Store) {
	policy := rest.DeleteDependents
	if s, ok := store.DeleteStrategy.(rest.GarbageCollectionDeleteStrategy); ok {
		policy = s.DefaultGarbageCollectionPolicy(ctx)
	}
	f.DefaultGarbageCollection = map[rest.GarbageCollectionPolicy]string{
		rest.DeleteDependents: "background",
		rest.OrphanDependents: "orphan",
		rest.Unsupported:      "unsupported",
	}[policy]
	f.ReturnDeletedObject = store.ReturnDeletedObject
	if s, ok := store.DeleteStrategy.(rest.RESTGracefulDeleteStrategy); ok {
		options := &metav1.DeleteOptions{}
		if s.CheckGracefulDelete(ctx, store.NewFunc(), options) {
			f.GracefulDelete = options.GracePeriodSeconds
		}
	}
}

// empty is an object of the endpoint's kind as a client sends it.
func (e *endpoint) empty() (runtime.Object, error) {
	kinds, _, err := e.scheme.ObjectKinds(e.storage.New())
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if kind.Group == e.gv.Group {
			return e.scheme.New(e.gv.WithKind(kind.Kind))
		}
	}
	return nil, fmt.Errorf("%T is not in group `%s`", e.storage.New(), e.gv.Group)
}

// internal is the form that strategies take, with defaults.
func (e *endpoint) internal(object runtime.Object) (runtime.Object, error) {
	e.scheme.Default(object)
	own := e.storage.New()
	return own, e.scheme.Convert(object, own, nil)
}

func (e *endpoint) versioned(own runtime.Object) (runtime.Object, error) {
	return e.scheme.ConvertToVersion(own, e.gv)
}
