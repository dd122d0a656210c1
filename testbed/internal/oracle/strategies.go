package oracle

import (
	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	endpoints "k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// storedResource is a resource with what its registry runs around a write.
type storedResource struct {
	kind     string
	strategy strategy
	// updates are the strategies of the subresources.
	updates map[string]rest.RESTUpdateStrategy
}

// updateStrategy is that of the resource itself if subresource is empty.
func (r *storedResource) updateStrategy(subresource string) (rest.RESTUpdateStrategy, bool) {
	if subresource == "" {
		return r.strategy, true
	}
	s, ok := r.updates[subresource]
	return s, ok
}

// statusOnly is the common set of subresources.
func statusOnly(s rest.RESTUpdateStrategy) map[string]rest.RESTUpdateStrategy {
	return map[string]rest.RESTUpdateStrategy{"status": s}
}

func resource(group, name string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: name}
}

const (
	admissionGroup  = "admissionregistration.k8s.io"
	networkingGroup = "networking.k8s.io"
	rbacGroup       = "rbac.authorization.k8s.io"
	storageGroup    = "storage.k8s.io"
)

// unasked is never called: without an authorizer, nobody's right to read
// parameters is checked.
var unasked = resolver.ResourceResolverFunc(nil)

var (
	policyStrategy     = validatingadmissionpolicy.NewStrategy(nil, unasked)
	definitionStrategy = customresourcedefinition.NewStrategy(apiextensionsapiserver.Scheme)
)

