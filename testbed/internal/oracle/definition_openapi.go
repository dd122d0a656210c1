package oracle

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/spec3"
)

type customOpenAPIRequest struct {
	Items []customOpenAPIItem `json:"items"`
}

// customOpenAPIItem is a version of some definitions of one group.
type customOpenAPIItem struct {
	Definitions []apiextensionsv1.CustomResourceDefinition `json:"definitions"`
	Version     string                                     `json:"version"`
}

type customOpenAPIAnswer struct {
	Results []customOpenAPIResult `json:"results"`
}

type customOpenAPIResult struct {
	Document json.RawMessage `json:"document,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// customOpenAPI describes custom kinds in OpenAPI v3.
func customOpenAPI(_ *session, in *customOpenAPIRequest) (*customOpenAPIAnswer, error) {
	out := &customOpenAPIAnswer{Results: make([]customOpenAPIResult, len(in.Items))}
	for i := range in.Items {
		result := customOpenAPIResult{}
		result.Error = text(guarded(func() error { return in.Items[i].describe(&result) }))
		out.Results[i] = result
	}
	return out, nil
}

func (item *customOpenAPIItem) describe(result *customOpenAPIResult) error {
	specs := []*spec3.OpenAPI{}
	for i := range item.Definitions {
		spec, err := builder.BuildOpenAPIV3(&item.Definitions[i], item.Version, builder.Options{IncludeSelectableFields: true})
		if err != nil {
			return err
		}
		specs = append(specs, spec)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	if err != nil {
		return err
	}
	result.Document, err = json.Marshal(merged)
	return err
}
