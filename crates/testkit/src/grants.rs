//! A module for tests: the smallest that needs all that modules share.
//!
//! A `Grant` names rules or a role, subjects, and namespaces; it gets a ClusterRole, and a binding in each namespace or
//! one for the whole cluster.

use rolewright_core::{RBAC_GROUP, RoleRef, Rule, Subject};
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING};
use rolewright_plan::{
    Change, Claim, Content, Intent, Kind, Live, Module, Name, ObjectRef, Owner, Snapshot, Time, Wanted, Watch,
    intent::Shape, kind::Reports,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Who gets what where.
pub static GRANT: Kind =
    Kind::cluster::<Grant>("test.rolewright.io", &["v1"], "Grant", "grants").reporting(Reports::Always("Ready"));

/// A label on everything that a grant makes.
const LABEL: &str = "test.rolewright.io/grant";
const PREFIX: &str = "grant-";

/// A grant's content.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Grant {
    spec: Spec,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Spec {
    #[serde(default)]
    rules: Vec<Rule>,
    role: Option<Name>,
    subjects: Vec<Subject>,
    #[serde(default)]
    namespaces: Vec<Name>,
}

/// The module.
#[derive(Debug, Default)]
pub struct Grants;

impl Grants {
    fn wanted(object: ObjectRef, grant: &Live, content: Content) -> Wanted {
        let name = &grant.meta.name;
        let owner = Owner {
            api_version: GRANT.api_version("v1").into(),
            kind: GRANT.kind.into(),
            name: name.clone(),
            uid: grant.meta.uid.clone(),
            controller: true,
        };
        let shape =
            Shape { labels: [(LABEL.into(), name.clone())].into(), owners: vec![owner], content, ..Shape::default() };
        let claim = Claim::Controlled(grant.meta.uid.clone());
        Wanted { object, claim, shape, because: format!("grant `{name}` asks for it") }
    }
}

impl Module for Grants {
    fn name(&self) -> &'static str {
        "grants"
    }

    fn watches(&self) -> Vec<Watch> {
        [&GRANT, &CLUSTER_ROLE, &CLUSTER_ROLE_BINDING, &ROLE_BINDING].map(Watch::needed).to_vec()
    }

    fn writes(&self) -> Vec<Rule> {
        let kinds = ["clusterroles", "clusterrolebindings", "rolebindings"];
        vec![
            Rule::resources([RBAC_GROUP], kinds, ["create", "delete", "patch"]),
            Rule::resources([RBAC_GROUP], ["clusterroles"], ["bind", "escalate"]),
            Rule::resources([GRANT.group], ["grants/status"], ["patch"]),
        ]
    }

    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], _: Time, mark: &mut dyn FnMut(ObjectRef)) {
        for Change { object, before } in changes {
            if *object.kind == GRANT {
                mark(object.clone());
                continue;
            }
            let owners = before.as_deref().into_iter().chain(snapshot.get(object)).flat_map(|live| &live.meta.owners);
            let owners = owners.filter(|owner| owner.kind == GRANT.kind).map(|owner| owner.name.clone());
            for name in owners.chain(object.name.strip_prefix(PREFIX).map(Name::new)) {
                mark(ObjectRef::cluster(&GRANT, name));
            }
        }
    }

    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, _: Time) -> Intent {
        let Some(live) = snapshot.get(key).filter(|live| !live.meta.deleting) else { return Intent::default() };
        let Some(Grant { spec }) = live.body() else { return Intent::default() };
        let name = Name::new(format!("{PREFIX}{}", key.name));
        let mut intent = Intent { held: snapshot.owned_by(&live.meta.uid).cloned().collect(), ..Intent::default() };
        let role = spec.role.clone().unwrap_or_else(|| name.clone());
        if spec.role.is_none() {
            let object = ObjectRef::cluster(&CLUSTER_ROLE, name.clone());
            intent.wanted.push(Self::wanted(object, live, Content::rules(spec.rules.clone())));
        }
        let binding = Content::binding(RoleRef::cluster_role(role), spec.subjects.clone());
        let mut places: Vec<ObjectRef> = spec
            .namespaces
            .iter()
            .map(|namespace| ObjectRef::namespaced(&ROLE_BINDING, namespace.clone(), name.clone()))
            .collect();
        if places.is_empty() {
            places.push(ObjectRef::cluster(&CLUSTER_ROLE_BINDING, name));
        }
        intent.wanted.extend(places.into_iter().map(|object| Self::wanted(object, live, binding.clone())));
        intent
    }

    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef> {
        snapshot.all(&GRANT).map(|live| ObjectRef::cluster(&GRANT, live.meta.name.clone())).collect()
    }
}

/// The definition of grants. It lets anything through, so that tests can store what cannot be understood.
pub fn definition() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{}", GRANT.plural, GRANT.group)},
        "spec": {
            "group": GRANT.group,
            "scope": "Cluster",
            "names": {"plural": GRANT.plural, "singular": "grant", "kind": GRANT.kind, "listKind": "GrantList"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": {
                    "type": "object",
                    "properties": {"conditions": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                        "items": {"type": "object", "required": ["type"], "properties": {
                            "type": {"type": "string"},
                            "status": {"type": "string"},
                            "reason": {"type": "string"},
                            "message": {"type": "string"},
                            "observedGeneration": {"type": "integer", "format": "int64"},
                            "lastTransitionTime": {"type": "string", "format": "date-time"},
                        }},
                    }},
                }}}},
            }],
        },
    })
}

/// A grant as a manifest.
pub fn grant(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": GRANT.api_version("v1"), "kind": GRANT.kind, "metadata": {"name": name}, "spec": spec})
}
