package oracle

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The descriptions of two columns that most tables have, as JSON text.
var nameColumn, createdColumn = described(metav1.ObjectMeta{}.SwaggerDoc(), "name"), described(metav1.ObjectMeta{}.SwaggerDoc(), "creationTimestamp")

func described(docs map[string]string, member string) string {
	quoted, err := json.Marshal(docs[member])
	if err != nil {
		panic(err)
	}
	return string(quoted[1 : len(quoted)-1])
}

// wireCases are conversations about what an API server reads and writes.
var wireCases = []conversation{
	{
		name: "decode: strict errors leave an object, others do not",
		lines: []string{`{"id":1,"op":"decode","items":[
			{"contentType":"application/yaml","body":"metadata: {name: a}\nx: 1","group":"rbac.authorization.k8s.io","version":"v1","kind":"Role","strict":true,"defaulting":true},
			{"contentType":"application/json","body":"{\"data\":5}","version":"v1","kind":"ConfigMap"},
			{"contentType":"application/json","body":"{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\"}","group":"autoscaling","version":"v2","kind":"HorizontalPodAutoscaler","defaulting":true},
			{"contentType":"application/vnd.kubernetes.protobuf","bodyBase64":"azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxICCAUaACIA","version":"v1","kind":"DeleteOptions"}]}`},
		want: `{"id":1,"results":[
			{"object":{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"a"},"rules":null},
				"error":"strict decoding error: unknown field \"x\"","strictErrors":["unknown field \"x\""],"warnings":["unknown field \"x\""],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,
					"message":"Role in version \"v1\" cannot be handled as a Role: strict decoding error: unknown field \"x\""}},
			{"error":"json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string","strictErrors":[],"warnings":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,
					"message":"ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"}},
			{"error":"converting (v1.Scale) to (autoscaling.HorizontalPodAutoscaler): unknown conversion","strictErrors":[],"warnings":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,
					"message":"Scale in version \"v1\" cannot be handled as a HorizontalPodAutoscaler: converting (v1.Scale) to (autoscaling.HorizontalPodAutoscaler): unknown conversion"}},
			{"object":{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5},"error":"","strictErrors":[],"warnings":[]}]}`,
	},
	{
		name: "encode_proto: the envelope names the version that was given",
		lines: []string{`{"id":1,"op":"encode_proto","items":[
			{"object":{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":5}},
			{"object":{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions","gracePeriodSeconds":5}},
			{"object":{"apiVersion":"v1","kind":"Nope"}}]}`},
		want: `{"id":1,"results":[{"base64":"azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxICCAUaACIA"},
			{"base64":"azhzAAofCg5tZXRhLms4cy5pby92MRINRGVsZXRlT3B0aW9ucxICCAUaACIA"},
			{"base64":"","error":"unknown kind ` + "`/v1, Kind=Nope`" + `"}]}`,
	},
	{
		name: "patch: all three kinds, and what lies between patch and result",
		lines: []string{`{"id":1,"op":"patch","items":[
			{"type":"json","version":"v1","kind":"ConfigMap","original":{"metadata":{"name":"a","namespace":"n","uid":"u"}},"patch":"[{\"op\":\"add\",\"path\":\"/x\",\"value\":1}]"},
			{"type":"merge","version":"v1","kind":"ConfigMap","fieldValidation":"Ignore","original":{"metadata":{"name":"a","namespace":"n","uid":"u"}},"patch":"{"},
			{"type":"strategic","version":"v1","kind":"ServiceAccount","original":{"metadata":{"name":"a","namespace":"n","uid":"u"},"secrets":[{"name":"b"}]},"patch":"{\"secrets\":[{\"name\":\"c\"}]}"},
			{"type":"strategic","version":"v1","kind":"ServiceAccount","original":{"metadata":{"name":"a","namespace":"n","uid":"u"}},"patch":"{\"metadata\":{\"name\":\"b\"}}"}]}`},
		want: `{"id":1,"results":[
			{"patched":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u"},"x":1},
				"result":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u"}},"error":"","strictErrors":["unknown field \"x\""]},
			{"error":"Invalid JSON Patch","strictErrors":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,"message":"Invalid JSON Patch"}},
			{"patched":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u"},"secrets":[{"name":"c"},{"name":"b"}]},
				"result":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u"},"secrets":[{"name":"c"},{"name":"b"}]},"error":"","strictErrors":[]},
			{"patched":{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"b","namespace":"n","uid":"u"}},
				"error":"the name of the object (b) does not match the name on the URL (a)","strictErrors":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,"message":"the name of the object (b) does not match the name on the URL (a)"}}]}`,
	},
	{
		name: "strategy: create, update and subresources",
		lines: []string{`{"id":1,"op":"strategy","items":[
			{"version":"v1","resource":"namespaces","operation":"create","object":{"metadata":{"generateName":"a-"},"status":{"phase":"Terminating"}}},
			{"version":"v1","resource":"namespaces","operation":"update","subresource":"status","object":{"metadata":{"name":"a","labels":{"x":"y"}},"status":{"phase":"Terminating"}},"old":{"metadata":{"name":"a"},"spec":{"finalizers":["kubernetes"]}}},
			{"version":"v1","resource":"secrets","operation":"update","object":{"metadata":{"name":"a","namespace":"n"},"type":"x"},"old":{"metadata":{"name":"a","namespace":"n"},"type":"y"}},
			{"group":"admissionregistration.k8s.io","version":"v1","resource":"validatingadmissionpolicybindings","operation":"create",
				"object":{"metadata":{"name":"a"},"spec":{"policyName":"p","validationActions":["Deny"],"paramRef":{"name":"x","parameterNotFoundAction":"Deny"}}}},
			{"version":"v1","resource":"pods","operation":"create","subresource":"status","object":{}}]}`},
		want: `{"id":1,"results":[
			{"object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a-xxxxx","generateName":"a-","labels":{"kubernetes.io/metadata.name":"a-xxxxx"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}},"errors":[],"warnings":[]},
			{"errors":[{"type":"FieldValueInvalid","field":"status.Phase","detail":"may only be 'Active' if ` + "`deletionTimestamp`" + ` is empty","text":"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if ` + "`deletionTimestamp`" + ` is empty"}],"warnings":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,
					"message":"Namespace \"a\" is invalid: status.Phase: Invalid value: \"Terminating\": may only be 'Active' if ` + "`deletionTimestamp`" + ` is empty",
					"details":{"name":"a","kind":"Namespace","causes":[{"reason":"FieldValueInvalid","message":"Invalid value: \"Terminating\": may only be 'Active' if ` + "`deletionTimestamp`" + ` is empty","field":"status.Phase"}]}}},
			{"errors":[{"type":"FieldValueInvalid","field":"type","detail":"field is immutable","text":"type: Invalid value: \"x\": field is immutable"}],"warnings":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,"message":"Secret \"a\" is invalid: type: Invalid value: \"x\": field is immutable",
					"details":{"name":"a","kind":"Secret","causes":[{"reason":"FieldValueInvalid","message":"Invalid value: \"x\": field is immutable","field":"type"}]}}},
			{"object":{"kind":"ValidatingAdmissionPolicyBinding","apiVersion":"admissionregistration.k8s.io/v1","metadata":{"name":"a","generation":1},"spec":{"policyName":"p","validationActions":["Deny"],"paramRef":{"name":"x","parameterNotFoundAction":"Deny"}}},"errors":[],"warnings":[]},
			{"errors":[],"warnings":[],"error":"create of subresource ` + "`status`" + ` is not known"}]}`,
	},
	{
		name: "managed_fields: conflict, force, an apply without effect, a subresource",
		lines: []string{`{"id":1,"op":"managed_fields","items":[
			{"version":"v1","kind":"ConfigMap","steps":[
				{"operation":"update","manager":"a","object":{"metadata":{"name":"n"},"data":{"x":"1"}}},
				{"operation":"apply","manager":"b","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"x":"2"}}},
				{"operation":"apply","manager":"b","force":true,"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"x":"2"}}},
				{"operation":"apply","manager":"b","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"x":"2"}}}]},
			{"version":"v1","kind":"Namespace","strategy":true,"steps":[
				{"operation":"update","manager":"a","object":{"metadata":{"name":"n"},"status":{"phase":"Terminating"}}},
				{"operation":"update","manager":"b","subresource":"status","object":{"metadata":{"name":"n","labels":{"x":"y"}},"status":{"phase":"Active","conditions":[{"type":"t","status":"True"}]}}}]}]}`},
		want: `{"id":1,"results":[
			{"steps":[
				{"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","managedFields":[
					{"manager":"a","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:x":{}}}}]},"data":{"x":"1"}},"error":""},
				{"error":"Apply failed with 1 conflict: conflict with \"a\" using v1: .data.x","status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Conflict","code":409,
					"message":"Apply failed with 1 conflict: conflict with \"a\" using v1: .data.x","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"a\" using v1","field":".data.x"}]}}},
				{"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","managedFields":[
					{"manager":"b","operation":"Apply","apiVersion":"v1","time":"2000-01-01T00:00:02Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:x":{}}}},
					{"manager":"a","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]},"data":{"x":"2"}},"error":""},
				{"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","managedFields":[
					{"manager":"b","operation":"Apply","apiVersion":"v1","time":"2000-01-01T00:00:02Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:x":{}}}},
					{"manager":"a","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]},"data":{"x":"2"}},"error":""}]},
			{"steps":[
				{"object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","labels":{"kubernetes.io/metadata.name":"n"},"managedFields":[
					{"manager":"a","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}}]},
					"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}},"error":""},
				{"object":{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","labels":{"kubernetes.io/metadata.name":"n","x":"y"},"managedFields":[
					{"manager":"a","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}},
					{"manager":"b","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:01Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:x":{}}},
						"f:status":{"f:conditions":{".":{},"k:{\"type\":\"t\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}},"subresource":"status"}]},
					"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active","conditions":[{"type":"t","status":"True","lastTransitionTime":null}]}},"error":""}]}]}`,
	},
	{
		name: "table: printers and the plain form",
		lines: []string{`{"id":1,"op":"table","items":[
			{"object":{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleList","items":[{"metadata":{"name":"a","creationTimestamp":"2020-01-01T00:00:00Z"}}]}},
			{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"x":""}}},
			{"object":{"apiVersion":"v1","kind":"Binding"}}]}`},
		want: `{"id":1,"results":[
			{"columns":[{"name":"Name","type":"string","format":"name","description":"` + nameColumn + `","priority":0},
				{"name":"Created At","type":"date","format":"","description":"` + createdColumn + `","priority":0}],"rows":[{"cells":["a","2020-01-01T00:00:00Z"]}]},
			{"columns":[{"name":"Name","type":"string","format":"name","description":"` + nameColumn + `","priority":0},
				{"name":"Type","type":"string","format":"","description":"` + described(corev1.Secret{}.SwaggerDoc(), "type") + `","priority":0},
				{"name":"Data","type":"string","format":"","description":"` + described(corev1.Secret{}.SwaggerDoc(), "data") + `","priority":0},
				{"name":"Age","type":"string","format":"","description":"` + createdColumn + `","priority":0}],"rows":[{"cells":["a","Opaque",1,"<unknown>"]}]},
			{"columns":[],"rows":[],"error":"no table handler registered for this type *core.Binding"}]}`,
	},
	{
		name: "selector_parse: labels and fields of list requests",
		lines: []string{`{"id":1,"op":"selector_parse","items":[
			{"label":"b notin (y,x),a==1","sets":[{"a":"1"},{"a":"1","b":"x"}]},
			{"label":"a in"},
			{"field":"spec.host=h,status.phase!=Failed","version":"v1","kind":"Pod","sets":[{"spec.nodeName":"h"}]},
			{"field":"x=y","version":"v1","kind":"ConfigMap"},
			{}]}`},
		want: `{"id":1,"results":[
			{"ok":true,"error":"","canonical":"a==1,b notin (x,y)","matches":[true,false]},
			{"ok":false,"error":"unable to parse requirement: found '' expected: '('","canonical":"","matches":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,"message":"unable to parse requirement: found '' expected: '('"}},
			{"ok":true,"error":"","canonical":"spec.nodeName=h,status.phase!=Failed","matches":[true]},
			{"ok":false,"error":"\"x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"","canonical":"","matches":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"BadRequest","code":400,"message":"\"x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""}},
			{"ok":false,"error":"one of ` + "`label` and `field`" + ` is needed","canonical":"","matches":[],
				"status":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500,"message":"one of ` + "`label` and `field`" + ` is needed"}}]}`,
	},
}
