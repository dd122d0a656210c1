//! Kinds that are stored with Kubernetes' defaults and checks, and that nothing here acts on.

use super::defaults;
use crate::strategy::{Object, Strategy};

/// The rules of one such kind.
struct Rules {
    group: &'static str,
    resource: &'static str,
    version: &'static str,
    kind: &'static str,
}

impl Rules {
    const fn new(group: &'static str, resource: &'static str, kind: &'static str) -> Self {
        Self { group, resource, version: "v1", kind }
    }
}

static RULES: &[Rules] = &[
    Rules::new("", "endpoints", "Endpoints"),
    Rules::new("", "limitranges", "LimitRange"),
    Rules::new("", "nodes", "Node"),
    Rules::new("", "persistentvolumeclaims", "PersistentVolumeClaim"),
    Rules::new("", "persistentvolumes", "PersistentVolume"),
    Rules::new("", "pods", "Pod"),
    Rules::new("", "podtemplates", "PodTemplate"),
    Rules::new("", "replicationcontrollers", "ReplicationController"),
    Rules::new("", "resourcequotas", "ResourceQuota"),
    Rules::new("", "services", "Service"),
    Rules::new("admissionregistration.k8s.io", "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    Rules::new("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    Rules::new("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    Rules::new("admissionregistration.k8s.io", "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    Rules::new("admissionregistration.k8s.io", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    Rules::new("admissionregistration.k8s.io", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    Rules::new("apiregistration.k8s.io", "apiservices", "APIService"),
    Rules::new("apps", "controllerrevisions", "ControllerRevision"),
    Rules::new("apps", "daemonsets", "DaemonSet"),
    Rules::new("apps", "deployments", "Deployment"),
    Rules::new("apps", "replicasets", "ReplicaSet"),
    Rules::new("apps", "statefulsets", "StatefulSet"),
    Rules { version: "v2", ..Rules::new("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler") },
    Rules::new("batch", "cronjobs", "CronJob"),
    Rules::new("batch", "jobs", "Job"),
    Rules::new("discovery.k8s.io", "endpointslices", "EndpointSlice"),
    Rules::new("networking.k8s.io", "ingressclasses", "IngressClass"),
    Rules::new("networking.k8s.io", "ingresses", "Ingress"),
    Rules::new("networking.k8s.io", "networkpolicies", "NetworkPolicy"),
    Rules::new("policy", "poddisruptionbudgets", "PodDisruptionBudget"),
    Rules::new("scheduling.k8s.io", "priorityclasses", "PriorityClass"),
    Rules::new("storage.k8s.io", "csidrivers", "CSIDriver"),
    Rules::new("storage.k8s.io", "csinodes", "CSINode"),
    Rules::new("storage.k8s.io", "csistoragecapacities", "CSIStorageCapacity"),
    Rules::new("storage.k8s.io", "storageclasses", "StorageClass"),
    Rules::new("storage.k8s.io", "volumeattachments", "VolumeAttachment"),
];

/// The rules of a resource, if it is one of these.
pub(super) fn strategy(group: &str, resource: &str) -> Option<&'static dyn Strategy> {
    let at = RULES.binary_search_by(|rules| (rules.group, rules.resource).cmp(&(group, resource))).ok()?;
    RULES.get(at).map(|rules| rules as &dyn Strategy)
}

impl Strategy for Rules {
    fn default(&self, object: &mut Object) {
        let version = object.get("apiVersion").and_then(|text| text.as_str()?.rsplit('/').next());
        let version = version.unwrap_or(self.version).to_owned();
        defaults::of(self.group, &version, self.kind, object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_about_known_kinds() {
        assert!(RULES.is_sorted_by_key(|rules| (rules.group, rules.resource)));
        for rules in RULES {
            let of = |resource: &&crate::facts::Resource| {
                (resource.group, resource.version, resource.kind) == (rules.group, rules.version, rules.kind)
            };
            let resource = crate::facts::resources().iter().find(of).unwrap_or_else(|| panic!("{}", rules.kind));
            assert_eq!(resource.plural, rules.resource);
        }
    }
}
