//! Kinds with few cells of their own: configuration, access, storage, admission.

use proptest::prelude::*;

use super::kinds::{Kind, kind};
use super::shape::{
    Any, conditions, count, flag, int, labels, list, map, micro_time, name, one_of, quantity, selector, time, with,
};

const ADMISSION: &str = "admissionregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const STORAGE: &str = "storage.k8s.io";

pub(super) fn kinds() -> Vec<Kind> {
    [plain(), configuration(), access(), events(), volumes(), drivers(), admission()].into_iter().flatten().collect()
}

fn plain() -> Vec<Kind> {
    vec![
        kind("", "v1", "LimitRange", vec![]),
        kind("", "v1", "ServiceAccount", vec![]),
        kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", vec![]),
        kind(RBAC, "v1", "ClusterRole", vec![]),
        kind(RBAC, "v1", "Role", vec![]),
        kind(STORAGE, "v1", "CSIStorageCapacity", vec![("capacity", quantity())]),
    ]
}

fn configuration() -> Vec<Kind> {
    let quotas = || map(&["cpu", "limits.cpu", "limits", "limits.memory", "requests.storage", "pods"], &quantity());
    let health = with(vec![
        ("type", one_of(&["Healthy", "Odd"])),
        ("status", one_of(&["True", "False"])),
        ("message", name()),
        ("error", name()),
    ]);
    let service = with(vec![("namespace", name()), ("name", name())]);
    vec![
        kind("", "v1", "ComponentStatus", vec![("conditions", list(health))]),
        kind("", "v1", "ConfigMap", vec![("data", labels()), ("binaryData", bytes())]),
        kind(
            "",
            "v1",
            "Secret",
            vec![
                ("type", one_of(&["Opaque", "kubernetes.io/tls"])),
                ("data", bytes()),
                ("stringData", map(&["b", "c"], &name())),
            ],
        ),
        kind("", "v1", "Namespace", vec![("status", with(vec![("phase", one_of(&["Active", "Terminating"]))]))]),
        kind("", "v1", "ResourceQuota", vec![("status", with(vec![("hard", quotas()), ("used", quotas())]))]),
        kind("coordination.k8s.io", "v1", "Lease", vec![("spec", with(vec![("holderIdentity", name())]))]),
        kind(
            "scheduling.k8s.io",
            "v1",
            "PriorityClass",
            vec![
                ("value", int(-5..2_000_000_000)),
                ("globalDefault", flag()),
                ("preemptionPolicy", one_of(&["Never", "PreemptLowerPriority"])),
            ],
        ),
        kind(
            "apiregistration.k8s.io",
            "v1",
            "APIService",
            vec![
                ("spec", with(vec![("service", service)])),
                ("status", with(vec![("conditions", conditions(&["Available", "Odd"]))])),
            ],
        ),
    ]
}

fn bytes() -> Any {
    map(&["a", "b"], &one_of(&["", "YQ=="]))
}

fn access() -> Vec<Kind> {
    let subject = with(vec![
        ("kind", one_of(&["User", "Group", "ServiceAccount", "Robot"])),
        ("name", name()),
        ("namespace", name()),
    ]);
    let role = with(vec![("kind", one_of(&["Role", "ClusterRole"])), ("name", name())]);
    let fields = vec![("roleRef", role), ("subjects", list(subject))];
    vec![kind(RBAC, "v1", "ClusterRoleBinding", fields.clone()), kind(RBAC, "v1", "RoleBinding", fields)]
}

fn events() -> Vec<Kind> {
    let about = with(vec![
        ("kind", one_of(&["Pod", "Deployment", "ΣΊΣΥΦΟΣ", "\u{130}", ""])),
        ("name", one_of(&["web", ""])),
        ("fieldPath", one_of(&["spec.containers{a}"])),
    ]);
    let source = with(vec![("component", one_of(&["kubelet", ""])), ("host", one_of(&["node-1", ""]))]);
    let message = one_of(&["plain", " \t\u{a0}spaced\n", "", "\u{2003}wide\u{200b}"]);
    let series = prop::option::of(with(vec![("count", count()), ("lastObservedTime", micro_time())]));
    let shared = vec![
        ("eventTime", micro_time()),
        ("series", series.prop_map(Into::into).boxed()),
        ("type", one_of(&["Normal", "Warning"])),
        ("reason", name()),
        ("reportingInstance", one_of(&["node-2", ""])),
    ];
    let mut core = shared.clone();
    core.extend([
        ("firstTimestamp", time()),
        ("lastTimestamp", time()),
        ("count", count()),
        ("involvedObject", about.clone()),
        ("source", source.clone()),
        ("message", message.clone()),
        ("reportingComponent", one_of(&["scheduler", ""])),
    ]);
    let mut events = shared;
    events.extend([
        ("deprecatedFirstTimestamp", time()),
        ("deprecatedLastTimestamp", time()),
        ("deprecatedCount", count()),
        ("regarding", about),
        ("deprecatedSource", source),
        ("note", message),
        ("reportingController", one_of(&["scheduler", ""])),
    ]);
    vec![kind("", "v1", "Event", core), kind("events.k8s.io", "v1", "Event", events)]
}

