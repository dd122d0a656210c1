package oracle

import (
	"context"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	apiservicestorage "k8s.io/kube-aggregator/pkg/registry/apiservice/etcd"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"
)

type tableRequest struct {
	Items []tableItem `json:"items"`
}

type tableItem struct {
	Object json.RawMessage `json:"object"`
	// Wide is true unless told, as in the server.
	Wide *bool `json:"wide"`
}

type tableAnswer struct {
	Results []tabled `json:"results"`
}

type tabled struct {
	Columns []metav1.TableColumnDefinition `json:"columns"`
	Rows    []tableRow                     `json:"rows"`
	Error   string                         `json:"error,omitempty"`
}

type tableRow struct {
	Cells      []any                      `json:"cells"`
	Conditions []metav1.TableRowCondition `json:"conditions,omitempty"`
}

// plainTables are the kinds which the server shows with name and creation only.
var plainTables = map[schema.GroupKind]bool{
	{Kind: "LimitRange"}:                                              true,
	{Group: rbacGroup, Kind: "ClusterRole"}:                           true,
	{Group: rbacGroup, Kind: "Role"}:                                  true,
	{Group: storageGroup, Kind: "CSIStorageCapacity"}:                 true,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: true,
}

var tableGenerator = printers.NewTableGenerator().With(printersinternal.AddHandlers)

// table prints objects and lists as the server does.
func table(_ *session, in *tableRequest) (*tableAnswer, error) {
	out := &tableAnswer{Results: make([]tabled, len(in.Items))}
	for i := range in.Items {
		result := tabled{Columns: []metav1.TableColumnDefinition{}, Rows: []tableRow{}}
		result.Error = text(guarded(func() error { return in.Items[i].print(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

func (item *tableItem) print(result *tabled) error {
	var about metav1.TypeMeta
	if err := json.Unmarshal(item.Object, &about); err != nil {
		return err
	}
	kind := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind)
	e, err := endpointOf(kind.Group, kind.Version, kind.Kind)
	if err != nil {
		return err
	}
	object, err := e.decode(item.Object)
	if err != nil {
		return err
	}
	var printed *metav1.Table
	one := schema.GroupKind{Group: kind.Group, Kind: strings.TrimSuffix(kind.Kind, "List")}
	switch {
	case plainTables[one]:
		printed, err = rest.NewDefaultTableConvertor(schema.GroupResource{}).ConvertToTable(context.Background(), object, nil)
	case one.Kind == "APIService":
		printed, err = (&apiservicestorage.REST{}).ConvertToTable(context.Background(), object, nil)
	case item.Wide != nil && !*item.Wide:
		printed, err = tableGenerator.GenerateTable(object, printers.GenerateOptions{})
	default:
		printed, err = printerstorage.TableConvertor{TableGenerator: tableGenerator}.ConvertToTable(context.Background(), object, nil)
	}
	if err != nil {
		return err
	}
	result.Columns = printed.ColumnDefinitions
	for _, row := range printed.Rows {
		result.Rows = append(result.Rows, tableRow{row.Cells, row.Conditions})
	}
	return nil
}
