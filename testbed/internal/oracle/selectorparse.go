package oracle

import (
	"errors"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

type selectorParseRequest struct {
	Items []selectorParseItem `json:"items"`
}

// selectorParseItem has one of Label and Field.
type selectorParseItem struct {
	Label   *string `json:"label"`
	Field   *string `json:"field"`
	Group   string  `json:"group"`
	Version string  `json:"version"`
	Kind    string  `json:"kind"`
	// Sets are labels or fields to match.
	Sets []map[string]string `json:"sets"`
}

type selectorParseAnswer struct {
	Results []parsedSelector `json:"results"`
}

type parsedSelector struct {
	OK        bool           `json:"ok"`
	Error     string         `json:"error"`
	Canonical string         `json:"canonical"`
	Matches   []bool         `json:"matches"`
	Status    *metav1.Status `json:"status,omitempty"`
}

// selectorParse reads selectors from the query of a list request.
func selectorParse(_ *session, in *selectorParseRequest) (*selectorParseAnswer, error) {
	out := &selectorParseAnswer{Results: make([]parsedSelector, len(in.Items))}
	for i := range in.Items {
		result := parsedSelector{Matches: []bool{}}
		err := guarded(func() error { return in.Items[i].parse(&result) })
		result.OK, result.Error, result.Status = err == nil, text(err), statusOf(err)
		out.Results[i] = result
	}
	return out, nil
}

func (item *selectorParseItem) parse(result *parsedSelector) error {
	if (item.Label == nil) == (item.Field == nil) {
		return errors.New("one of `label` and `field` is needed")
	}
	query := url.Values{}
	if item.Label != nil {
		query.Set("labelSelector", *item.Label)
	} else {
		query.Set("fieldSelector", *item.Field)
	}
	options := internalversion.ListOptions{}
	if err := metainternalversionscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, &options); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if item.Field == nil {
		result.Canonical = options.LabelSelector.String()
		for _, set := range item.Sets {
			result.Matches = append(result.Matches, options.LabelSelector.Matches(labels.Set(set)))
		}
		return nil
	}
	e, err := endpointOf(item.Group, item.Version, item.Kind)
	if err != nil {
		return err
	}
	selector, err := options.FieldSelector.Transform(func(label, value string) (string, string, error) {
		return e.scheme.ConvertFieldLabel(e.kind, label, value)
	})
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	result.Canonical = selector.String()
	for _, set := range item.Sets {
		result.Matches = append(result.Matches, selector.Matches(fields.Set(set)))
	}
	return nil
}
