//! The roles of a definition: whoever has Crossplane's roles gets what was defined.

use rolewright_core::{NameList, Rule};

use super::custom::{shown, wrong_group, wrong_plural};
use super::kinds::{DEFINITION, Defines, Definition, Names, SERVED_RESOURCE};
use super::rules::{EVERYTHING, UPDATE, VIEW, sub};
use super::settings::Manage;
use super::words::{self, aggregating, composite_role, label_value};
use super::{Crossplane, controlled, held, present};
use crate::Name;
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Content, Intent, Shape, Wanted};
use crate::object::{Live, ObjectRef};
use crate::rbac::CLUSTER_ROLE;
use crate::snapshot::Snapshot;

/// Whom the roles of a definition aggregate to.
pub(super) const ROLES: [&str; 4] = ["crossplane", "edit", "view", "browse"];

impl Crossplane {
    pub(super) fn intend_composite(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let names = ROLES.map(|role| composite_role(&key.name, role));
        let live = match present(snapshot, key, &names) {
            Ok(live) => live,
            Err(without) => return without,
        };
        let Some(Definition { spec }) = live.body() else { return Intent::default() };
        if let Some(why) = wrong(&key.name, spec) {
            // What was granted before stays; nothing follows from this.
            let diagnostics = vec![Diagnostic::new(Code::Invalid, key.clone(), why)];
            return Intent { diagnostics, ..Intent::default() };
        }
        let roles = if self.settings.manage == Manage::ServiceAccounts { &ROLES[..1] } else { &ROLES };
        let mut diagnostics = Vec::new();
        let defined = Defined::of(spec, |names| {
            let other = controlled_by_another(snapshot, &key.name, &served_as(names, &spec.group));
            let is_free = other.is_none();
            diagnostics.extend(other.map(|why| Diagnostic::new(Code::ServedByAnother, key.clone(), why)));
            is_free
        });
        Intent {
            wanted: roles.iter().map(|role| self.composite_role(live, &defined, role)).collect(),
            held: held(snapshot, live, &names),
            diagnostics,
            ..Intent::default()
        }
    }

    fn composite_role(&self, definition: &Live, defined: &Defined, role: &str) -> Wanted {
        let name = &definition.meta.name;
        let shape = Shape {
            labels: self.composite_labels(name, role),
            owners: vec![controlled(definition, &DEFINITION)],
            content: Content::rules(defined.rules(role)),
            ..Shape::default()
        };
        let object = ObjectRef::cluster(&CLUSTER_ROLE, composite_role(name, role));
        let because = match role {
            "crossplane" => format!("Crossplane serves what `{name}` defines"),
            "browse" => format!("whoever browses sees what `{name}` defines"),
            _ => format!("whoever may {role} may {role} what `{name}` defines"),
        };
        Wanted::controlled(object, &definition.meta.uid, shape, because)
    }

    fn composite_labels(&self, definition: &str, role: &str) -> rolewright_core::Labels {
        let mut labels = match role {
            "edit" => aggregating(&["edit", "admin"]),
            _ => aggregating(&[role]),
        };
        if self.settings.manage == Manage::All && matches!(role, "edit" | "view") {
            labels.extend(aggregating(&[&format!("ns-{role}")]));
            labels.insert(Name::new(words::XRD), label_value(definition));
        }
        labels.extend([words::managed()]);
        labels
    }
}

/// Why a definition cannot define what it says: Crossplane could not, and who writes it may not give it away.
fn wrong(name: &str, spec: &Defines) -> Option<String> {
    const DOMAIN: &str = "define it in a domain of your own, such as `example.org`";
    const PLURAL: &str = "say small letters, digits and `-`, as in `buckets`";
    let says = |field: &str, value: &str, why: &str, hint: &str| {
        format!("`{field}` is `{}`, which {why}; hint: {hint}", shown(value))
    };
    if let Some(why) = wrong_group(&spec.group) {
        return Some(says("spec.group", &spec.group, why, DOMAIN));
    }
    let plurals = [("spec.names.plural", Some(&spec.names)), ("spec.claimNames.plural", spec.claim_names.as_ref())];
    for (field, names) in plurals {
        let Some(Names { plural }) = names else { continue };
        if let Some(why) = wrong_plural(plural) {
            return Some(says(field, plural, why, PLURAL));
        }
    }
    let meant = format!("{}.{}", spec.names.plural, spec.group);
    (name != meant).then(|| {
        let message = "`metadata.name` is not `<spec.names.plural>.<spec.group>`";
        format!("{message}; hint: name it `{}`, or correct these fields", shown(&meant))
    })
}

/// The name under which a resource is served.
pub(super) fn served_as(names: &Names, group: &str) -> Name {
    Name::new(format!("{}.{group}", names.plural))
}

/// Why a resource is not a definition's: Crossplane does not take from others what they control.
fn controlled_by_another(snapshot: &Snapshot, definition: &str, served: &Name) -> Option<String> {
    let live = snapshot.get(&ObjectRef::cluster(&SERVED_RESOURCE, served.clone()))?;
    let owner = live.meta.controller()?;
    let is_its = owner.kind == DEFINITION.kind && owner.name == definition;
    (!is_its).then(|| format!("`{served}` is controlled by {} `{}`, so nobody gets it", owner.kind, owner.name))
}

/// What a definition defines, as the lists that the rules of its roles share.
struct Defined {
    group: NameList,
    composites: Option<Resource>,
    claims: Option<Resource>,
}

struct Resource {
    /// It and its status.
    names: NameList,
    finalizers: NameList,
}

impl Defined {
    /// All that it says, but for what is not free for it.
    fn of(spec: &Defines, mut is_free: impl FnMut(&Names) -> bool) -> Self {
        let mut resource = |names: &Names| {
            is_free(names).then(|| Resource {
                names: [names.plural.clone(), sub(&names.plural, "status")].into(),
                finalizers: [sub(&names.plural, "finalizers")].into(),
            })
        };
        Self {
            group: [spec.group.clone()].into(),
            composites: resource(&spec.names),
            claims: spec.claim_names.as_ref().and_then(resource),
        }
    }

    fn rules(&self, role: &str) -> Vec<Rule> {
        let verbs = if matches!(role, "view" | "browse") { &VIEW } else { &EVERYTHING };
        // Who only looks around sees what the platform is made of, not what people claimed of it.
        let claims = self.claims.as_ref().filter(|_| role != "browse");
        let rule = |resources: &NameList, verbs: &NameList| Rule {
            api_groups: self.group.clone(),
            resources: resources.clone(),
            verbs: verbs.clone(),
            ..Rule::default()
        };
        let mut rules = Vec::new();
        for Resource { names, finalizers } in self.composites.iter().chain(claims) {
            rules.push(rule(names, verbs));
            if role == "crossplane" {
                rules.push(rule(finalizers, &UPDATE));
            }
        }
        rules
    }
}
