package oracle

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// conversation is a list of lines to send; the answer to the last counts.
type conversation struct {
	name  string
	lines []string
	want  string
}

var cases = []conversation{
	{
		name: "cluster binding allows and names its source",
		lines: []string{
			`{"id":1,"op":"load","world":{
				"clusterRoles":[{"metadata":{"name":"reader"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}],
				"clusterRoleBindings":[
					{"metadata":{"name":"z"},"roleRef":{"kind":"ClusterRole","name":"reader"},"subjects":[{"kind":"User","name":"ann"}]},
					{"metadata":{"name":"a"},"roleRef":{"kind":"ClusterRole","name":"reader"},"subjects":[{"kind":"User","name":"ann"}]}]}}`,
			`{"id":2,"op":"authorize","requests":[{"user":"ann","verb":"get","resource":"pods","namespace":"x"},{"user":"ann","verb":"get","resource":"pods","subresource":"log"}]}`,
		},
		want: `{"id":2,"results":[
			{"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"a\" of ClusterRole \"reader\" to User \"ann\"","error":""},
			{"allowed":false,"reason":"","error":""}]}`,
	},
	{
		name:  "system:masters comes before RBAC",
		lines: []string{`{"id":1,"op":"authorize","requests":[{"user":"root","groups":["system:masters"],"verb":"get","path":"/metrics"},{"user":"ann","verb":"get","path":"/metrics"}]}`},
		want:  `{"id":1,"results":[{"allowed":true,"reason":"","error":""},{"allowed":false,"reason":"","error":""}]}`,
	},
	{
		name: "dangling reference shows in a denial",
		lines: []string{
			`{"id":1,"op":"load","world":{"roleBindings":[{"metadata":{"name":"b","namespace":"n"},"roleRef":{"kind":"Role","name":"ghost"},"subjects":[{"kind":"ServiceAccount","name":"s"}]}]}}`,
			`{"id":2,"op":"authorize","requests":[{"user":"system:serviceaccount:n:s","verb":"get","resource":"pods","namespace":"n"}]}`,
		},
		want: `{"id":2,"results":[{"allowed":false,"reason":"RBAC: role.rbac.authorization.k8s.io \"ghost\" not found","error":""}]}`,
	},
	{
		name: "who can repeats subjects",
		lines: []string{
			`{"id":1,"op":"load","world":{
				"clusterRoles":[{"metadata":{"name":"r"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}],
				"clusterRoleBindings":[
					{"metadata":{"name":"a"},"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"ann"}]},
					{"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"ann"}]}]}}`,
			`{"id":2,"op":"who_can","requests":[{"verb":"get","resource":"pods"}]}`,
		},
		want: `{"id":2,"results":[{"error":"","subjects":[
			{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"system:masters"},{"kind":"User","name":"ann"},{"kind":"User","name":"ann"}]}]}`,
	},
	{
		name: "escalation lists compacted gaps",
		lines: []string{
			`{"id":1,"op":"load","world":{}}`,
			`{"id":2,"op":"confirm_no_escalation","queries":[{"user":"ann","groups":["g"],"rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]}]}`,
		},
		want: `{"id":2,"results":[{"ok":false,"message":"user \"ann\" (groups=[\"g\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}"}]}`,
	},
	{
		name: "rules without a namespace are those of cluster bindings",
		lines: []string{
			`{"id":1,"op":"load","world":{
				"clusterRoles":[{"metadata":{"name":"r"},"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}],
				"roleBindings":[{"metadata":{"name":"a","namespace":"n"},"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"ann"}]}]}}`,
			`{"id":2,"op":"rules_for","queries":[{"user":"ann"},{"user":"ann","namespace":"n"}]}`,
		},
		want: `{"id":2,"results":[{"rules":[],"errors":[]},{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}],"errors":[]}]}`,
	},
	{
		name:  "enumeration does not cover a star",
		lines: []string{`{"id":1,"op":"covers","pairs":[{"owner":[{"verbs":["get","list"],"apiGroups":[""],"resources":["*/log"]}],"servant":[{"verbs":["get"],"apiGroups":[""],"resources":["pods/log","*"]}]}]}`},
		want:  `{"id":1,"results":[{"covered":false,"missing":[{"verbs":["get"],"apiGroups":[""],"resources":["*"]}]}]}`,
	},
	{
		name:  "compact merges single resources and sorts them after the rest",
		lines: []string{`{"id":1,"op":"compact","rules":[[{"verbs":["get"],"apiGroups":[""],"resources":["z"]},{"verbs":["list"],"apiGroups":[""],"resources":["z"]},{"verbs":["get"],"apiGroups":[""],"resources":["a"]},{"verbs":["get"],"nonResourceURLs":["/"]}]]}`},
		want:  `{"id":1,"results":[[{"verbs":["get"],"nonResourceURLs":["/"]},{"verbs":["get"],"apiGroups":[""],"resources":["a"]},{"verbs":["get","list"],"apiGroups":[""],"resources":["z"]}]]}`,
	},
	{
		name: "aggregation follows a chain and keeps hand-written rules without a source",
		lines: []string{`{"id":1,"op":"aggregate","clusterRoles":[
			{"metadata":{"name":"top"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"top"}}]}},
			{"metadata":{"name":"mid","labels":{"to":"top"}},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"mid"}}]}},
			{"metadata":{"name":"leaf","labels":{"to":"mid"}},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]},
			{"metadata":{"name":"hand"},"rules":[{"verbs":["own"]}],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"nobody"}}]}}]}`},
		want: `{"id":1,"rounds":3,"converged":true,"writes":2,"requests":5,"errors":{},"roles":{
			"top":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}],
			"mid":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}],
			"hand":[{"verbs":["own"]}]}}`,
	},
	{
		name: "aggregation clears rules that the controller owns alone",
		lines: []string{`{"id":1,"op":"aggregate","clusterRoles":[
			{"metadata":{"name":"owned","managedFields":[{"manager":"clusterrole-aggregation-controller","operation":"Apply","fieldsV1":{"f:rules":{}}}]},
				"rules":[{"verbs":["old"]}],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"nobody"}}]}},
			{"metadata":{"name":"shared","managedFields":[
					{"manager":"clusterrole-aggregation-controller","operation":"Apply","fieldsV1":{"f:rules":{}}},
					{"manager":"kubectl","operation":"Update","fieldsV1":{"f:rules":{}}}]},
				"rules":[{"verbs":["old"]}],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"nobody"}}]}}]}`},
		want: `{"id":1,"rounds":2,"converged":true,"writes":2,"requests":3,"errors":{},"roles":{"owned":[],"shared":[{"verbs":["old"]}]}}`,
	},
	{
		name: "aggregation of a cycle keeps a revoked rule",
		lines: []string{`{"id":1,"op":"aggregate","clusterRoles":[
			{"metadata":{"name":"a","labels":{"to":"b"}},"rules":[{"verbs":["gone"]}],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"a"}}]}},
			{"metadata":{"name":"b","labels":{"to":"a"}},"rules":[{"verbs":["gone"]}],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"b"}}]}}]}`},
		want: `{"id":1,"rounds":1,"converged":true,"writes":0,"requests":0,"errors":{},"roles":{"a":[{"verbs":["gone"]}],"b":[{"verbs":["gone"]}]}}`,
	},
	{
		name: "validation of create and update",
		lines: []string{`{"id":1,"op":"validate","items":[
			{"kind":"Role","object":{"metadata":{"name":"r","namespace":"n"},"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}},
			{"kind":"RoleBinding","object":{"metadata":{"name":"b","namespace":"n"},"roleRef":{"kind":"Role","name":"x"}},
				"old":{"metadata":{"name":"b","namespace":"n","uid":"u"},"roleRef":{"kind":"Role","name":"y"}}},
			{"kind":"ClusterRole","object":{"metadata":{"generateName":"g-"}}},
			{"kind":"ClusterRole","object":{"rules":5}}]}`},
		want: `{"id":1,"results":[
			{"errors":[{"type":"FieldValueInvalid","field":"rules[0].nonResourceURLs","detail":"namespaced rules cannot apply to non-resource URLs",
				"text":"rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs"}]},
			{"errors":[{"type":"FieldValueInvalid","field":"roleRef","detail":"cannot change roleRef",
				"text":"roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"x\"}: cannot change roleRef"}]},
			{"errors":[]},
			{"errors":[],"error":"decode ` + "`object`" + `: json: cannot unmarshal number into Go struct field ClusterRole.rules of type []v1.PolicyRule"}]}`,
	},
	{
		name:  "selectors",
		lines: []string{`{"id":1,"op":"selector","items":[{"selector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]},"labels":[{"a":"b"},{"a":"c"},{}]},{"selector":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]},"labels":[{}]}]}`},
		want: `{"id":1,"results":[{"error":"","errors":[],"matches":[false,true,true]},
			{"error":"\"Gt\" is not a valid label selector operator","errors":["matchExpressions[0].operator: Invalid value: \"Gt\": not a valid selector operator"],"matches":[]}]}`,
	},
	{
		name:  "unknown operation",
		lines: []string{`{"id":"a","op":"nope"}`},
		want:  `{"id":"a","error":"unknown op ` + "`nope`" + `"}`,
	},
	{
		name:  "misspelled member",
		lines: []string{`{"id":1,"op":"authorize","request":[]}`},
		want:  `{"id":1,"error":"unknown field ` + "`request`" + `"}`,
	},
	{
		name:  "an error leaves the loaded world alone",
		lines: []string{`{"id":1,"op":"load","world":{"roles":[null]}}`, `{"id":2,"op":"load","world":{"roles":[{"metadata":{"name":"a"}},{"metadata":{"name":"a"}}]}}`},
		want:  `{"id":2,"error":"*v1.Role ` + "`a`" + ` is given twice"}`,
	},
}

