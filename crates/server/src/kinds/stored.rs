//! Kinds that are stored with Kubernetes' defaults and checks, and that nothing here acts on.

use rolewright_core::validate::names;

use super::rules::{METADATA, Part, Rules, Status};
use super::{
    admission, apiservice, autoscaling, batch, networking, pod, policy, quota, service, storage, warn, workload,
};
use crate::strategy::Strategy;

const ADMISSION: &str = "admissionregistration.k8s.io";

static RULES: &[Rules] = &[
    Rules {
        validate: networking::endpoints::endpoints,
        validate_update: networking::endpoints::endpoints_update,
        ..Rules::data("", "endpoints", "Endpoints")
    },
    Rules {
        validate: quota::limits::limit_range,
        validate_update: |object, _| quota::limits::limit_range(object),
        ..Rules::data("", "limitranges", "LimitRange")
    },
    Rules {
        status: Status::Given,
        validate: quota::nodes::node,
        validate_update: quota::nodes::node_update,
        validate_status: quota::nodes::node_status,
        create: quota::prepare_node,
        update: quota::prepare_node_update,
        update_status: quota::prepare_node_status,
        selectable: &["spec.unschedulable"],
        ..Rules::data("", "nodes", "Node")
    },
    Rules {
        validate: storage::claim::claim,
        validate_update: storage::claim::claim_update,
        validate_status: storage::claim::claim_status,
        create: storage::prepare_claim,
        update: storage::prepare_claim_update,
        ..Rules::data("", "persistentvolumeclaims", "PersistentVolumeClaim").with_status()
    },
    Rules {
        validate: storage::volume::volume,
        validate_update: storage::volume::volume_update,
        create: storage::prepare_volume,
        update_status: storage::prepare_volume_status,
        ..Rules::data("", "persistentvolumes", "PersistentVolume").with_status()
    },
    Rules {
        status: Status::Given,
        status_keeps: &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
        validate: pod::validate::validate,
        warnings: warn::pod,
        validate_update: pod::update::validate_update,
        validate_status: pod::status::validate_status,
        create: pod::prepare::create,
        update: pod::prepare::update,
        update_status: pod::prepare::update_status,
        parts: &[
            Part {
                name: "ephemeralcontainers",
                update: pod::parts::take_ephemeral,
                validate: pod::parts::validate_ephemeral,
            },
            Part { name: "resize", update: pod::parts::take_resources, validate: pod::parts::validate_resize },
        ],
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
        validate_status: workload::status::replica_set,
        ..workload(Rules::data("", "replicationcontrollers", "ReplicationController"))
    },
    Rules {
        validate: quota::quotas::quota,
        validate_update: quota::quotas::quota_update,
        validate_status: quota::quotas::quota_status,
        ..Rules::data("", "resourcequotas", "ResourceQuota").with_status()
    },
    Rules {
        validate: service::validate::validate,
        warnings: warn::service,
        validate_update: service::update::validate_update,
        validate_status: service::update::validate_status,
        update: service::prepare_update,
        name: names::dns_label,
        selectable: &["spec.clusterIP", "spec.type"],
        ..Rules::data("", "services", "Service").with_status()
    },
    Rules {
        validate: admission::policies::mutating,
        validate_update: admission::policies::mutating_update,
        ..Rules::data(ADMISSION, "mutatingadmissionpolicies", "MutatingAdmissionPolicy").counted(&["spec"])
    },
    Rules {
        validate: admission::bindings::mutating_binding,
        validate_update: |object, _| admission::bindings::mutating_binding(object),
        ..Rules::data(ADMISSION, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding").counted(&["spec"])
    },
    webhooks(Rules::data(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration")),
    Rules {
        status_keeps: METADATA,
        validate: admission::policies::validating,
        validate_update: admission::policies::validating_update,
        validate_status: admission::policies::status,
        ..Rules::data(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy")
            .with_status()
            .counted(&["spec"])
    },
    Rules {
        validate: admission::bindings::validating_binding,
        validate_update: |object, _| admission::bindings::validating_binding(object),
        ..Rules::data(ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding")
            .counted(&["spec"])
    },
    webhooks(Rules::data(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")),
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
        validate_status: apiservice::validate_status,
        create: apiservice::prepare,
        name: names::path_segment,
        ..Rules::data("apiregistration.k8s.io", "apiservices", "APIService").with_status()
    },
    Rules {
        validate: workload::status::revision,
        validate_update: workload::status::revision_update,
        ..Rules::data("apps", "controllerrevisions", "ControllerRevision")
    },
    Rules {
        validate: workload::validate::daemon_set,
        validate_update: workload::validate::daemon_set_update,
        validate_status: workload::status::daemon_set,
        create: workload::prepare_daemon_set,
        update: workload::prepare_daemon_set_update,
        update_status: workload::prepare_daemon_set_status,
        ..workload(Rules::data("apps", "daemonsets", "DaemonSet"))
    },
    Rules {
        validate: workload::validate::deployment,
        warnings: warn::controller,
        validate_update: workload::validate::deployment_update,
        validate_status: workload::status::deployment,
        raises: &["spec", "metadata.annotations"],
        status_keeps: &["spec", "metadata.labels"],
        ..workload(Rules::data("apps", "deployments", "Deployment"))
    },
    Rules {
        validate: workload::validate::replica_set,
        warnings: warn::controller,
        validate_update: workload::validate::replica_set_update,
        validate_status: workload::status::replica_set,
        ..workload(Rules::data("apps", "replicasets", "ReplicaSet"))
    },
    Rules {
        validate: workload::validate::stateful_set,
        validate_update: workload::validate::stateful_set_update,
        validate_status: workload::status::stateful_set,
        create: workload::prepare_stateful_set,
        update: workload::prepare_stateful_set_update,
        name: names::dns_label,
        ..workload(Rules::data("apps", "statefulsets", "StatefulSet"))
    },
    Rules {
        version: "v2",
        validate: autoscaling::validate::validate,
        validate_update: autoscaling::validate::validate_update,
        validate_status: autoscaling::validate::validate_status,
        ..Rules::data("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler").with_status()
    },
    Rules {
        validate: batch::cron::cron_job,
        warnings: warn::controller,
        validate_update: batch::cron::cron_job_update,
        create: |cron| pod::prepare::template(cron, batch::CRON_TEMPLATE, None),
        update: |cron, old| pod::prepare::template(cron, batch::CRON_TEMPLATE, Some(old)),
        ..Rules::data("batch", "cronjobs", "CronJob").with_status().counted(&["spec"])
    },
    Rules {
        validate: batch::validate::job,
        warnings: warn::controller,
        validate_update: batch::update::job_update,
        validate_status: batch::status::job,
        create: batch::prepare_job,
        selectable: &["status.successful"],
        ..workload(Rules::data("batch", "jobs", "Job"))
    },
    Rules {
        validate: networking::endpoints::slice,
        validate_update: networking::endpoints::slice_update,
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
        validate: networking::ingress::class,
        validate_update: networking::ingress::class_update,
        ..Rules::data("networking.k8s.io", "ingressclasses", "IngressClass").counted(&["spec"])
    },
    Rules {
        validate: networking::ingress::ingress,
        warnings: warn::ingress,
        validate_update: networking::ingress::ingress_update,
        validate_status: networking::ingress::ingress_status,
        ..Rules::data("networking.k8s.io", "ingresses", "Ingress").with_status().counted(&["spec"])
    },
    Rules {
        validate: networking::ranges::address,
        validate_update: networking::ranges::address_update,
        name: networking::ranges::address_name,
        ..Rules::data("networking.k8s.io", "ipaddresses", "IPAddress")
    },
    Rules {
        validate: networking::policy::network_policy,
        validate_update: networking::policy::network_policy_update,
        ..Rules::data("networking.k8s.io", "networkpolicies", "NetworkPolicy").counted(&["spec"])
    },
    Rules {
        status_keeps: METADATA,
        validate: networking::ranges::service_cidr,
        validate_update: networking::ranges::service_cidr_update,
        ..Rules::data("networking.k8s.io", "servicecidrs", "ServiceCIDR").with_status()
    },
    Rules {
        validate: policy::validate,
        validate_update: policy::validate_update,
        validate_status: policy::validate_status,
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
        validate: storage::csi::driver,
        validate_update: storage::csi::driver_update,
        create: |driver| storage::drop_unknown(driver, None),
        update: |driver, old| storage::drop_unknown(driver, Some(old)),
        ..Rules::data("storage.k8s.io", "csidrivers", "CSIDriver")
    },
    Rules {
        validate: storage::csi::node,
        validate_update: storage::csi::node_update,
        ..Rules::data("storage.k8s.io", "csinodes", "CSINode")
    },
    Rules {
        validate: storage::csi::capacity,
        validate_update: storage::csi::capacity_update,
        ..Rules::data("storage.k8s.io", "csistoragecapacities", "CSIStorageCapacity")
    },
    Rules {
        validate: storage::class::class,
        validate_update: storage::class::class_update,
        ..Rules::data("storage.k8s.io", "storageclasses", "StorageClass")
    },
    Rules {
        status_keeps: METADATA,
        validate: storage::volume::attachment,
        validate_update: storage::volume::attachment_update,
        ..Rules::data("storage.k8s.io", "volumeattachments", "VolumeAttachment").with_status()
    },
    Rules {
        validate: storage::class::attributes,
        validate_update: storage::class::attributes_update,
        ..Rules::data("storage.k8s.io", "volumeattributesclasses", "VolumeAttributesClass")
    },
];

const fn webhooks(rules: Rules) -> Rules {
    Rules {
        validate: admission::webhooks::configuration,
        validate_update: admission::webhooks::configuration_update,
        ..rules.counted(&["webhooks"])
    }
}

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