// storedResources are those of the groups that facts describe.
var storedResources = map[schema.GroupResource]storedResource{
	resource("", "configmaps"):  {"ConfigMap", configmap.Strategy, nil},
	resource("", "endpoints"):   {"Endpoints", endpoints.Strategy, nil},
	resource("", "events"):      {"Event", event.Strategy, nil},
	resource("", "limitranges"): {"LimitRange", limitrange.Strategy, nil},
	resource("", "namespaces"): {"Namespace", namespace.Strategy, map[string]rest.RESTUpdateStrategy{
		"status":   namespace.StatusStrategy,
		"finalize": namespace.FinalizeStrategy,
	}},
	resource("", "nodes"):                  {"Node", node.Strategy, statusOnly(node.StatusStrategy)},
	resource("", "persistentvolumeclaims"): {"PersistentVolumeClaim", persistentvolumeclaim.Strategy, statusOnly(persistentvolumeclaim.StatusStrategy)},
	resource("", "persistentvolumes"):      {"PersistentVolume", persistentvolume.Strategy, statusOnly(persistentvolume.StatusStrategy)},
	resource("", "pods"): {"Pod", pod.Strategy, map[string]rest.RESTUpdateStrategy{
		"status":              pod.StatusStrategy,
		"ephemeralcontainers": pod.EphemeralContainersStrategy,
		"resize":              pod.ResizeStrategy,
	}},
	resource("", "podtemplates"):           {"PodTemplate", podtemplate.Strategy, nil},
	resource("", "replicationcontrollers"): {"ReplicationController", replicationcontroller.Strategy, statusOnly(replicationcontroller.StatusStrategy)},
	resource("", "resourcequotas"):         {"ResourceQuota", resourcequota.Strategy, statusOnly(resourcequota.StatusStrategy)},
	resource("", "secrets"):                {"Secret", secret.Strategy, nil},
	resource("", "serviceaccounts"):        {"ServiceAccount", serviceaccount.Strategy, nil},
	resource("", "services"):               {"Service", service.Strategy, statusOnly(service.StatusStrategy)},

	resource(admissionGroup, "mutatingadmissionpolicies"):         {"MutatingAdmissionPolicy", mutatingadmissionpolicy.NewStrategy(nil, unasked), nil},
	resource(admissionGroup, "mutatingadmissionpolicybindings"):   {"MutatingAdmissionPolicyBinding", mutatingadmissionpolicybinding.NewStrategy(nil, nil, unasked), nil},
	resource(admissionGroup, "mutatingwebhookconfigurations"):     {"MutatingWebhookConfiguration", mutatingwebhookconfiguration.Strategy, nil},
	resource(admissionGroup, "validatingadmissionpolicies"):       {"ValidatingAdmissionPolicy", policyStrategy, statusOnly(validatingadmissionpolicy.NewStatusStrategy(policyStrategy))},
	resource(admissionGroup, "validatingadmissionpolicybindings"): {"ValidatingAdmissionPolicyBinding", validatingadmissionpolicybinding.NewStrategy(nil, nil, unasked), nil},
	resource(admissionGroup, "validatingwebhookconfigurations"):   {"ValidatingWebhookConfiguration", validatingwebhookconfiguration.Strategy, nil},

	resource("apiextensions.k8s.io", "customresourcedefinitions"): {"CustomResourceDefinition", definitionStrategy, statusOnly(customresourcedefinition.NewStatusStrategy(apiextensionsapiserver.Scheme))},
	resource("apiregistration.k8s.io", "apiservices"):             {"APIService", apiservice.NewStrategy(aggregatorscheme.Scheme), statusOnly(apiservice.NewStatusStrategy(aggregatorscheme.Scheme))},

	resource("apps", "controllerrevisions"): {"ControllerRevision", controllerrevision.Strategy, nil},
	resource("apps", "daemonsets"):          {"DaemonSet", daemonset.Strategy, statusOnly(daemonset.StatusStrategy)},
	resource("apps", "deployments"):         {"Deployment", deployment.Strategy, statusOnly(deployment.StatusStrategy)},
	resource("apps", "replicasets"):         {"ReplicaSet", replicaset.Strategy, statusOnly(replicaset.StatusStrategy)},
	resource("apps", "statefulsets"):        {"StatefulSet", statefulset.Strategy, statusOnly(statefulset.StatusStrategy)},

	resource("autoscaling", "horizontalpodautoscalers"): {"HorizontalPodAutoscaler", horizontalpodautoscaler.Strategy, statusOnly(horizontalpodautoscaler.StatusStrategy)},
	resource("batch", "cronjobs"):                       {"CronJob", cronjob.Strategy, statusOnly(cronjob.StatusStrategy)},
	resource("batch", "jobs"):                           {"Job", job.Strategy, statusOnly(job.StatusStrategy)},
	resource("coordination.k8s.io", "leases"):           {"Lease", lease.Strategy, nil},
	resource("discovery.k8s.io", "endpointslices"):      {"EndpointSlice", endpointslice.Strategy, nil},
	resource("events.k8s.io", "events"):                 {"Event", event.Strategy, nil},

	resource(networkingGroup, "ingressclasses"):  {"IngressClass", ingressclass.Strategy, nil},
	resource(networkingGroup, "ingresses"):       {"Ingress", ingress.Strategy, statusOnly(ingress.StatusStrategy)},
	resource(networkingGroup, "ipaddresses"):     {"IPAddress", ipaddress.Strategy, nil},
	resource(networkingGroup, "networkpolicies"): {"NetworkPolicy", networkpolicy.Strategy, nil},
	resource(networkingGroup, "servicecidrs"):    {"ServiceCIDR", servicecidr.Strategy, statusOnly(servicecidr.StatusStrategy)},

	resource("policy", "poddisruptionbudgets"):        {"PodDisruptionBudget", poddisruptionbudget.Strategy, statusOnly(poddisruptionbudget.StatusStrategy)},
	resource(rbacGroup, "clusterrolebindings"):        {"ClusterRoleBinding", clusterrolebinding.Strategy, nil},
	resource(rbacGroup, "clusterroles"):               {"ClusterRole", clusterrole.Strategy, nil},
	resource(rbacGroup, "rolebindings"):               {"RoleBinding", rolebinding.Strategy, nil},
	resource(rbacGroup, "roles"):                      {"Role", role.Strategy, nil},
	resource("scheduling.k8s.io", "priorityclasses"):  {"PriorityClass", priorityclass.Strategy, nil},
	resource(storageGroup, "csidrivers"):              {"CSIDriver", csidriver.Strategy, nil},
	resource(storageGroup, "csinodes"):                {"CSINode", csinode.Strategy, nil},
	resource(storageGroup, "csistoragecapacities"):    {"CSIStorageCapacity", csistoragecapacity.Strategy, nil},
	resource(storageGroup, "storageclasses"):          {"StorageClass", storageclass.Strategy, nil},
	resource(storageGroup, "volumeattachments"):       {"VolumeAttachment", volumeattachment.Strategy, statusOnly(volumeattachment.StatusStrategy)},
	resource(storageGroup, "volumeattributesclasses"): {"VolumeAttributesClass", volumeattributesclass.Strategy, nil},
}
