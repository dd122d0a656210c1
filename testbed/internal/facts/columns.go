package facts

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	restclient "k8s.io/client-go/rest"
)

// columnsFact is the table of a resource, or of a subresource of another kind.
type columnsFact struct {
	Group       string       `json:"group"`
	Version     string       `json:"version"`
	Resource    string       `json:"resource"`
	Subresource string       `json:"subresource,omitempty"`
	Kind        string       `json:"kind"`
	Columns     []columnFact `json:"columns"`
}

type columnFact struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Format   string `json:"format,omitempty"`
	Priority int32  `json:"priority,omitempty"`
}

// columns asks the storages for tables without rows.
func columns(ctx context.Context, server *restclient.Config) ([]byte, error) {
	all, err := endpoints(server)
	if err != nil {
		return nil, err
	}
	var out []columnsFact
	// The type of the resource at hand, which is listed before its subresources.
	var resource reflect.Type
	for _, e := range all {
		convertor, ok := e.storage.(rest.TableConvertor)
		if !ok {
			continue
		}
		own := e.storage.New()
		if e.subresource == "" {
			resource = reflect.TypeOf(own)
		} else if reflect.TypeOf(own) == resource {
			// The same table as that of the resource.
			continue
		}
		kinds, _, err := e.scheme.ObjectKinds(own)
		if err != nil {
			return nil, err
		}
		var object runtime.Object = own
		if lister, ok := e.storage.(rest.Lister); ok {
			object = lister.NewList()
		}
		table, err := convertor.ConvertToTable(ctx, object, &metav1.TableOptions{})
		if err != nil {
			return nil, fmt.Errorf("table of `%s` in `%s`: %w", e.path(), e.gv, err)
		}
		fact := columnsFact{Group: e.gv.Group, Version: e.gv.Version, Resource: e.resource, Subresource: e.subresource, Kind: kinds[0].Kind}
		for _, c := range table.ColumnDefinitions {
			fact.Columns = append(fact.Columns, columnFact{c.Name, c.Type, c.Format, c.Priority})
		}
		out = append(out, fact)
	}
	d := newDocument()
	list(d, "tables", out)
	return d.bytes()
}
