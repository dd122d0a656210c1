package facts

import (
	"cmp"
	"context"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	flowbootstrap "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// flows takes the flow schemas of a new cluster from Kubernetes' tables, in
// the order in which requests are matched, and makes sure that the server has
// created exactly these.
func flows(ctx context.Context, server *rest.Config) ([]byte, error) {
	var declared []flowcontrolv1.FlowSchema
	for _, schema := range slices.Concat(flowbootstrap.MandatoryFlowSchemas, flowbootstrap.SuggestedFlowSchemas) {
		declared = append(declared, *schema)
	}
	client, err := kubernetes.NewForConfig(server)
	if err != nil {
		return nil, err
	}
	created, err := client.FlowcontrolV1().FlowSchemas().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	tidyFlows(declared)
	tidyFlows(created.Items)
	if err := same("flow schemas", declared, created.Items); err != nil {
		return nil, err
	}
	d := newDocument()
	list(d, "flowSchemas", declared)
	return d.bytes()
}

func tidyFlows(schemas []flowcontrolv1.FlowSchema) {
	for i := range schemas {
		s := &schemas[i]
		s.TypeMeta = metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "FlowSchema"}
		s.ObjectMeta, s.Status = chosen(&s.ObjectMeta), flowcontrolv1.FlowSchemaStatus{}
	}
	slices.SortFunc(schemas, func(a, b flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
}
