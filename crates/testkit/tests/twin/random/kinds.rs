//! The kinds that random requests are about.

use serde_json::{Value, json};

use super::content;
use super::dice::Dice;

/// A kind, and how its objects are drawn.
pub(super) struct Kind {
    pub(super) plural: &'static str,
    /// The path of its group and version.
    group: &'static str,
    namespaced: bool,
    /// Kubernetes ends these in its own time, so here they are deleted only in dry runs.
    pub(super) lasts: bool,
    /// Everything beside the metadata.
    pub(super) content: fn(&mut Dice) -> Value,
    /// A place in the content for JSON patches, and what may come there.
    pub(super) place: (&'static str, &'static [&'static str]),
    /// A merge patch that takes away what the kind is about.
    pub(super) removal: &'static str,
    /// Field selectors of its own.
    pub(super) fields: &'static [&'static str],
    pub(super) subresources: &'static [&'static str],
}

const PLAIN: Kind = Kind {
    plural: "",
    group: "api/v1",
    namespaced: true,
    lasts: false,
    content: content::config_map,
    place: ("", &[]),
    removal: "{}",
    fields: &[],
    subresources: &[],
};

const RBAC: &str = "apis/rbac.authorization.k8s.io/v1";

pub(super) const KINDS: &[Kind] = &[
    Kind {
        plural: "configmaps",
        place: ("/data/a", &["\"1\"", "\"3\"", "4"]),
        removal: r#"{"data": {"a": null}}"#,
        ..PLAIN
    },
    Kind {
        plural: "secrets",
        content: content::secret,
        place: ("/data/a", &["\"Mw==\"", "\"?\""]),
        removal: r#"{"data": null}"#,
        fields: &["type%3DOpaque", "type%21%3DOpaque"],
        ..PLAIN
    },
    Kind {
        plural: "serviceaccounts",
        content: content::service_account,
        place: ("/automountServiceAccountToken", &["true", "false"]),
        removal: r#"{"secrets": null, "imagePullSecrets": null}"#,
        ..PLAIN
    },
    Kind {
        plural: "roles",
        group: RBAC,
        content: content::role,
        place: ("/rules/0/verbs/-", &["\"get\"", "\"delete\""]),
        removal: r#"{"rules": null}"#,
        ..PLAIN
    },
    Kind {
        plural: "clusterroles",
        group: RBAC,
        namespaced: false,
        content: content::role,
        place: ("/rules/0/resources/0", &["\"pods\"", "\"secrets\""]),
        removal: r#"{"rules": null}"#,
        ..PLAIN
    },
    Kind {
        plural: "rolebindings",
        group: RBAC,
        content: content::binding,
        place: ("/subjects/0/name", &["\"bob\"", "\"{{ns}}-bella\""]),
        removal: r#"{"subjects": null}"#,
        ..PLAIN
    },
    Kind {
        plural: "clusterrolebindings",
        group: RBAC,
        namespaced: false,
        content: content::binding,
        place: ("/roleRef/name", &["\"view\"", "\"{{ns}}-a\""]),
        removal: r#"{"subjects": []}"#,
        ..PLAIN
    },
    Kind {
        plural: "leases",
        group: "apis/coordination.k8s.io/v1",
        content: content::lease,
        place: ("/spec/leaseDurationSeconds", &["5", "-1"]),
        removal: r#"{"spec": {"holderIdentity": null}}"#,
        ..PLAIN
    },
    Kind {
        plural: "events",
        content: content::event,
        place: ("/count", &["2", "-1"]),
        removal: r#"{"reason": null}"#,
        fields: &["reason%3DR", "involvedObject.name%3Da", "type%21%3DWarning"],
        ..PLAIN
    },
    Kind {
        plural: "events",
        group: "apis/events.k8s.io/v1",
        content: content::new_event,
        place: ("/note", &["\"n\"", "1"]),
        removal: r#"{"series": null}"#,
        fields: &["reason%3DR", "regarding.name%3Da"],
        ..PLAIN
    },
    Kind {
        plural: "namespaces",
        namespaced: false,
        lasts: true,
        content: content::namespace,
        place: ("/spec/finalizers/0", &["\"kubernetes\"", "\"example.com/f\""]),
        removal: r#"{"spec": null}"#,
        fields: &["status.phase%3DActive"],
        ..PLAIN
    },
    Kind {
        plural: "deployments",
        group: "apis/apps/v1",
        content: content::deployment,
        place: ("/spec/template/spec/containers/0/image", &["\"i:1\"", "\"i:3\""]),
        removal: r#"{"spec": {"replicas": null}}"#,
        subresources: &["status", "scale"],
        ..PLAIN
    },
    Kind {
        plural: "services",
        content: content::service,
        place: ("/spec/ports/0/port", &["80", "8080"]),
        removal: r#"{"spec": {"selector": null}}"#,
        fields: &["spec.type%3DClusterIP"],
        ..PLAIN
    },
    Kind {
        plural: "poddisruptionbudgets",
        group: "apis/policy/v1",
        content: content::budget,
        place: ("/spec/maxUnavailable", &["1", "\"10%\""]),
        removal: r#"{"spec": {"selector": null}}"#,
        subresources: &["status"],
        ..PLAIN
    },
    Kind {
        plural: "horizontalpodautoscalers",
        group: "apis/autoscaling/v1",
        content: content::autoscaler,
        place: ("/spec/maxReplicas", &["7", "8"]),
        removal: r#"{"spec": {"minReplicas": null}}"#,
        ..PLAIN
    },
    Kind {
        plural: "horizontalpodautoscalers",
        group: "apis/autoscaling/v2",
        content: content::new_autoscaler,
        place: ("/spec/maxReplicas", &["7", "8"]),
        removal: r#"{"spec": {"metrics": null}}"#,
        ..PLAIN
    },
];

