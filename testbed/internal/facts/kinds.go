package facts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// servedKind is one resource under /api or /apis.
type servedKind struct {
	Group      string        `json:"group"`
	Version    string        `json:"version"`
	Kind       string        `json:"kind"`
	Plural     string        `json:"plural"`
	Singular   string        `json:"singular"`
	ShortNames []string      `json:"shortNames,omitempty"`
	Categories []string      `json:"categories,omitempty"`
	Namespaced bool          `json:"namespaced"`
	Verbs      []string      `json:"verbs"`
	KindGV     *groupVersion `json:"kindGroupVersion,omitempty"`
	// StorageVersionHash is in the discovery of a single version only.
	StorageVersionHash string              `json:"storageVersionHash,omitempty"`
	Subresources       []servedSubresource `json:"subresources,omitempty"`
}

// servedGroup is one line of /apis, or the group under /api.
type servedGroup struct {
	Name      string   `json:"name"`
	Versions  []string `json:"versions"`
	Preferred string   `json:"preferred"`
}

type servedSubresource struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// KindGV is set where the kind is from another group or version than the
	// resource.
	KindGV *groupVersion `json:"kindGroupVersion,omitempty"`
	Verbs  []string      `json:"verbs"`
}

type groupVersion struct {
	Group   string `json:"group"`
	Version string `json:"version"`
}

// kinds asks the server, which serves less than its types and tables allow.
func kinds(ctx context.Context, server *rest.Config) ([]byte, error) {
	var all []servedKind
	for _, path := range []string{"/api", "/apis"} {
		groups, err := discover(ctx, server, path)
		if err != nil {
			return nil, fmt.Errorf("discover `%s`: %w", path, err)
		}
		for _, group := range groups.Items {
			for _, version := range group.Versions {
				hashes, err := storageVersionHashes(ctx, server, group.Name, version.Version)
				if err != nil {
					return nil, err
				}
				for _, resource := range version.Resources {
					kind := served(groupVersion{group.Name, version.Version}, &resource)
					kind.StorageVersionHash = hashes[resource.Resource]
					all = append(all, kind)
				}
			}
		}
	}
	groups, err := groupsInOrder(ctx, server)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b servedKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Plural, b.Plural))
	})
	d := newDocument()
	// Not sorted: their order is a fact.
	list(d, "groups", groups)
	list(d, "kinds", all)
	return d.bytes()
}

func discover(ctx context.Context, server *rest.Config, path string) (*apidiscoveryv2.APIGroupDiscoveryList, error) {
	groups := &apidiscoveryv2.APIGroupDiscoveryList{}
	return groups, get(ctx, server, path, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", groups)
}

func groupsInOrder(ctx context.Context, server *rest.Config) ([]servedGroup, error) {
	var core metav1.APIVersions
	if err := get(ctx, server, "/api", "application/json", &core); err != nil {
		return nil, err
	}
	if len(core.Versions) == 0 {
		return nil, errors.New("no versions under `/api`")
	}
	var named metav1.APIGroupList
	if err := get(ctx, server, "/apis", "application/json", &named); err != nil {
		return nil, err
	}
	out := []servedGroup{{"", core.Versions, core.Versions[0]}}
	for _, group := range named.Groups {
		entry := servedGroup{Name: group.Name, Preferred: group.PreferredVersion.Version}
		for _, version := range group.Versions {
			entry.Versions = append(entry.Versions, version.Version)
		}
		out = append(out, entry)
	}
	return out, nil
}

// storageVersionHashes returns them by resource.
func storageVersionHashes(ctx context.Context, server *rest.Config, group, version string) (map[string]string, error) {
	path := "/apis/" + group + "/" + version
	if group == "" {
		path = "/api/" + version
	}
	var resources metav1.APIResourceList
	if err := get(ctx, server, path, "application/json", &resources); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, resource := range resources.APIResources {
		out[resource.Name] = resource.StorageVersionHash
	}
	return out, nil
}

func get(ctx context.Context, server *rest.Config, path, accept string, into any) error {
	client, err := rest.HTTPClientFor(server)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.Host+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("get `%s`: %s: %s", path, response.Status, body)
	}
	return json.Unmarshal(body, into)
}

func served(own groupVersion, r *apidiscoveryv2.APIResourceDiscovery) servedKind {
	out := servedKind{
		Group:      own.Group,
		Version:    own.Version,
		Plural:     r.Resource,
		Singular:   r.SingularResource,
		ShortNames: r.ShortNames,
		Categories: r.Categories,
		Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace,
		Verbs:      r.Verbs,
	}
	out.Kind, out.KindGV = kindOf(own, r.ResponseKind)
	for _, s := range r.Subresources {
		sub := servedSubresource{Name: s.Subresource, Verbs: s.Verbs}
		sub.Kind, sub.KindGV = kindOf(own, s.ResponseKind)
		out.Subresources = append(out.Subresources, sub)
	}
	slices.SortFunc(out.Subresources, func(a, b servedSubresource) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// kindOf returns the name of a kind, and its group and version if they are not
// those of the resource. Discovery leaves both empty for "the same".
func kindOf(own groupVersion, kind *metav1.GroupVersionKind) (string, *groupVersion) {
	if kind == nil {
		return "", nil
	}
	given := groupVersion{kind.Group, kind.Version}
	if given == own || given == (groupVersion{}) {
		return kind.Kind, nil
	}
	return kind.Kind, &given
}
