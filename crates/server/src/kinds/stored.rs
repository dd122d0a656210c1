//! Kinds that are stored with Kubernetes' defaults and checks, and that nothing here acts on.

use rolewright_core::validate::names;

use super::rules::{METADATA, Rules, Status};
use super::{apiservice, autoscaling, batch, networking, pod, policy, quota, service, storage, warn, workload};
use crate::strategy::Strategy;

const ADMISSION: &str = "admissionregistration.k8s.io";

static RULES: &[Rules] = &[
    Rules::data("", "endpoints", "Endpoints"),
    Rules::data("", "limitranges", "LimitRange"),
    Rules {
        status: Status::Given,
        create: quota::prepare_node,
        update: quota::prepare_node_update,
        update_status: quota::prepare_node_status,
        selectable: &["spec.unschedulable"],
        ..Rules::data("", "nodes", "Node")
    },
    Rules {
        validate: storage::validate::claim,
        validate_update: storage::validate::claim_update,
        create: storage::prepare_claim,
        update: storage::prepare_claim_update,
        ..Rules::data("", "persistentvolumeclaims", "PersistentVolumeClaim").with_status()
    },
    Rules {
        create: storage::prepare_volume,
        update_status: storage::prepare_volume_status,
        ..Rules::data("", "persistentvolumes", "PersistentVolume").with_status()
    },
    Rules {
        status: Status::Given,
        status_keeps: &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
        validate: pod::validate::validate,
        warnings: warn::pod,
        validate_update: pod::validate::validate_update,
        create: pod::prepare::create,
        update: pod::prepare::update,
        update_status: pod::prepare::update_status,
        selectable: &[
            "spec.host",
            "spec.hostNetwork",
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
        ],
        ..Rules::data("", "pods", "Pod").counted(&["spec"])
    },
    Rules {
        validate: workload::validate::pod_template,
        validate_update: |object, _| workload::validate::pod_template(object),
        create: |template| pod::prepare::template(template, &["template"], None),
        update: |template, old| pod::prepare::template(template, &["template"], Some(old)),
        ..Rules::data("", "podtemplates", "PodTemplate").counted(&["template"])
    },
    Rules {
        selectable: &["status.replicas"],
        validate: workload::validate::replication_controller,
        warnings: warn::controller,
        validate_update: workload::validate::replication_controller_update,
        ..workload(Rules::data("", "replicationcontrollers", "ReplicationController"))
    },
    Rules::data("", "resourcequotas", "ResourceQuota").with_status(),
    Rules {
        validate: service::validate::validate,
        warnings: warn::service,
        validate_update: service::validate::validate_update,
        update: service::prepare_update,
        name: names::dns_label,
        selectable: &["spec.clusterIP", "spec.type"],
        ..Rules::data("", "services", "Service").with_status()
    },
    Rules::data(ADMISSION, "mutatingadmissionpolicies", "MutatingAdmissionPolicy").counted(&["spec"]),
    Rules::data(ADMISSION, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding").counted(&["spec"]),
    Rules::data(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration").counted(&["webhooks"]),
    Rules {
        status_keeps: METADATA,
        ..Rules::data(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy")
            .with_status()
            .counted(&["spec"])
    },
    Rules::data(ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding").counted(&["spec"]),
    Rules::data(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration").counted(&["webhooks"]),
    Rules {
        status_keeps: &[
            "spec",
            "metadata.annotations",
            "metadata.finalizers",
            "metadata.labels",
            "metadata.ownerReferences",
        ],
        validate: apiservice::validate,
        validate_update: |object, _| apiservice::validate(object),
        create: apiservice::prepare,
        name: names::path_segment,
        ..Rules::data("apiregistration.k8s.io", "apiservices", "APIService").with_status()
    },
    Rules::data("apps", "controllerrevisions", "ControllerRevision"),
    Rules {
        validate: workload::validate::daemon_set,
        validate_update: workload::validate::daemon_set_update,
        create: workload::prepare_daemon_set,
        update: workload::prepare_daemon_set_update,
        update_status: workload::prepare_daemon_set_status,
        ..workload(Rules::data("apps", "daemonsets", "DaemonSet"))
    },
    Rules {
        validate: workload::validate::deployment,
        warnings: warn::controller,
        validate_update: workload::validate::deployment_update,
        raises: &["spec", "metadata.annotations"],
        status_keeps: &["spec", "metadata.labels"],
        ..workload(Rules::data("apps", "deployments", "Deployment"))
    },
    Rules {
        validate: workload::validate::replica_set,
        warnings: warn::controller,
        validate_update: workload::validate::replica_set_update,
        ..workload(Rules::data("apps", "replicasets", "ReplicaSet"))
    },
    Rules {
        validate: workload::validate::stateful_set,
        validate_update: workload::validate::stateful_set_update,
        create: workload::prepare_stateful_set,
        update: workload::prepare_stateful_set_update,
        name: names::dns_label,
        ..workload(Rules::data("apps", "statefulsets", "StatefulSet"))
    },
    Rules {
        version: "v2",
        validate: autoscaling::validate,
        validate_update: autoscaling::validate_update,
        ..Rules::data("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler").with_status()
    },
    Rules {
        validate: batch::validate::cron_job,
        warnings: warn::controller,
        validate_update: batch::validate::cron_job_update,
        create: |cron| pod::prepare::template(cron, batch::CRON_TEMPLATE, None),
        update: |cron, old| pod::prepare::template(cron, batch::CRON_TEMPLATE, Some(old)),
        ..Rules::data("batch", "cronjobs", "CronJob").with_status().counted(&["spec"])
    },
    Rules {
        validate: batch::validate::job,
        warnings: warn::controller,
        validate_update: batch::validate::job_update,
        create: batch::prepare_job,
        selectable: &["status.successful"],
        ..workload(Rules::data("batch", "jobs", "Job"))
    },
    Rules {
        create: |slice| networking::drop_topology(slice, None),
        update: |slice, old| networking::drop_topology(slice, Some(old)),
        ..Rules::data("discovery.k8s.io", "endpointslices", "EndpointSlice").counted(&[
            "addressType",
            "endpoints",
            "ports",
            "metadata.labels",
        ])
    },
    Rules {
        validate_update: networking::validate::ingress_class_update,
        ..Rules::data("networking.k8s.io", "ingressclasses", "IngressClass").counted(&["spec"])
    },
    Rules {
        validate: networking::validate::ingress,
        warnings: warn::ingress,
        validate_update: networking::validate::ingress_update,
        ..Rules::data("networking.k8s.io", "ingresses", "Ingress").with_status().counted(&["spec"])
    },
    Rules {
        validate: networking::validate::network_policy,
        validate_update: networking::validate::network_policy_update,
        ..Rules::data("networking.k8s.io", "networkpolicies", "NetworkPolicy").counted(&["spec"])
    },
    Rules {
        validate: policy::validate,
        validate_update: policy::validate_update,
        judges_metadata: false,
        ..Rules::data("policy", "poddisruptionbudgets", "PodDisruptionBudget").with_status().counted(&["spec"])
    },
    Rules {
        validate: policy::priority_class,
        validate_update: policy::priority_class_update,
        ..Rules::data("scheduling.k8s.io", "priorityclasses", "PriorityClass").counted(&[])
    },
    Rules {
        raises: &["spec"],
        create: |driver| storage::drop_unknown(driver, None),
        update: |driver, old| storage::drop_unknown(driver, Some(old)),
        ..Rules::data("storage.k8s.io", "csidrivers", "CSIDriver")
    },
    Rules::data("storage.k8s.io", "csinodes", "CSINode"),
    Rules::data("storage.k8s.io", "csistoragecapacities", "CSIStorageCapacity"),
    Rules {
        validate: storage::validate::class,
        validate_update: storage::validate::class_update,
        ..Rules::data("storage.k8s.io", "storageclasses", "StorageClass")
    },
    Rules {
        status_keeps: METADATA,
        ..Rules::data("storage.k8s.io", "volumeattachments", "VolumeAttachment").with_status()
    },
];

/// A controller with a template of pods in its spec.
const fn workload(rules: Rules) -> Rules {
    Rules {
        create: |object| pod::prepare::template(object, workload::TEMPLATE, None),
        update: |object, old| pod::prepare::template(object, workload::TEMPLATE, Some(old)),
        ..rules.with_status().counted(&["spec"])
    }
}

/// The rules of a resource, if it is one of these.
pub(super) fn strategy(group: &str, resource: &str) -> Option<&'static dyn Strategy> {
    let at = RULES.binary_search_by(|rules| (rules.group, rules.resource).cmp(&(group, resource))).ok()?;
    RULES.get(at).map(|rules| rules as &dyn Strategy)
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