impl Kind {
    /// Whether the rights of others depend on it.
    pub(super) fn grants(&self) -> bool {
        self.group == RBAC
    }

    pub(super) fn collection(&self) -> String {
        let namespace = if self.namespaced { "/namespaces/{{ns}}" } else { "" };
        format!("/{}{namespace}/{}", self.group, self.plural)
    }

    /// All objects of a sequence, asked for across namespaces.
    pub(super) fn across(&self) -> Option<String> {
        self.namespaced
            .then(|| format!("/{}/{}?fieldSelector=metadata.namespace%3D{{{{ns}}}}", self.group, self.plural))
    }

    /// A selector for what the sequence made itself.
    pub(super) fn ours(&self) -> &'static str {
        if self.namespaced { "fieldSelector=metadata.name%21%3Ddefault" } else { "labelSelector=twin%3D{{ns}}" }
    }

    /// Those of the sequence's own objects that have labels.
    pub(super) fn selected(&self, labels: &str) -> String {
        let separator = if self.namespaced { "&labelSelector=" } else { "," };
        format!("{}?{}{separator}{labels}", self.collection(), self.ours())
    }

    /// Those of the sequence's own objects that have a field.
    pub(super) fn with_field(&self, field: &str) -> String {
        let ours = if self.namespaced { "" } else { "&labelSelector=twin%3D{{ns}}" };
        format!("{}?fieldSelector={field}{ours}", self.collection())
    }

    /// What an object is called in URLs and bodies.
    pub(super) fn full_name(&self, name: &str) -> String {
        if self.namespaced { name.to_owned() } else { format!("{{{{ns}}}}-{name}") }
    }

    pub(super) fn metadata(&self, dice: &mut Dice, name: &str) -> Value {
        let mut labels = json!({});
        if !self.namespaced {
            labels["twin"] = json!("{{ns}}");
        }
        for (label, values) in [("app", ["x", "y"]), ("tier", ["front", "a b"])] {
            if dice.chance(if label == "app" { 50 } else { 10 }) {
                labels[label] = json!(dice.pick(&values));
            }
        }
        let mut metadata = json!({"name": self.full_name(name), "labels": labels});
        if dice.chance(20) {
            metadata["annotations"] = json!({"note": dice.pick(&["1", "2"])});
        }
        if dice.chance(12) {
            metadata["finalizers"] = json!([dice.pick(&["example.com/f", "example.com/g", "plain"])]);
        }
        if dice.chance(5) {
            let odd = [
                ("namespace", json!("{{ns}}")),
                ("namespace", json!("default")),
                ("creationTimestamp", json!("2020-01-01T00:00:00Z")),
                ("deletionTimestamp", json!("2020-01-01T00:00:00Z")),
                ("deletionGracePeriodSeconds", json!(5)),
                ("generation", json!(7)),
                ("managedFields", json!([])),
                ("managedFields", json!([{}])),
                ("ownerReferences", json!([])),
                ("selfLink", json!("/x")),
                ("labels", json!(null)),
                ("name", json!("Upper")),
            ];
            let (member, value) = dice.pick(&odd);
            metadata[*member] = value.clone();
        }
        metadata
    }

    pub(super) fn object(&self, dice: &mut Dice, name: &str) -> Value {
        let mut object = (self.content)(dice);
        object["metadata"] = self.metadata(dice, name);
        if dice.chance(4) {
            object["colour"] = json!("blue");
        }
        if dice.chance(3) {
            object["kind"] = json!(dice.pick(&["Pod", "Nothing", ""]));
        }
        object
    }
}
