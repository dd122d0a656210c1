package oracle

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
)

type selectorRequest struct {
	Items []selectorItem `json:"items"`
}

type selectorItem struct {
	Selector *metav1.LabelSelector `json:"selector"`
	Labels   []map[string]string   `json:"labels"`
}

type selectorAnswer struct {
	Results []selection `json:"results"`
}

type selection struct {
	Error   string   `json:"error"`
	Errors  []string `json:"errors"`
	Matches []bool   `json:"matches"`
}

// selector reports both readings of a selector: its validation at admission
// and its use by a controller.
func selector(_ *session, in *selectorRequest) (*selectorAnswer, error) {
	out := &selectorAnswer{Results: make([]selection, len(in.Items))}
	for i, item := range in.Items {
		result := selection{Errors: []string{}, Matches: []bool{}}
		for _, invalid := range metav1validation.ValidateLabelSelector(item.Selector, metav1validation.LabelSelectorValidationOptions{}, nil) {
			result.Errors = append(result.Errors, invalid.Error())
		}
		usable, err := metav1.LabelSelectorAsSelector(item.Selector)
		if err != nil {
			result.Error = err.Error()
		} else {
			for _, set := range item.Labels {
				result.Matches = append(result.Matches, usable.Matches(labels.Set(set)))
			}
		}
		out.Results[i] = result
	}
	return out, nil
}
