package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"rolewright.io/testbed/internal/apiserver"
)

// TestFacts starts the real API server, so it is the slowest test here.
func TestFacts(t *testing.T) {
	server, err := apiserver.New(apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	// The server outlives the test: its orderly end takes 20 seconds.
	if err := server.Start(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	first, err := collect(ctx, server.Client)
	if err != nil {
		t.Fatal(err)
	}
	second, err := collect(ctx, server.Client)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range first {
		if !json.Valid(content) {
			t.Errorf("%s is no JSON", name)
		}
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}

	// One line each, from the corners of the tables.
	for name, line := range map[string]string{
		"bootstrap.json":  `{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"cluster-admin","labels":{"kubernetes.io/bootstrapping":"rbac-defaults"},"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},{"verbs":["*"],"nonResourceURLs":["*"]}]},`,
		"columns.json":    `{"group":"networking.k8s.io","version":"v1","resource":"ipaddresses","kind":"IPAddress","columns":[{"name":"Name","type":"string","format":"name"},{"name":"ParentRef","type":"string"}]},`,
		"fields.json":     `{"name":"io.k8s.api.rbac.v1.AggregationRule","fields":[{"name":"clusterRoleSelectors","type":{"list":{"ref":"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"}},"proto":1,"omitempty":true,"listType":"atomic"}]},`,
		"flows.json":      `{"kind":"FlowSchema","apiVersion":"flowcontrol.apiserver.k8s.io/v1","metadata":{"name":"probes","annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}},"spec":{"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":2,"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},{"kind":"Group","group":{"name":"system:authenticated"}}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/healthz","/readyz","/livez"]}]}]},"status":{}},`,
		"kinds.json":      `{"group":"apps","version":"v1","kind":"ControllerRevision","plural":"controllerrevisions","singular":"controllerrevision","namespaced":true,"verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"storageVersionHash":"85nkx63pcBU="},`,
		"strategies.json": `{"group":"apps","version":"v1","resource":"deployments","subresource":"status","namespaced":true,"allowUnconditionalUpdate":true,"resetFields":["metadata.labels","spec"],"updateKeeps":["metadata.labels","spec"]},`,
	} {
		if !bytes.Contains(first[name], []byte("\n"+line+"\n")) {
			t.Errorf("%s lacks the line %s", name, line)
		}
	}
	checkSelectors(ctx, t, server.Client, first["strategies.json"])
	checkColumns(ctx, t, server.Client, first["columns.json"])
}
