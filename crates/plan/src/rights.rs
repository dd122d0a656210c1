//! What the manager itself must be allowed to do: no more than its modules read and write, and what it needs to lead and
//! to tell.

use std::collections::BTreeMap;

use rolewright_core::{Binding, Role, RoleRef, Rule, RuleSet, Subject, World};
use serde_json::{Map, Value, json};

use crate::kind::{Kind, Reports};
use crate::module::Module;
use crate::vocabulary::label;

/// Who the manager is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The namespace of its service account and its lease.
    pub namespace: String,
    /// The name of its service account, its roles and their bindings.
    pub name: String,
    /// The lease that it holds while it leads.
    pub lease: String,
}

impl Identity {
    /// The namespace, as Kubernetes takes it; nothing if every cluster has it.
    pub fn namespace_manifest(&self) -> Option<Value> {
        if self.namespace == "default" || self.namespace.starts_with("kube-") {
            return None;
        }
        let mut labels: Map<String, Value> = Map::new();
        labels.extend(label::MANAGER.map(|(name, value)| (name.to_owned(), json!(value))));
        // The manager needs nothing that this level forbids.
        labels.insert("pod-security.kubernetes.io/enforce".to_owned(), json!("restricted"));
        let metadata = json!({ "name": self.namespace, "labels": labels });
        Some(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata }))
    }
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            namespace: "rolewright-system".to_owned(),
            name: "rolewright".to_owned(),
            lease: "rolewright".to_owned(),
        }
    }
}

/// What the manager needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// In the whole cluster.
    pub cluster: Vec<Rule>,
    /// In its own namespace.
    pub own_namespace: Vec<Rule>,
    /// In the namespaces of those whose jobs it does.
    pub elsewhere: BTreeMap<String, Vec<Rule>>,
}

impl Rights {
    /// What a manager with these modules needs, in as few rules as it takes.
    pub fn of<'a>(modules: impl IntoIterator<Item = &'a dyn Module>, identity: &Identity) -> Self {
        // Events about objects of the whole cluster are in a namespace of their own choice.
        let mut cluster = RuleSet::new(&[Rule::resources(["events.k8s.io"], ["events"], ["create"])]);
        let mut own_namespace = vec![to_hold(&identity.lease)];
        let mut elsewhere: BTreeMap<String, Vec<Rule>> = BTreeMap::new();
        for module in modules {
            let lease = module.lease().map(|lease| (lease.namespace, to_hold(&lease.name)));
            for (namespace, rule) in lease.into_iter().chain(module.writes_within()) {
                let rules = if namespace == identity.namespace {
                    &mut own_namespace
                } else {
                    elsewhere.entry(namespace.to_string()).or_default()
                };
                rules.push(rule);
            }
            for watch in module.watches() {
                cluster.insert(&on(watch.kind, watch.kind.plural, ["list", "watch"]));
                if watch.kind.reports != Reports::Never {
                    cluster.insert(&on(watch.kind, &format!("{}/status", watch.kind.plural), ["patch"]));
                }
            }
            for rule in module.writes() {
                cluster.insert(&rule);
            }
        }
        Self { cluster: cluster.to_rules(), own_namespace, elsewhere }
    }

    /// What it needs in namespaces, by namespace.
    fn in_namespaces<'a>(&'a self, identity: &'a Identity) -> impl Iterator<Item = (&'a str, &'a Vec<Rule>)> {
        let elsewhere = self.elsewhere.iter().map(|(namespace, rules)| (namespace.as_str(), rules));
        std::iter::once((identity.namespace.as_str(), &self.own_namespace)).chain(elsewhere)
    }

    /// The roles and bindings that give these rights to the manager.
    pub fn world(&self, identity: &Identity) -> World {
        let Identity { namespace, name, .. } = identity;
        let manager = [Subject::service_account(namespace.as_str(), name.as_str())];
        let mut roles = vec![Role::cluster(name.as_str(), self.cluster.clone())];
        let mut bindings = vec![Binding::cluster(name.as_str(), RoleRef::cluster_role(name.as_str()), manager.clone())];
        for (namespace, rules) in self.in_namespaces(identity) {
            roles.push(Role::namespaced(namespace, name.as_str(), rules.clone()));
            bindings.push(Binding::namespaced(namespace, name.as_str(), RoleRef::role(name.as_str()), manager.clone()));
        }
        World::new(roles, bindings)
    }

    /// The objects that give these rights to the manager, as Kubernetes takes them.
    pub fn manifests(&self, identity: &Identity) -> Vec<Value> {
        let Identity { namespace, name, .. } = identity;
        let labels: Map<String, Value> =
            label::MANAGER.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        let whole = json!({ "name": name, "labels": labels });
        let inside = |namespace: &str| json!({ "name": name, "namespace": namespace, "labels": labels });
        let rbac = |kind: &str, metadata: &Value| json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata });
        let with = |mut object: Value, fields: Vec<(&str, Value)>| {
            for (field, value) in fields {
                if let Some(object) = object.as_object_mut() {
                    object.insert(field.to_owned(), value);
                }
            }
            object
        };
        let subjects = json!([Subject::service_account(namespace.as_str(), name.as_str())]);
        let to_all = vec![("roleRef", json!(RoleRef::cluster_role(name.as_str()))), ("subjects", subjects.clone())];
        let to_own = vec![("roleRef", json!(RoleRef::role(name.as_str()))), ("subjects", subjects)];
        let mut objects = vec![
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": inside(namespace) }),
            with(rbac("ClusterRole", &whole), vec![("rules", json!(self.cluster))]),
            with(rbac("ClusterRoleBinding", &whole), to_all),
        ];
        for (namespace, rules) in self.in_namespaces(identity) {
            objects.push(with(rbac("Role", &inside(namespace)), vec![("rules", json!(rules))]));
            objects.push(with(rbac("RoleBinding", &inside(namespace)), to_own.clone()));
        }
        objects
    }
}