fn volumes() -> Vec<Kind> {
    let modes = || list(one_of(&["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", "Odd"]));
    let size = || map(&["storage", "cpu"], &quantity());
    let class = || one_of(&["fast", ""]);
    let volume = vec![
        ("capacity", size()),
        ("accessModes", modes()),
        ("persistentVolumeReclaimPolicy", one_of(&["Retain", "Delete"])),
        ("claimRef", with(vec![("namespace", name()), ("name", name())])),
        ("storageClassName", class()),
        ("volumeAttributesClassName", class()),
        ("volumeMode", one_of(&["Block", "Filesystem"])),
    ];
    let claim = vec![
        ("accessModes", modes()),
        ("volumeName", one_of(&["pv-1", ""])),
        ("storageClassName", class()),
        ("volumeAttributesClassName", class()),
        ("volumeMode", one_of(&["Block", "Filesystem"])),
    ];
    let phase = || one_of(&["Available", "Bound", "Pending", "Lost"]);
    vec![
        kind(
            "",
            "v1",
            "PersistentVolume",
            vec![("spec", with(volume)), ("status", with(vec![("phase", phase()), ("reason", name())]))],
        ),
        kind(
            "",
            "v1",
            "PersistentVolumeClaim",
            vec![
                ("spec", with(claim)),
                ("status", with(vec![("phase", phase()), ("accessModes", modes()), ("capacity", size())])),
            ],
        ),
    ]
}

fn drivers() -> Vec<Kind> {
    let driver = vec![
        ("attachRequired", flag()),
        ("podInfoOnMount", flag()),
        ("storageCapacity", flag()),
        ("tokenRequests", list(with(vec![("audience", one_of(&["vault", ""]))]))),
        ("requiresRepublish", flag()),
        ("volumeLifecycleModes", list(one_of(&["Persistent", "Ephemeral"]))),
    ];
    let attachment =
        vec![("attacher", name()), ("source", with(vec![("persistentVolumeName", name())])), ("nodeName", name())];
    vec![
        kind(STORAGE, "v1", "CSIDriver", vec![("spec", with(driver))]),
        kind(STORAGE, "v1", "CSINode", vec![("spec", with(vec![("drivers", list(with(vec![("name", name())])))]))]),
        kind(
            STORAGE,
            "v1",
            "StorageClass",
            vec![
                ("provisioner", name()),
                ("reclaimPolicy", one_of(&["Retain", "Delete"])),
                ("volumeBindingMode", one_of(&["Immediate", "WaitForFirstConsumer"])),
                ("allowVolumeExpansion", flag()),
            ],
        ),
        kind(
            STORAGE,
            "v1",
            "VolumeAttachment",
            vec![("spec", with(attachment)), ("status", with(vec![("attached", flag())]))],
        ),
        kind(STORAGE, "v1", "VolumeAttributesClass", vec![("driverName", name())]),
    ]
}

fn admission() -> Vec<Kind> {
    let named = || list(with(vec![("name", name())]));
    let policy = |counted: &'static str, item: Any| {
        let parameters = with(vec![("apiVersion", one_of(&["v1", "acme.io/v1"])), ("kind", name())]);
        vec![("spec", with(vec![("paramKind", parameters), (counted, list(item))]))]
    };
    let binding = || {
        let reference = with(vec![
            ("name", one_of(&["limits", "", ""])),
            ("namespace", one_of(&["team-a", ""])),
            ("selector", selector()),
        ]);
        vec![("spec", with(vec![("policyName", name()), ("paramRef", reference)]))]
    };
    vec![
        kind(ADMISSION, "v1", "MutatingWebhookConfiguration", vec![("webhooks", named())]),
        kind(ADMISSION, "v1", "ValidatingWebhookConfiguration", vec![("webhooks", named())]),
        kind(ADMISSION, "v1", "ValidatingAdmissionPolicy", policy("validations", with(vec![("expression", name())]))),
        kind(ADMISSION, "v1", "MutatingAdmissionPolicy", policy("mutations", with(vec![("patchType", name())]))),
        kind(ADMISSION, "v1", "ValidatingAdmissionPolicyBinding", binding()),
        kind(ADMISSION, "v1", "MutatingAdmissionPolicyBinding", binding()),
    ]
}
