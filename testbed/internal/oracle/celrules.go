package oracle

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

type celRulesRequest struct {
	Items []celRulesItem `json:"items"`
}

// celRulesItem is a schema with rules, and objects of it.
type celRulesItem struct {
	Schema  json.RawMessage  `json:"schema"`
	Objects []celRulesObject `json:"objects"`
}

// celRulesObject is an object, and the one it replaces.
type celRulesObject struct {
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old"`
}

type celRulesAnswer struct {
	Results []celRulesResult `json:"results"`
}

type celRulesResult struct {
	Error string `json:"error,omitempty"`
	// Faults are those of a definition with the schema.
	Faults  []string         `json:"faults"`
	Objects []celRulesJudged `json:"objects"`
}

type celRulesJudged struct {
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// celRules judges schemas by their rules, and objects by those of a schema.
func celRules(_ *session, in *celRulesRequest) (*celRulesAnswer, error) {
	out := &celRulesAnswer{Results: make([]celRulesResult, len(in.Items))}
	for i := range in.Items {
		result := celRulesResult{Faults: []string{}, Objects: []celRulesJudged{}}
		result.Error = text(guarded(func() error { return in.Items[i].run(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

func (item *celRulesItem) run(result *celRulesResult) error {
	structural, _, err := structuralOf(item.Schema)
	if err != nil {
		return err
	}
	versioned := &apiextensionsv1.JSONSchemaProps{}
	if err := utiljson.Unmarshal(item.Schema, versioned); err != nil {
		return err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: versioned},
			}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition, internal, nil); err != nil {
		return err
	}
	for _, fault := range apiextensionsvalidation.ValidateCustomResourceDefinition(context.Background(), internal) {
		result.Faults = append(result.Faults, fault.Error())
	}
	validator := schemacel.NewValidator(structural, true, celconfig.PerCallLimit)
	for _, asked := range item.Objects {
		object, err := celValue(asked.Object)
		if err != nil {
			return err
		}
		old, err := celValue(asked.Old)
		if err != nil {
			return err
		}
		judged := celRulesJudged{Errors: []string{}, Warnings: []string{}}
		ctx := warning.WithWarningRecorder(context.Background(), &celWarnings{judged: &judged})
		options := []schemacel.Option{}
		if old != nil {
			correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})
			options = append(options, schemacel.WithRatcheting(correlated))
		}
		errs, _ := validator.Validate(ctx, nil, structural, object, old, celconfig.RuntimeCELCostBudget, options...)
		for _, err := range errs {
			judged.Errors = append(judged.Errors, err.Error())
		}
		result.Objects = append(result.Objects, judged)
	}
	return nil
}

type celWarnings struct {
	judged *celRulesJudged
}

func (w *celWarnings) AddWarning(_, text string) {
	w.judged.Warnings = append(w.judged.Warnings, strings.TrimSpace(text))
}