/// A lease is created by a PUT to its name, so that even `create` can be limited to it.
fn to_hold(lease: &str) -> Rule {
    Rule::resources(["coordination.k8s.io"], ["leases"], ["create", "get", "update"]).named([lease])
}

fn on<const V: usize>(kind: &Kind, resource: &str, verbs: [&str; V]) -> Rule {
    Rule::resources([kind.group], [resource], verbs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::{ClusterRoleAggregation, Mode};

    #[test]
    fn a_manager_gets_what_its_modules_use_and_no_more() {
        let identity = Identity::default();
        for (mode, verbs) in
            [(Mode::Observe, &["list", "watch"][..]), (Mode::Exclusive, &["escalate", "list", "patch", "watch"])]
        {
            let module = ClusterRoleAggregation::new(mode, rolewright_core::aggregate::fit::Fitter::default());
            let rights = Rights::of([&module as &dyn Module], &identity);
            let roles = Rule {
                verbs: verbs.iter().map(|&verb| verb.into()).collect(),
                ..Rule::resources([rolewright_core::RBAC_GROUP], ["clusterroles"], [])
            };
            let events = Rule::resources(["events.k8s.io"], ["events"], ["create"]);
            assert_eq!(rights.cluster, [events, roles], "{mode:?}");
            assert_eq!(rights.own_namespace.len(), 1);
        }
    }

    #[test]
    fn the_manifests_say_what_the_world_says() {
        let identity = Identity { namespace: "ns".to_owned(), name: "n".to_owned(), lease: "l".to_owned() };
        let rights = Rights::of([], &identity);
        let world = rights.world(&identity);
        let user = rolewright_core::User::service_account("ns", "n");
        let authorizer = rolewright_core::Authorizer::new(&world);
        let lease = |verb, name| {
            let request = rolewright_core::Request::resource(verb, "coordination.k8s.io", "leases");
            authorizer.allows(&user, &request.in_namespace("ns").named(name))
        };
        assert!(lease("create", "l") && lease("get", "l") && lease("update", "l"));
        assert!(!lease("create", "") && !lease("get", "other") && !lease("delete", "l") && !lease("list", ""));
        let manifests = rights.manifests(&identity);
        let namespace = identity.namespace_manifest().unwrap();
        assert_eq!(namespace["metadata"]["name"], "ns");
        for known in ["default", "kube-system"] {
            let identity = Identity { namespace: known.to_owned(), ..identity.clone() };
            assert_eq!(identity.namespace_manifest(), None, "labels would change what may run in `{known}`");
        }
        let kinds: Vec<&str> = manifests.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]);
    }
}
