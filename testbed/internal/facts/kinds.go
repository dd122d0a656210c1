package facts

import (
	"cmp"
	"context"
	"encoding/json"
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
	Group        string              `json:"group"`
	Version      string              `json:"version"`
	Kind         string              `json:"kind"`
	Plural       string              `json:"plural"`
	Singular     string              `json:"singular"`
	ShortNames   []string            `json:"shortNames,omitempty"`
	Categories   []string            `json:"categories,omitempty"`
	Namespaced   bool                `json:"namespaced"`
	Verbs        []string            `json:"verbs"`
	KindGV       *groupVersion       `json:"kindGroupVersion,omitempty"`
	Subresources []servedSubresource `json:"subresources,omitempty"`
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
				for _, resource := range version.Resources {
					all = append(all, served(groupVersion{group.Name, version.Version}, &resource))
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b servedKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Plural, b.Plural))
	})
	d := newDocument()
	list(d, "kinds", all)
	return d.bytes()
}

func discover(ctx context.Context, server *rest.Config, path string) (*apidiscoveryv2.APIGroupDiscoveryList, error) {
	client, err := rest.HTTPClientFor(server)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.Host+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, body)
	}
	groups := &apidiscoveryv2.APIGroupDiscoveryList{}
	return groups, json.Unmarshal(body, groups)
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
