//! The roles and bindings that every Kubernetes cluster starts with, so that an analysis without a cluster, and the
//! embedded server, start from a realistic one.
//!
//! The data is read from Kubernetes' own code by `testbed facts`; a new Kubernetes version is a regeneration.

mod generated;

use crate::selector::LabelSelector;
use crate::{Binding, BindingKey, Name, NameList, Role, RoleKey, RoleRef, Rule, Subject, World};

/// The Kubernetes version that the data comes from.
pub const VERSION: &str = generated::VERSION;
/// The label that every bootstrap object carries.
pub const LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
/// The annotation that every bootstrap object carries; `"false"` keeps Kubernetes from repairing the object.
pub const ANNOTATION: (&str, &str) = ("rbac.authorization.kubernetes.io/autoupdate", "true");

type Pairs = &'static [(&'static str, &'static str)];
type Texts = &'static [&'static str];

struct RoleData {
    namespace: &'static str,
    name: &'static str,
    /// Beside the one that all carry.
    labels: Pairs,
    /// One list of labels to match per selector.
    aggregate: &'static [Pairs],
    rules: &'static [RuleData],
}

struct RuleData {
    groups: Texts,
    resources: Texts,
    names: Texts,
    urls: Texts,
    verbs: Texts,
}

struct BindingData {
    namespace: &'static str,
    name: &'static str,
    /// Kind and name.
    role: (&'static str, &'static str),
    /// Kind, namespace and name.
    subjects: &'static [(&'static str, &'static str, &'static str)],
}

/// All bootstrap roles and bindings as a server stores them at its first start. The rules of `admin`, `edit` and `view`
/// are empty: aggregation fills them, in a cluster as in [`World::aggregated`].
pub fn world() -> World {
    World::new(generated::ROLES.iter().map(role), generated::BINDINGS.iter().map(binding))
}

fn role(data: &RoleData) -> Role {
    let selector =
        |labels: &Pairs| LabelSelector { match_labels: labels.iter().map(pair).collect(), ..LabelSelector::default() };
    Role {
        key: match data.namespace {
            "" => RoleKey::Cluster(Name::new_static(data.name)),
            namespace => RoleKey::namespaced(Name::new_static(namespace), Name::new_static(data.name)),
        },
        labels: data.labels.iter().chain([&LABEL]).map(pair).collect(),
        rules: data.rules.iter().map(rule).collect(),
        aggregation: (!data.aggregate.is_empty()).then(|| data.aggregate.iter().map(selector).collect()),
    }
}

fn rule(data: &RuleData) -> Rule {
    Rule {
        api_groups: texts(data.groups),
        resources: texts(data.resources),
        resource_names: texts(data.names),
        non_resource_urls: texts(data.urls),
        verbs: texts(data.verbs),
    }
}

fn binding(data: &BindingData) -> Binding {
    let subject = |&(kind, namespace, name): &(&'static str, &'static str, &'static str)| Subject {
        kind: Name::new_static(kind),
        api_group: if kind == "ServiceAccount" { Name::default() } else { crate::RBAC_GROUP.into() },
        namespace: Name::new_static(namespace),
        name: Name::new_static(name),
    };
    let (kind, role) = data.role;
    Binding {
        key: match data.namespace {
            "" => BindingKey::Cluster(Name::new_static(data.name)),
            namespace => BindingKey::namespaced(Name::new_static(namespace), Name::new_static(data.name)),
        },
        role_ref: RoleRef {
            api_group: crate::RBAC_GROUP.into(),
            kind: Name::new_static(kind),
            name: Name::new_static(role),
        },
        subjects: data.subjects.iter().map(subject).collect(),
    }
}

fn pair(&(key, value): &(&'static str, &'static str)) -> (Name, Name) {
    (Name::new_static(key), Name::new_static(value))
}

fn texts(texts: Texts) -> NameList {
    texts.iter().copied().map(Name::new_static).collect()
}
