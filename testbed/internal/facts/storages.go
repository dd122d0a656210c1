package facts

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/discovery"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	apiservicestore "k8s.io/kube-aggregator/pkg/registry/apiservice/etcd"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	kubeletclient "k8s.io/kubernetes/pkg/kubelet/client"
	admissionregistrationrest "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"
	appsrest "k8s.io/kubernetes/pkg/registry/apps/rest"
	authenticationrest "k8s.io/kubernetes/pkg/registry/authentication/rest"
	authorizationrest "k8s.io/kubernetes/pkg/registry/authorization/rest"
	autoscalingrest "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batchrest "k8s.io/kubernetes/pkg/registry/batch/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	"k8s.io/kubernetes/pkg/registry/core/componentstatus"
	endpointsstore "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	limitrangestore "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	volumestore "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	claimstore "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	podtemplatestore "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	controllerstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	corerest "k8s.io/kubernetes/pkg/registry/core/rest"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
	discoveryrest "k8s.io/kubernetes/pkg/registry/discovery/rest"
	eventsrest "k8s.io/kubernetes/pkg/registry/events/rest"
	networkingrest "k8s.io/kubernetes/pkg/registry/networking/rest"
	policyrest "k8s.io/kubernetes/pkg/registry/policy/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	storagerest "k8s.io/kubernetes/pkg/registry/storage/rest"
)

// endpoint is what the API server has behind one resource or subresource.
type endpoint struct {
	source
	resource, subresource string
	storage               rest.Storage
}

// provider builds the storages of one group.
type provider interface {
	NewRESTStorage(serverstorage.APIResourceConfigSource, generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error)
}

// denyAll is an authorizer: providers without one serve nothing.
type denyAll struct{}

func (denyAll) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", nil
}

// endpoints builds the API server's own storages for the described groups, with
// nothing behind them: they are looked at, not used.
func endpoints(server *restclient.Config) ([]endpoint, error) {
	client, err := discovery.NewDiscoveryClientForConfig(server)
	if err != nil {
		return nil, err
	}
	byVersion := map[schema.GroupVersion]map[string]rest.Storage{}
	for _, p := range []provider{
		&corerest.GenericConfig{EventTTL: time.Hour},
		admissionregistrationrest.RESTStorageProvider{Authorizer: denyAll{}, DiscoveryClient: client},
		appsrest.StorageProvider{},
		authenticationrest.RESTStorageProvider{},
		authorizationrest.RESTStorageProvider{Authorizer: denyAll{}},
		autoscalingrest.RESTStorageProvider{},
		batchrest.RESTStorageProvider{},
		coordinationrest.RESTStorageProvider{},
		discoveryrest.StorageProvider{},
		eventsrest.RESTStorageProvider{TTL: time.Hour},
		networkingrest.RESTStorageProvider{},
		policyrest.RESTStorageProvider{},
		rbacrest.RESTStorageProvider{Authorizer: denyAll{}},
		schedulingrest.RESTStorageProvider{},
		storagerest.RESTStorageProvider{},
	} {
		info, err := p.NewRESTStorage(controlplane.DefaultAPIResourceConfigSource(), nowhere)
		if err != nil {
			return nil, fmt.Errorf("build storages of %T: %w", p, err)
		}
		for version, storages := range info.VersionedResourcesStorageMap {
			group := info.PrioritizedVersions[0].Group
			byVersion[schema.GroupVersion{Group: group, Version: version}] = storages
		}
	}
	if err := addCore(byVersion[schema.GroupVersion{Version: "v1"}]); err != nil {
		return nil, err
	}
	if err := addServers(byVersion); err != nil {
		return nil, err
	}
	var out []endpoint
	for _, s := range sources {
		storages := byVersion[s.gv]
		if len(storages) == 0 {
			return nil, fmt.Errorf("no storages of `%s`", s.gv)
		}
		for path, storage := range storages {
			resource, subresource, _ := strings.Cut(path, "/")
			out = append(out, endpoint{s, resource, subresource, storage})
		}
	}
	slices.SortFunc(out, func(a, b endpoint) int {
		return cmp.Or(cmp.Compare(a.gv.Group, b.gv.Group), cmp.Compare(a.gv.Version, b.gv.Version),
			cmp.Compare(a.resource, b.resource), cmp.Compare(a.subresource, b.subresource))
	})
	return out, nil
}

