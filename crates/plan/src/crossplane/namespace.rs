//! The roles of a namespace: what was defined and is enabled there.

use std::collections::BTreeSet;

use rolewright_core::Labels;
use rolewright_core::selector::LabelSelector;

use super::custom::shown;
use super::kinds::DEFINITION;
use super::settings::{Manage, UserRoles};
use super::words::{self, ENABLED, PREFIX, XRDS, aggregate_to, base_of, label_value, namespace_role};
use super::{Crossplane, controlled, held, left_of, present};
use crate::Name;
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Content, Intent, Shape, Wanted};
use crate::kind::NAMESPACE;
use crate::object::{Live, Meta, ObjectRef};
use crate::rbac::CLUSTER_ROLE;
use crate::snapshot::Snapshot;

/// The roles of a namespace.
pub(super) const ROLES: [&str; 2] = ["edit", "view"];

/// The definitions that a namespace enables, as the values of the label that names them. What cannot be the name of one is
/// left out: a selector with it would keep the whole role from being written, and so from being narrowed.
pub(super) fn enabled(meta: &Meta) -> BTreeSet<Name> {
    enabled_names(meta).into_iter().filter(|name| is_name(name)).map(label_value).collect()
}

/// Whether an annotation can have it in its key, or a definition as its name.
fn is_name(name: &str) -> bool {
    let ends = |letter: char| letter.is_ascii_alphanumeric();
    name.starts_with(ends)
        && name.ends_with(ends)
        && name.chars().all(|letter| ends(letter) || ['-', '_', '.'].contains(&letter))
}

/// The definitions that a namespace says something about, whether or not that enables them, as the values of the label.
pub(super) fn mentioned(meta: &Meta) -> BTreeSet<Name> {
    let said = meta.annotations.keys().filter_map(|key| key.strip_prefix(PREFIX));
    said.map(label_value).chain(enabled(meta)).collect()
}

/// The definitions that a namespace enables, as it names them.
fn enabled_names(meta: &Meta) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    for (key, value) in &meta.annotations {
        if key == XRDS {
            let names = value.split(|letter: char| letter == ',' || letter.is_whitespace());
            all.extend(names.filter(|name| !name.is_empty()));
        } else if let Some(name) = key.strip_prefix(PREFIX)
            && ENABLED.contains(&value.as_str())
        {
            all.insert(name);
        }
    }
    all
}

impl Crossplane {
    pub(super) fn intend_namespace(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let names = ROLES.map(|role| namespace_role(&key.name, role));
        // Below that level we do not look at namespaces.
        let live = match present(snapshot, key, &names) {
            Ok(live) if self.settings.manage == Manage::All => live,
            Ok(_) => return Intent { held: left_of(snapshot, key, &names), ..Intent::default() },
            Err(without) => return without,
        };
        let mut intent = Intent { held: held(snapshot, live, &names), ..Intent::default() };
        let enabled = enabled(&live.meta);
        intent.diagnostics = self.namespace_problems(key, live);
        if !enabled.is_empty() {
            let problems = &mut intent.diagnostics;
            intent.wanted = ROLES.iter().map(|role| self.namespace_role(live, &enabled, role, problems)).collect();
        }
        intent
    }

    fn namespace_role(
        &self,
        namespace: &Live,
        enabled: &BTreeSet<Name>,
        role: &str,
        problems: &mut Vec<Diagnostic>,
    ) -> Wanted {
        let name = namespace_role(&namespace.meta.name, role);
        let (content, because) = match self.settings.user_roles {
            UserRoles::Aggregated => (Content::aggregated(selectors(enabled, role)), None),
            UserRoles::Materialized => self.materialized.content(&name, problems),
        };
        let labels = Labels::from_iter([words::managed()]);
        let shape = Shape { labels, owners: vec![controlled(namespace, &NAMESPACE)], content, ..Shape::default() };
        let because = because.unwrap_or_else(|| format!("namespace `{}` enables definitions", namespace.meta.name));
        Wanted::controlled(ObjectRef::cluster(&CLUSTER_ROLE, name), &namespace.meta.uid, shape, because)
    }

    fn namespace_problems(&self, key: &ObjectRef, live: &Live) -> Vec<Diagnostic> {
        let is_unknown = |name: &&str| !self.definitions.contains_key(&label_value(name));
        let unknown = enabled_names(&live.meta).into_iter().filter(is_unknown);
        let unknown = unknown.map(|name| {
            let message = format!("there is no {} `{}`", DEFINITION.kind, shown(name));
            Diagnostic::new(Code::DefinitionUnknown, key.clone(), message)
        });
        let misspelt = live.meta.annotations.iter().filter(|(annotation, value)| {
            let name = annotation.strip_prefix(PREFIX);
            name.is_some_and(|name| self.definitions.contains_key(name)) && !ENABLED.contains(&value.as_str())
        });
        let misspelt = misspelt.map(|(annotation, value)| {
            let message =
                format!("annotation `{annotation}` is `{}`, which enables nothing; say `{}`", shown(value), ENABLED[0]);
            Diagnostic::new(Code::AnnotationUnknown, key.clone(), message)
        });
        unknown.chain(misspelt).collect()
    }
}

/// What a role of a namespace gathers: what all have, and what is enabled.
pub(super) fn selectors(enabled: &BTreeSet<Name>, role: &str) -> Vec<LabelSelector> {
    let role = format!("ns-{role}");
    let select = |key: Name, value: Name| LabelSelector {
        match_labels: [(aggregate_to(&role), Name::new("true")), (key, value)].into(),
        ..LabelSelector::default()
    };
    let base = select(base_of(&role), Name::new("true"));
    let each = enabled.iter().map(|name| select(Name::new(words::XRD), name.clone()));
    std::iter::once(base).chain(each).collect()
}
