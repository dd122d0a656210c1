package facts

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// checkSelectors lists every resource by every field label that it should
// accept, and by one that it should not.
func checkSelectors(ctx context.Context, t *testing.T, server *rest.Config, content []byte) {
	var facts struct{ Strategies []strategyFact }
	if err := json.Unmarshal(content, &facts); err != nil {
		t.Fatal(err)
	}
	const unknown = "spec.nonsense"
	for _, fact := range facts.Strategies {
		if fact.Subresource != "" {
			continue
		}
		path := collection(fact.Group, fact.Version, fact.Resource)
		answer := func(label string) error {
			var ignored any
			return get(ctx, server, path+"?fieldSelector="+url.QueryEscape(label+"=x"), "application/json", &ignored)
		}
		for _, label := range fact.FieldSelectors {
			if err := answer(label); err != nil {
				t.Errorf("%s: %v", label, err)
			}
		}
		quoted, err := json.Marshal(strings.ReplaceAll(fact.FieldSelectorError, "{label}", unknown))
		if err != nil {
			t.Fatal(err)
		}
		if err := answer(unknown); err == nil || !strings.Contains(err.Error(), `"message":`+string(quoted)) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// checkColumns compares with the tables that the server sends.
func checkColumns(ctx context.Context, t *testing.T, server *rest.Config, content []byte) {
	var facts struct{ Tables []columnsFact }
	if err := json.Unmarshal(content, &facts); err != nil {
		t.Fatal(err)
	}
	for _, fact := range facts.Tables {
		if fact.Subresource != "" {
			continue
		}
		path := collection(fact.Group, fact.Version, fact.Resource)
		var table metav1.Table
		if err := get(ctx, server, path, "application/json;as=Table;g=meta.k8s.io;v=v1", &table); err != nil {
			t.Fatal(err)
		}
		var sent []columnFact
		for _, c := range table.ColumnDefinitions {
			sent = append(sent, columnFact{c.Name, c.Type, c.Format, c.Priority})
		}
		if !reflect.DeepEqual(sent, fact.Columns) {
			t.Errorf("%s has columns %v, expected %v", path, sent, fact.Columns)
		}
	}
}

func collection(group, version, resource string) string {
	if group == "" {
		return "/api/" + version + "/" + resource
	}
	return "/apis/" + group + "/" + version + "/" + resource
}