// addCore adds what the provider of the core group builds only together with
// allocators for the addresses of services.
func addCore(storages map[string]rest.Storage) error {
	templates, err := podtemplatestore.NewREST(nowhere)
	if err != nil {
		return err
	}
	limits, err := limitrangestore.NewREST(nowhere)
	if err != nil {
		return err
	}
	volumes, volumeStatus, err := volumestore.NewREST(nowhere)
	if err != nil {
		return err
	}
	claims, claimStatus, err := claimstore.NewREST(nowhere)
	if err != nil {
		return err
	}
	endpoints, err := endpointsstore.NewREST(nowhere)
	if err != nil {
		return err
	}
	nodes, err := nodestore.NewStorage(nowhere, kubeletclient.KubeletClientConfig{}, http.DefaultTransport)
	if err != nil {
		return err
	}
	pods, err := podstore.NewStorage(nowhere, nodes.KubeletConnectionInfo, http.DefaultTransport, nil, denyAll{})
	if err != nil {
		return err
	}
	services, serviceStatus, _, err := servicestore.NewREST(nowhere, "IPv4", nil, nil, endpoints, pods.Pod, http.DefaultTransport)
	if err != nil {
		return err
	}
	controllers, err := controllerstore.NewStorage(nowhere)
	if err != nil {
		return err
	}
	for path, storage := range map[string]rest.Storage{
		"componentstatuses":             componentstatus.NewStorage(nil),
		"endpoints":                     endpoints,
		"limitranges":                   limits,
		"nodes":                         nodes.Node,
		"nodes/status":                  nodes.Status,
		"persistentvolumeclaims":        claims,
		"persistentvolumeclaims/status": claimStatus,
		"persistentvolumes":             volumes,
		"persistentvolumes/status":      volumeStatus,
		"pods":                          pods.Pod,
		"pods/ephemeralcontainers":      pods.EphemeralContainers,
		"pods/resize":                   pods.Resize,
		"pods/status":                   pods.Status,
		"podtemplates":                  templates,
		"replicationcontrollers":        controllers.Controller,
		"replicationcontrollers/scale":  controllers.Scale,
		"replicationcontrollers/status": controllers.Status,
		"services":                      services,
		"services/status":               serviceStatus,
	} {
		storages[path] = storage
	}
	return nil
}

// addServers adds the groups of the two servers that kube-apiserver delegates
// to and is delegated from.
func addServers(byVersion map[schema.GroupVersion]map[string]rest.Storage) error {
	definitions, err := customresourcedefinition.NewREST(apiextensionsapiserver.Scheme, nowhere)
	if err != nil {
		return err
	}
	byVersion[schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}] = map[string]rest.Storage{
		"customresourcedefinitions":        definitions,
		"customresourcedefinitions/status": customresourcedefinition.NewStatusREST(apiextensionsapiserver.Scheme, definitions),
	}
	services := apiservicestore.NewREST(aggregatorscheme.Scheme, nowhere)
	byVersion[schema.GroupVersion{Group: "apiregistration.k8s.io", Version: "v1"}] = map[string]rest.Storage{
		"apiservices":        services,
		"apiservices/status": apiservicestore.NewStatusREST(aggregatorscheme.Scheme, services),
	}
	return nil
}

// nowhere is the configuration of a store without a backend.
var nowhere = generic.RESTOptions{
	StorageConfig:           &storagebackend.ConfigForResource{Config: storagebackend.Config{Codec: legacyscheme.Codecs.LegacyCodec()}},
	EnableGarbageCollection: true,
	ResourcePrefix:          "nowhere",
	Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object,
		func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		return nil, func() {}, nil
	},
}

// store returns the generic store inside a storage; there is none where nothing
// is stored.
func (e *endpoint) store() *genericregistry.Store {
	return storeIn(reflect.ValueOf(e.storage))
}

func storeIn(v reflect.Value) *genericregistry.Store {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Type() == reflect.TypeFor[*genericregistry.Store]() && !field.IsNil() {
			// The field may be unexported, then its value cannot be had directly.
			return reflect.NewAt(field.Type().Elem(), field.UnsafePointer()).Interface().(*genericregistry.Store)
		}
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous {
			if found := storeIn(v.Field(i)); found != nil {
				return found
			}
		}
	}
	return nil
}
