//! What stands between a write and the store: the life of the namespace, and nobody granting what they do not hold.

use rolewright_core::authorize::Unresolved;
use rolewright_core::escalation::{self, Refusal, RoleWrite};
use rolewright_core::{RBAC_GROUP, Rule};
use serde_json::{Value, json};

use super::{Call, meta, set_meta};
use crate::cluster::{CEILING, Guard, Right, State};
use crate::json::put;
use crate::status::{Cause, Details, Failure, GroupResource};
use crate::strategy::Object;

const NAMESPACES: GroupResource<'static> = GroupResource { group: "", resource: "namespaces" };

impl Call<'_> {
    /// New content needs a namespace that exists and is not about to go.
    pub(super) fn admit_namespace(&self, state: &State, name: &str) -> Result<(), Failure> {
        if !self.served.namespaced {
            return Ok(());
        }
        admit_namespace(self.server, state, &self.info.namespace, self.served.group_resource(), name)
    }

    /// Whether a write that changes nothing is one all the same: under the `covers` guard whoever saves an aggregated role
    /// stands for what it gathers, also if they save it as it is.
    pub(super) fn stands_for(&self, object: &Object, old: &Object) -> bool {
        let aggregated = |object: &Object| object.get("aggregationRule").is_some_and(|rule| !rule.is_null());
        self.served.group == RBAC_GROUP
            && self.server.cluster().read().rights.guard == Guard::Covers
            && aggregated(object)
            && super::update::same(object, old)
    }

    /// Whether this user may store this role or binding. Under the `covers` guard the object may get a ceiling.
    pub(super) fn guard(&self, state: &State, object: &mut Object, old: Option<&Object>) -> Result<(), Failure> {
        if self.served.group != RBAC_GROUP {
            return Ok(());
        }
        let of = |object: &Object| Right::of(RBAC_GROUP, &self.served.plural, object);
        let user = &self.identity.user;
        let authorizer = &state.rights.authorizer;
        if state.rights.guard == Guard::Covers && self.served.plural == "clusterroles" {
            remove_ceiling(object);
        }
        if user.is_superuser() {
            return Ok(());
        }
        let refused = match of(object) {
            Some(Right::Role { role, .. }) => {
                let before = old.and_then(of);
                let before = before.as_ref().and_then(Right::role);
                let write = RoleWrite { role: &role, old: before.map(AsRef::as_ref), request_name: &self.info.name };
                let checked = escalation::check_role(authorizer, user, &write);
                if state.rights.guard == Guard::Covers && checked == Err(Refusal::AggregationNeedsAdmin) {
                    if role.aggregation.is_none() {
                        // It was aggregated before; what it holds now is covered.
                        return Ok(());
                    }
                    let union = state.rights.union(&role);
                    let held = authorizer.rules_for(user, "");
                    let covered =
                        |rule: &Rule| escalation::confirm_held(user, &held, std::slice::from_ref(rule)).is_ok();
                    let ceiling: Vec<&Rule> = union.iter().filter(|rule| covered(rule)).collect();
                    set_ceiling(object, &ceiling);
                    return Ok(());
                }
                checked
            }
            Some(Right::Binding(binding)) => escalation::check_binding(authorizer, user, &binding),
            None => Ok(()),
        };
        let role_kind = object.get("roleRef").and_then(|role| role.get("kind")).and_then(Value::as_str);
        let role_kind = role_kind.unwrap_or_default();
        refused.map_err(|refusal| match refusal {
            // Nobody foresaw it there either.
            Refusal::Unresolved(unresolved @ Unresolved::UnsupportedKind { .. }) => {
                Failure::new(500, "", unresolved.to_string())
            }
            // A Role is looked for in a namespace, and there is none.
            Refusal::Unresolved(_) if self.namespace().is_empty() && role_kind == "Role" => {
                Failure::bad_request("Namespace parameter required.")
            }
            Refusal::Unresolved(_) => {
                let role = object.get("roleRef").and_then(|role| role.get("name")).and_then(Value::as_str);
                Failure::not_found(self.served.group_resource(), role.unwrap_or_default())
            }
            refusal => {
                let why = as_told_to_writers(&refusal.to_string(), &self.served.plural);
                Failure::forbidden(self.served.group_resource(), meta(object, "name"), why)
            }
        })
    }
}

/// Where Kubernetes looks for roles to compare, what it does not find is named after what is written.
fn as_told_to_writers(text: &str, plural: &str) -> String {
    let Some((refusal, errors)) = text.split_once("; resolution errors: ") else { return text.to_owned() };
    let told = format!("{plural}.{RBAC_GROUP} \"");
    let errors = errors
        .replace(&format!("clusterrole.{RBAC_GROUP} \""), "\u{0}")
        .replace(&format!("role.{RBAC_GROUP} \""), "\u{0}");
    format!("{refusal}; resolution errors: {}", errors.replace('\u{0}', &told))
}

/// New content needs a namespace that exists and is not about to go.
pub(super) fn admit_namespace(
    server: &crate::Server,
    state: &State,
    namespace: &str,
    on: GroupResource<'_>,
    name: &str,
) -> Result<(), Failure> {
    let Some(found) = state.table(server.namespaces()).get("", namespace) else {
        return Err(Failure::not_found(NAMESPACES, namespace));
    };
    if !found.deleting {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut failure = Failure::forbidden(on, name, why);
    let cause = Cause {
        reason: "NamespaceTerminating".into(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".into(),
    };
    if let Some(details) = &mut failure.details {
        details.causes.push(cause);
    } else {
        failure = failure.about(Details { causes: vec![cause], ..Details::default() });
    }
    Err(failure)
}

fn set_ceiling(object: &mut Object, ceiling: &[&Rule]) {
    let mut annotations = object.get("metadata").and_then(|meta| meta.get("annotations")).cloned().unwrap_or(json!({}));
    if annotations.is_null() {
        annotations = json!({});
    }
    put(&mut annotations, CEILING, json!(ceiling).to_string());
    set_meta(object, "annotations", annotations);
}

fn remove_ceiling(object: &mut Object) {
    let annotations = object.get_mut("metadata").and_then(|meta| meta.get_mut("annotations"));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.remove(CEILING);
        if annotations.is_empty()
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.remove("annotations");
        }
    }
}
