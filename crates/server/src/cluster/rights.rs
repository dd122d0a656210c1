//! What RBAC objects mean: who may do what, and what aggregated roles must hold.

use std::sync::Arc;

use rolewright_core::aggregate::fit::Fitter;
use rolewright_core::aggregate::{Aggregation, Event};
use rolewright_core::authorize::Authorizer;
use rolewright_core::{Binding, BindingKey, Name, RBAC_GROUP, Role, RoleKey, Rule};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Draft, Entry};
use crate::json::put;
use crate::strategy::Object;

/// The annotation that holds what an aggregated role may gather under [`Guard::Covers`].
pub(crate) const CEILING: &str = "rbac.rolewright.io/ceiling";

/// Who may write an aggregated role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// As Kubernetes: only who holds everything, since an aggregated role may gather anything.
    #[default]
    Strict,
    /// Anyone with the right to write roles. What the author covers of the union becomes the role's ceiling; rules beyond
    /// it stay out until somebody who covers them saves the role.
    Covers,
}

/// A role or a binding.
#[derive(Clone, Debug)]
pub(crate) enum Right {
    Role { role: Arc<Role>, ceiling: Option<Arc<[Rule]>> },
    Binding(Arc<Binding>),
}

impl Right {
    /// Reads a stored RBAC object; `None` for all others.
    pub(crate) fn of(group: &str, plural: &str, object: &Object) -> Option<Self> {
        if group != RBAC_GROUP {
            return None;
        }
        let metadata = object.get("metadata");
        let text =
            |member: &str| metadata.and_then(|meta| meta.get(member)).and_then(Value::as_str).unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        match plural {
            "clusterroles" | "roles" => {
                let key = match plural {
                    "clusterroles" => RoleKey::cluster(name),
                    _ => RoleKey::namespaced(namespace, name),
                };
                let aggregation = object.get("aggregationRule").filter(|rule| !rule.is_null());
                let role = Role {
                    key,
                    labels: read(metadata.and_then(|meta| meta.get("labels"))),
                    rules: read(object.get("rules")),
                    aggregation: aggregation.map(|rule| read(rule.get("clusterRoleSelectors"))),
                };
                let annotations = metadata.and_then(|meta| meta.get("annotations"));
                let ceiling = annotations.and_then(|all| all.get(CEILING)).and_then(Value::as_str);
                // A ceiling that cannot be read is the lowest one.
                let ceiling = ceiling.map(|text| serde_json::from_str::<Vec<Rule>>(text).unwrap_or_default().into());
                Some(Self::Role { role: Arc::new(role), ceiling })
            }
            "clusterrolebindings" | "rolebindings" => {
                let key = match plural {
                    "clusterrolebindings" => BindingKey::cluster(name),
                    _ => BindingKey::namespaced(namespace, name),
                };
                let binding =
                    Binding { key, role_ref: read(object.get("roleRef")), subjects: read(object.get("subjects")) };
                Some(Self::Binding(Arc::new(binding)))
            }
            _ => None,
        }
    }

    pub(crate) fn role(&self) -> Option<&Arc<Role>> {
        match self {
            Self::Role { role, .. } => Some(role),
            Self::Binding(_) => None,
        }
    }
}

