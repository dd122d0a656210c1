package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"unsafe"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apiextensions-apiserver/pkg/controller/apiapproval"
	"k8s.io/apiextensions-apiserver/pkg/controller/establish"
	"k8s.io/apiextensions-apiserver/pkg/controller/nonstructuralschema"
	"k8s.io/apiextensions-apiserver/pkg/controller/status"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
)

type definitionStatusRequest struct {
	Items []definitionStatusItem `json:"items"`
}

// definitionStatusItem is a set of definitions and the controllers that look at
// them, one after the other.
type definitionStatusItem struct {
	Definitions []apiextensionsv1.CustomResourceDefinition `json:"definitions"`
	Steps       []definitionStep                           `json:"steps"`
}

type definitionStep struct {
	// Controller is naming, establish, approval or structure.
	Controller string `json:"controller"`
	Name       string `json:"name"`
}

type definitionStatusAnswer struct {
	Results []definitionStatusResult `json:"results"`
}

type definitionStatusResult struct {
	// Statuses are those after each step, of the definition it was about.
	Statuses []apiextensionsv1.CustomResourceDefinitionStatus `json:"statuses"`
	Error    string                                           `json:"error,omitempty"`
}

// definitionStatus lets Kubernetes' controllers of definitions write their
// conditions.
func definitionStatus(_ *session, in *definitionStatusRequest) (*definitionStatusAnswer, error) {
	out := &definitionStatusAnswer{Results: make([]definitionStatusResult, len(in.Items))}
	for i := range in.Items {
		result := definitionStatusResult{Statuses: []apiextensionsv1.CustomResourceDefinitionStatus{}}
		result.Error = text(guarded(func() error { return in.Items[i].run(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

func (item *definitionStatusItem) run(result *definitionStatusResult) error {
	ctx := context.Background()
	client := fake.NewSimpleClientset()
	informer := externalversions.NewSharedInformerFactory(client, 0).Apiextensions().V1().CustomResourceDefinitions()
	store := informer.Informer().GetIndexer()
	for i := range item.Definitions {
		definition := &item.Definitions[i]
		if err := client.Tracker().Add(definition); err != nil {
			return err
		}
		if err := store.Add(definition); err != nil {
			return err
		}
	}
	crds := client.ApiextensionsV1()
	controllers := map[string]any{
		"naming":    status.NewNamingConditionController(klog.Background(), informer, crds),
		"establish": establish.NewEstablishingController(informer, crds),
		"approval":  apiapproval.NewKubernetesAPIApprovalPolicyConformantConditionController(informer, crds),
		"structure": nonstructuralschema.NewConditionController(informer, crds),
	}
	for _, step := range item.Steps {
		controller, ok := controllers[step.Controller]
		if !ok {
			return fmt.Errorf("unknown controller `%s`", step.Controller)
		}
		sync, err := syncOf(controller)
		if err != nil {
			return err
		}
		if err := sync(ctx, step.Name); err != nil {
			return err
		}
		definition, err := crds.CustomResourceDefinitions().Get(ctx, step.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := store.Update(definition); err != nil {
			return err
		}
		result.Statuses = append(result.Statuses, definition.Status)
	}
	return nil
}

// syncOf gives access to the step of a controller of definitions, which starts
// goroutines of its own otherwise.
func syncOf(controller any) (syncFunc, error) {
	field := reflect.ValueOf(controller).Elem().FieldByName("syncFn")
	if !field.IsValid() || field.Type() != reflect.TypeFor[syncFunc]() {
		return nil, fmt.Errorf("%T has no field `syncFn`", controller)
	}
	return *(*syncFunc)(unsafe.Pointer(field.UnsafeAddr())), nil
}

type customTableRequest struct {
	Items []customTableItem `json:"items"`
}

// customTableItem is an object and the columns that its definition asks for.
type customTableItem struct {
	Columns []apiextensionsv1.CustomResourceColumnDefinition `json:"columns"`
	Object  json.RawMessage                                  `json:"object"`
}

type customTableAnswer struct {
	Results []tabled `json:"results"`
}

// customTable prints custom resources as the server does.
func customTable(_ *session, in *customTableRequest) (*customTableAnswer, error) {
	out := &customTableAnswer{Results: make([]tabled, len(in.Items))}
	for i := range in.Items {
		result := tabled{Columns: []metav1.TableColumnDefinition{}, Rows: []tableRow{}}
		result.Error = text(guarded(func() error { return in.Items[i].print(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

func (item *customTableItem) print(result *tabled) error {
	object := map[string]any{}
	if err := utiljson.Unmarshal(item.Object, &object); err != nil {
		return err
	}
	// A column that cannot be read leaves those before it.
	convertor, _ := tableconvertor.New(item.Columns)
	table, err := convertor.ConvertToTable(context.Background(), &unstructured.Unstructured{Object: object}, nil)
	if err != nil {
		return err
	}
	result.Columns = table.ColumnDefinitions
	for _, row := range table.Rows {
		result.Rows = append(result.Rows, tableRow{Cells: row.Cells})
	}
	return nil
}
