package facts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane" // registers the built-in types
)

// source is a group and version whose types are described, with the scheme
// that knows them.
type source struct {
	scheme *runtime.Scheme
	gv     schema.GroupVersion
}

// sources are the groups that a Kubernetes-compatible API server without nodes
// is asked for.
var sources = []source{
	{legacyscheme.Scheme, schema.GroupVersion{Group: "", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "apps", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "authentication.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "authorization.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "autoscaling", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "autoscaling", Version: "v2"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "batch", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "coordination.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "discovery.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "events.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "policy", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1"}},
	{legacyscheme.Scheme, schema.GroupVersion{Group: "storage.k8s.io", Version: "v1"}},
	{apiextensionsapiserver.Scheme, schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}},
	{aggregatorscheme.Scheme, schema.GroupVersion{Group: "apiregistration.k8s.io", Version: "v1"}},
}

// common are types of every group, and the envelope of protobuf messages.
var common = map[string]reflect.Type{
	"APIGroup":                  reflect.TypeFor[metav1.APIGroup](),
	"APIGroupList":              reflect.TypeFor[metav1.APIGroupList](),
	"APIResourceList":           reflect.TypeFor[metav1.APIResourceList](),
	"APIVersions":               reflect.TypeFor[metav1.APIVersions](),
	"CreateOptions":             reflect.TypeFor[metav1.CreateOptions](),
	"DeleteOptions":             reflect.TypeFor[metav1.DeleteOptions](),
	"GetOptions":                reflect.TypeFor[metav1.GetOptions](),
	"ListOptions":               reflect.TypeFor[metav1.ListOptions](),
	"PartialObjectMetadata":     reflect.TypeFor[metav1.PartialObjectMetadata](),
	"PartialObjectMetadataList": reflect.TypeFor[metav1.PartialObjectMetadataList](),
	"PatchOptions":              reflect.TypeFor[metav1.PatchOptions](),
	"Status":                    reflect.TypeFor[metav1.Status](),
	"Table":                     reflect.TypeFor[metav1.Table](),
	"TableOptions":              reflect.TypeFor[metav1.TableOptions](),
	"Unknown":                   reflect.TypeFor[runtime.Unknown](),
	"UpdateOptions":             reflect.TypeFor[metav1.UpdateOptions](),
	"WatchEvent":                reflect.TypeFor[metav1.WatchEvent](),
}

// kindType says which type describes a kind.
type kindType struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Type    string `json:"type"`
}

// fields describes the types by reflection; the server is not asked.
func fields(context.Context, *rest.Config) ([]byte, error) {
	c := newCatalog()
	var kinds []kindType
	metaPackage := reflect.TypeFor[metav1.Status]().PkgPath()
	for _, s := range sources {
		known := s.scheme.KnownTypes(s.gv)
		if len(known) == 0 {
			return nil, fmt.Errorf("no types of `%s`", s.gv)
		}
		for kind, t := range known {
			if t.PkgPath() == metaPackage {
				// Registered in every group; see common.
				continue
			}
			name, err := c.add(t)
			if err != nil {
				return nil, fmt.Errorf("describe `%s`: %w", s.gv.WithKind(kind), err)
			}
			kinds = append(kinds, kindType{s.gv.Group, s.gv.Version, kind, name})
		}
	}
	for kind, t := range common {
		name, err := c.add(t)
		if err != nil {
			return nil, fmt.Errorf("describe `%s`: %w", kind, err)
		}
		kinds = append(kinds, kindType{metav1.GroupName, "v1", kind, name})
	}
	// The body of a patch is no kind.
	if _, err := c.add(reflect.TypeFor[metav1.Patch]()); err != nil {
		return nil, err
	}
	slices.SortFunc(kinds, func(a, b kindType) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	types := slices.SortedFunc(maps.Values(c.types), func(a, b *typeFact) int { return cmp.Compare(a.Name, b.Name) })
	d := newDocument()
	list(d, "kinds", kinds)
	list(d, "types", types)
	return d.bytes()
}