/// Reads a part of a stored object, whose types are right; absent and null are the empty value.
fn read<T: DeserializeOwned + Default>(value: Option<&Value>) -> T {
    value.and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

/// The indexes over all RBAC objects.
#[derive(Debug)]
pub(crate) struct Rights {
    pub(crate) authorizer: Authorizer,
    pub(crate) aggregation: Aggregation,
    pub(crate) guard: Guard,
    /// Whether aggregated roles are kept up to date here; off where Kubernetes' own controller does it.
    pub(crate) aggregates: bool,
}

impl Rights {
    pub(super) fn new(guard: Guard) -> Self {
        Self { authorizer: Authorizer::default(), aggregation: Aggregation::default(), guard, aggregates: true }
    }

    /// Takes in an object. Returns the aggregated roles that have to be written now.
    pub(super) fn set(&mut self, right: &Right) -> Vec<Name> {
        match right {
            Right::Binding(binding) => {
                self.authorizer.set_binding(binding.clone());
                Vec::new()
            }
            Right::Role { role, ceiling } => {
                self.authorizer.set_role(role.clone());
                if !matches!(role.key, RoleKey::Cluster(_)) {
                    return Vec::new();
                }
                self.aggregation.update([event(role, ceiling.as_deref())]);
                self.due()
            }
        }
    }

    /// Forgets an object. Returns the aggregated roles that have to be written now.
    pub(super) fn remove(&mut self, right: &Right) -> Vec<Name> {
        match right {
            Right::Binding(binding) => {
                self.authorizer.remove_binding(&binding.key);
                Vec::new()
            }
            Right::Role { role, .. } => {
                self.authorizer.remove_role(&role.key);
                let RoleKey::Cluster(name) = &role.key else { return Vec::new() };
                self.aggregation.update([Event::Remove(name)]);
                self.due()
            }
        }
    }

    /// Takes in everything that a store kept.
    pub(super) fn restore(&mut self, rights: &[Right]) {
        for right in rights {
            match right {
                Right::Binding(binding) => self.authorizer.set_binding(binding.clone()),
                Right::Role { role, .. } => self.authorizer.set_role(role.clone()),
            }
        }
        self.aggregation.update(rights.iter().filter_map(|right| match right {
            Right::Role { role, ceiling } if matches!(role.key, RoleKey::Cluster(_)) => {
                Some(event(role, ceiling.as_deref()))
            }
            _ => None,
        }));
    }

    /// What a role that is about to be written would gather, if nothing kept it.
    pub(crate) fn union(&self, role: &Role) -> Vec<Rule> {
        let mut all = self.aggregation.clone();
        all.update([Event::Set(role)]);
        all.rules(role.key.name()).map(|rules| rules.cloned().collect()).unwrap_or_default()
    }

    pub(super) fn due(&self) -> Vec<Name> {
        if self.aggregates { self.aggregation.drift().cloned().collect() } else { Vec::new() }
    }

    /// A role that was written because of others: its rules changed, and nothing follows.
    pub(super) fn settle(&mut self, right: &Right) {
        if let Right::Role { role, ceiling } = right {
            self.aggregation.update([event(role, ceiling.as_deref())]);
            self.authorizer.set_role(role.clone());
        }
    }

    /// An aggregated role with the rules that it must have; `None` if it has them.
    pub(super) fn rewrite(&self, entry: &Entry) -> Option<Draft> {
        let fit = self.aggregation.to_write(&entry.name, &Fitter::default());
        let target: Vec<Rule> = self.aggregation.rules(&entry.name)?.cloned().collect();
        let mut object = entry.object();
        object.insert("rules".into(), json!(fit?.rules(&target)));
        own_rules(&mut object);
        Some(Draft::new(RBAC_GROUP, "clusterroles", &object))
    }
}

/// A ceiling that is there holds under either guard: a role that was written under `covers` grows no wider by a restart.
fn event<'a>(role: &'a Role, ceiling: Option<&'a [Rule]>) -> Event<'a> {
    match ceiling {
        Some(ceiling) => Event::Limited(role, ceiling),
        None => Event::Set(role),
    }
}

/// The field manager of Kubernetes' aggregation controller: who reads managedFields sees what they know.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Says in managedFields what a forced apply of `rules` by the aggregation controller says there.
fn own_rules(object: &mut Object) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let entries = metadata.entry("managedFields").or_insert_with(|| json!([]));
    let Some(entries) = entries.as_array_mut() else { return };
    let is_ours = |entry: &Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
    for entry in entries.iter_mut().filter(|entry| !is_ours(entry)) {
        if let Some(fields) = entry.get_mut("fieldsV1").and_then(Value::as_object_mut) {
            fields.remove("f:rules");
        }
    }
    entries.retain(|entry| is_ours(entry) || entry["fieldsV1"].as_object().is_none_or(|fields| !fields.is_empty()));
    let time = crate::time::seconds(crate::time::now());
    if let Some(ours) = entries.iter_mut().find(|entry| is_ours(entry)) {
        put(ours, "time", json!(time));
        return;
    }
    let ours = json!({
        "manager": MANAGER, "operation": "Apply", "apiVersion": "rbac.authorization.k8s.io/v1", "time": time,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:rules": {}},
    });
    // Applies come before updates.
    let at = entries
        .iter()
        .take_while(|entry| entry["operation"] == "Apply" && entry["manager"].as_str() < Some(MANAGER))
        .count();
    entries.insert(at, ours);
}
