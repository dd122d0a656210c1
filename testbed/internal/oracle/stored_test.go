package oracle

import (
	"encoding/json"
	"io"
	"testing"

	"rolewright.io/testbed/internal/logs"
)

// ask sends one item and returns its result.
func ask[Result any](t *testing.T, s *session, op string, item any) Result {
	t.Helper()
	line, err := json.Marshal(map[string]any{"id": 1, "op": op, "items": []any{item}})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Results []Result `json:"results"`
		Error   string   `json:"error"`
	}
	raw := s.answer(line)
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Results) != 1 {
		t.Fatalf("%s: unexpected answer %s", op, raw)
	}
	return answer.Results[0]
}

// TestEveryStoredResource asks each operation that knows resources about all of
// them. What they answer is Kubernetes' business, that they answer is ours.
func TestEveryStoredResource(t *testing.T) {
	logs.To(io.Discard)
	s := &session{world: newWorld()}
	for name, stored := range storedResources {
		t.Run(name.String(), func(t *testing.T) {
			metadata := map[string]any{"name": "a", "labels": map[string]any{"x": "y"}}
			if stored.strategy.NamespaceScoped() {
				metadata["namespace"] = "n"
			}
			object := map[string]any{"apiVersion": name.WithVersion("v1").GroupVersion().String(), "kind": stored.kind, "metadata": metadata}
			kind := func(members map[string]any) map[string]any {
				members["group"], members["version"], members["kind"] = name.Group, "v1", stored.kind
				return members
			}

			for subresource := range stored.updates {
				checkSubresource(t, s, name.Group, name.Resource, stored.kind, subresource, object)
			}
			checkSubresource(t, s, name.Group, name.Resource, stored.kind, "", object)

			created := ask[prepared](t, s, "strategy", map[string]any{"group": name.Group, "version": "v1", "resource": name.Resource, "operation": "create", "object": object})
			if created.Error != "" || (created.Object == nil) == (created.Status == nil) {
				t.Errorf("create: %+v", created)
			}
			// IPAddress has a cell without a column.
			if got := ask[tabled](t, s, "table", map[string]any{"object": object}); got.Error != "" || len(got.Rows) != 1 || len(got.Rows[0].Cells) < len(got.Columns) {
				t.Errorf("table: %+v", got)
			}
			for patchType := range patchTypes {
				change := `{"metadata":{"labels":{"z":"1"}}}`
				if patchType == "json" {
					change = `[{"op":"add","path":"/metadata/labels/z","value":"1"}]`
				}
				if got := ask[patched](t, s, "patch", kind(map[string]any{"type": patchType, "original": object, "patch": change})); got.Error != "" || got.Result == nil || got.Raw == nil {
					t.Errorf("%s patch: %+v", patchType, got)
				}
			}

			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			fromJSON := ask[decoded](t, s, "decode", kind(map[string]any{"contentType": "application/json", "body": string(text), "strict": true, "defaulting": true}))
			proto := ask[encodedProto](t, s, "encode_proto", map[string]any{"object": object})
			fromProto := ask[decoded](t, s, "decode", kind(map[string]any{"contentType": "application/vnd.kubernetes.protobuf", "bodyBase64": proto.Base64, "defaulting": true}))
			if fromJSON.Error != "" || proto.Error != "" || fromProto.Error != "" || string(fromJSON.Object) != string(fromProto.Object) {
				t.Errorf("decode: `%s` %s\n`%s` `%s` %s", fromJSON.Error, fromJSON.Object, proto.Error, fromProto.Error, fromProto.Object)
			}
		})
	}
}

func checkSubresource(t *testing.T, s *session, group, resource, kind, subresource string, object map[string]any) {
	t.Helper()
	updated := ask[prepared](t, s, "strategy", map[string]any{
		"group": group, "version": "v1", "resource": resource, "subresource": subresource, "operation": "update", "object": object, "old": object,
	})
	if updated.Error != "" || (updated.Object == nil) == (updated.Status == nil) {
		t.Errorf("update of `%s`: %+v", subresource, updated)
	}
	life := ask[managedLife](t, s, "managed_fields", map[string]any{"group": group, "version": "v1", "kind": kind, "steps": []any{
		map[string]any{"operation": "update", "manager": "a", "object": object},
		map[string]any{"operation": "apply", "manager": "b", "subresource": subresource, "object": object},
	}})
	for i, step := range life.Steps {
		if step.Error != "" || step.Object == nil {
			t.Errorf("managed fields of `%s`, step %d: %+v", subresource, i, step)
		}
	}
	if life.Error != "" || len(life.Steps) != 2 {
		t.Errorf("managed fields of `%s`: %+v", subresource, life)
	}
}