func TestConversations(t *testing.T) {
	for _, c := range slices.Concat(cases, wireCases) {
		t.Run(c.name, func(t *testing.T) {
			answers := converse(t, c.lines)
			var got, want any
			if err := json.Unmarshal([]byte(answers[len(answers)-1]), &got); err != nil {
				t.Fatalf("answer is no JSON: %v", err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatalf("expectation is no JSON: %v", err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("answer is\n%s\nwant\n%s", answers[len(answers)-1], c.want)
			}
		})
	}
}

// converse sends the lines, whose own newlines are only for the reader.
func converse(t *testing.T, lines []string) []string {
	t.Helper()
	var in, out bytes.Buffer
	for _, line := range lines {
		in.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n")
	}
	if err := Serve(&in, &out); err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d requests", len(answers), len(lines))
	}
	return answers
}

func TestBadLinesAreAnswered(t *testing.T) {
	answers := converse(t, []string{`{`, `[]`, `{"id":3}`, `{"id":4,"op":"version"}`})
	for i, want := range []string{`{"id":null,"error":`, `{"id":null,"error":`, `{"id":3,"error":`, `{"id":4,"kubernetes":`} {
		if !strings.HasPrefix(answers[i], want) {
			t.Errorf("answer %d is %s, want %s...", i, answers[i], want)
		}
	}
}

func TestBenches(t *testing.T) {
	answers := converse(t, []string{
		`{"id":1,"op":"load","world":{}}`,
		`{"id":2,"op":"bench_authorize","iterations":3,"requests":[{"groups":["system:masters"],"verb":"get","resource":"pods"},{"user":"u","verb":"get","resource":"pods"}]}`,
		`{"id":3,"op":"bench_covers","iterations":3,"owner":[],"servant":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`,
	})
	for _, answer := range answers[1:] {
		var got struct {
			NsPerOp float64 `json:"ns_per_op"`
			Allowed *int    `json:"allowed"`
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || got.NsPerOp <= 0 || got.Allowed != nil && *got.Allowed != 1 {
			t.Errorf("unexpected answer %s", answer)
		}
	}
}
