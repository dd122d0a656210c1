//! The roles that people and Crossplane itself are bound to, with what they always hold.

use rolewright_core::selector::LabelSelector;
use rolewright_core::{Labels, RBAC_GROUP, RoleRef, Rule, RuleSet, Subject};

use super::Crossplane;
use super::materialized::Base;
use super::rules::{EVERYTHING, VIEW, WRITE, rule, verbs};
use super::settings::{Manage, UserRoles};
use super::words::{self, aggregate_to, aggregating, base_of};
use crate::Name;
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Claim, Content, Intent, Shape, Wanted};
use crate::object::{Live, Meta, ObjectRef};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, RoleBody};
use crate::snapshot::Snapshot;
use crate::vocabulary::label::MANAGED_BY;

const EVENTS: [&str; 2] = ["", "events.k8s.io"];
/// Crossplane's own groups.
pub(super) const CROSSPLANE: [&str; 5] = [
    "apiextensions.crossplane.io",
    "pkg.crossplane.io",
    "secrets.crossplane.io",
    "protection.crossplane.io",
    "ops.crossplane.io",
];

/// A role that does not depend on what was installed. Each is a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Crossplane itself.
    Core,
    /// People in the whole cluster.
    Person(&'static str),
    /// What people have in every namespace that enables something.
    Namespace(&'static str),
}

pub(super) const ALL: [Standing; 7] = [
    Standing::Core,
    Standing::Person("admin"),
    Standing::Person("edit"),
    Standing::Person("view"),
    Standing::Person("browse"),
    Standing::Namespace("ns-edit"),
    Standing::Namespace("ns-view"),
];

impl Standing {
    /// The one that a role or binding of this name belongs to.
    pub(super) fn of(name: &str) -> Option<Self> {
        let role = match name {
            "crossplane" | "crossplane:system:aggregate-to-crossplane" => return Some(Self::Core),
            _ => name.strip_prefix("crossplane-").or_else(|| name.strip_prefix("crossplane:aggregate-to-"))?,
        };
        let is_meant = |standing: &Self| match standing {
            Self::Core => false,
            Self::Person(known) => *known == role,
            // They have no name but that of their base.
            Self::Namespace(known) => *known == role && name.contains(':'),
        };
        ALL.into_iter().find(is_meant)
    }

    pub(super) fn key(self) -> ObjectRef {
        let name = match self {
            Self::Core => Name::new("crossplane"),
            Self::Person(role) => Name::new(format!("crossplane-{role}")),
            Self::Namespace(_) => self.base(),
        };
        ObjectRef::cluster(&CLUSTER_ROLE, name)
    }

    /// The role that holds what it always holds.
    pub(super) fn base(self) -> Name {
        match self {
            Self::Core => Name::new("crossplane:system:aggregate-to-crossplane"),
            Self::Person(role) | Self::Namespace(role) => Name::new(format!("crossplane:aggregate-to-{role}")),
        }
    }

    fn level(self) -> Manage {
        match self {
            Self::Core => Manage::ServiceAccounts,
            Self::Person(_) => Manage::Basic,
            Self::Namespace(_) => Manage::All,
        }
    }

    /// What the role gathers; `None` where there is only the base.
    pub(super) fn selectors(self) -> Option<Vec<LabelSelector>> {
        let select = |role: &str| LabelSelector {
            match_labels: [(aggregate_to(role), Name::new("true"))].into(),
            ..LabelSelector::default()
        };
        match self {
            Self::Core => Some(vec![select("crossplane")]),
            // Crossplane's chart and its design spell the label differently.
            Self::Person(role) => Some(vec![select(role), select(&format!("crossplane-{role}"))]),
            Self::Namespace(_) => None,
        }
    }

    /// The labels of the role itself: who may edit may view, who administers may edit.
    pub(super) fn labels(self) -> Labels {
        let mut labels = match self {
            Self::Person("edit") => aggregating(&["admin"]),
            Self::Person("view") => aggregating(&["edit"]),
            _ => Labels::new(),
        };
        labels.extend([words::managed()]);
        labels
    }

    fn base_labels(self) -> Labels {
        let mut labels = match self {
            Self::Core => aggregating(&["crossplane"]),
            Self::Person(role) | Self::Namespace(role) => aggregating(&[role]),
        };
        match self {
            Self::Core => drop(labels.insert(Name::new("crossplane.io/scope"), Name::new("system"))),
            Self::Person(_) => {}
            Self::Namespace(role) => drop(labels.insert(base_of(role), Name::new("true"))),
        }
        labels.extend([words::managed()]);
        labels
    }
}

impl Crossplane {
    pub(super) fn intend_standing(&self, snapshot: &Snapshot, standing: Standing) -> Intent {
        let mut problems = Vec::new();
        let all = self.standing(standing, &mut problems);
        let objects: Vec<ObjectRef> = all.iter().map(|wanted| wanted.object.clone()).collect();
        let mut intent = Intent::default();
        let binding = ObjectRef::cluster(&CLUSTER_ROLE_BINDING, standing.key().name);
        let is_ours = |object: &ObjectRef| snapshot.get(object).is_some_and(|live| made_by_us(&live.meta));
        intent.held.extend(objects.into_iter().chain([binding]).filter(is_ours));
        if self.settings.manage < standing.level() {
            return intent;
        }
        intent.diagnostics = problems;
        for wanted in all {
            match snapshot.get(&wanted.object).filter(|live| is_helms(live)) {
                Some(live) => intent.diagnostics.extend(self.left_to_helm(&wanted, live)),
                None => intent.wanted.push(wanted),
            }
        }
        let masters = ObjectRef::cluster(&CLUSTER_ROLE_BINDING, standing.key().name);
        if standing == Standing::Person("admin")
            && !self.settings.bind_masters
            && let Some(live) = snapshot.get(&masters).filter(|live| is_helms(live))
        {
            let message = format!("{} owns it, so whom it binds stays bound", helm(live));
            intent.diagnostics.push(Diagnostic::new(Code::LeftToHelm, masters, message));
        }
        intent
    }

    /// What the roles always hold, as far as we keep them: sure to be there, if not at once.
    pub(super) fn bases(&self) -> impl Iterator<Item = (Name, Base)> {
        let kept = ALL.into_iter().filter(|standing| self.settings.manage >= standing.level());
        kept.map(|standing| {
            let base = Base { labels: standing.base_labels(), rules: self.base_rules(standing) };
            (standing.base(), base)
        })
    }

    /// Everything that belongs to a role, were it ours to keep.
    fn standing(&self, standing: Standing, problems: &mut Vec<Diagnostic>) -> Vec<Wanted> {
        let mut all = Vec::new();
        let claim = {
            let (label, value) = words::managed();
            Claim::Labelled(label, value)
        };
        let wanted = |object, labels, content, because: &str| Wanted {
            object,
            claim: claim.clone(),
            shape: Shape { labels, content, ..Shape::default() },
            because: because.to_owned(),
        };
        let key = standing.key();
        if let Some(selectors) = standing.selectors() {
            let (content, because) = match self.settings.user_roles {
                UserRoles::Aggregated => (Content::aggregated(selectors), None),
                UserRoles::Materialized => self.materialized.content(&key.name, problems),
            };
            let because = because.as_deref().unwrap_or("it gathers what a role of Crossplane holds");
            all.push(wanted(key.clone(), standing.labels(), content, because));
        }
        let base = ObjectRef::cluster(&CLUSTER_ROLE, standing.base());
        let content = Content::rules(self.base_rules(standing));
        all.push(wanted(base, standing.base_labels(), content, "it is what a role of Crossplane always holds"));
        let subject = match standing {
            Standing::Core => Some(Subject::service_account(self.settings.namespace.clone(), "crossplane")),
            Standing::Person("admin") if self.settings.bind_masters => Some(Subject::group("crossplane:masters")),
            _ => None,
        };
        if let Some(subject) = subject {
            let content = Content::binding(RoleRef::cluster_role(key.name.clone()), [subject]);
            let binding = ObjectRef::cluster(&CLUSTER_ROLE_BINDING, key.name);
            let labels = Labels::from_iter([words::managed()]);
            all.push(wanted(binding, labels, content, "somebody must be able to begin"));
        }
        all
    }

    fn base_rules(&self, standing: Standing) -> Vec<Rule> {
        let secrets = (!self.settings.hardened).then(|| rule([""], ["secrets"], &EVERYTHING));
        match standing {
            Standing::Core => core_rules(),
            Standing::Person("admin") => [rule(EVENTS, ["events"], &VIEW), rule([""], ["namespaces"], &EVERYTHING)]
                .into_iter()
                .chain(secrets)
                .chain([
                    rule([RBAC_GROUP], ["clusterroles", "roles"], &VIEW),
                    rule([RBAC_GROUP], ["clusterrolebindings", "rolebindings"], &EVERYTHING),
                    rule(CROSSPLANE, ["*"], &EVERYTHING),
                    rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], &VIEW),
                ])
                .collect(),
            Standing::Person("edit") => {
                let (full, looking): (Vec<&str>, Vec<&str>) = CROSSPLANE
                    .into_iter()
                    .partition(|group| !(self.settings.hardened && *group == "pkg.crossplane.io"));
                [rule(EVENTS, ["events"], &VIEW), rule([""], ["namespaces"], &VIEW)]
                    .into_iter()
                    .chain(secrets)
                    .chain([rule(full, ["*"], &EVERYTHING)])
                    .chain((!looking.is_empty()).then(|| rule(looking, ["*"], &VIEW)))
                    .collect()
            }
            Standing::Person("view") => {
                vec![rule(EVENTS, ["events"], &VIEW), rule([""], ["namespaces"], &VIEW), rule(CROSSPLANE, ["*"], &VIEW)]
            }
            Standing::Person(_) => {
                vec![rule(EVENTS, ["events"], &VIEW), rule(["apiextensions.crossplane.io"], ["*"], &VIEW)]
            }
            Standing::Namespace("ns-edit") => vec![
                rule(EVENTS, ["events"], &VIEW),
                rule([""], ["secrets"], &EVERYTHING),
                rule(["apiextensions.crossplane.io"], ["*"], &VIEW),
            ],
            Standing::Namespace(_) => vec![rule(EVENTS, ["events"], &VIEW)],
        }
    }

    /// A role of a Helm release stays as its chart has it, which may not be what was asked for.
    fn left_to_helm(&self, wanted: &Wanted, live: &Live) -> Option<Diagnostic> {
        let role = live.body::<RoleBody>()?;
        let standing = Standing::of(&wanted.object.name)?;
        let should_gather = standing.selectors().is_some() && wanted.object == standing.key();
        let (code, what) = match &role.aggregation {
            None if should_gather => (Code::GathersNothing, "does not gather what is installed"),
            Some(_) if self.settings.user_roles == UserRoles::Materialized => (Code::LeftToHelm, "stays aggregated"),
            None if self.settings.hardened => {
                let more = RuleSet::new(&role.rules).beyond(&RuleSet::new(&self.base_rules(standing)));
                (!more.is_empty()).then_some((Code::LeftToHelm, "gives more than it should"))?
            }
            _ => return None,
        };
        Some(Diagnostic::new(code, wanted.object.clone(), format!("{} owns it, so it {what}", helm(live))))
    }
}

/// Who owns an object that a chart brought.
fn helm(live: &Live) -> String {
    match live.meta.annotations.get("meta.helm.sh/release-name") {
        Some(release) => format!("Helm release `{release}`"),
        None => "a Helm chart".to_owned(),
    }
}

/// Whether a chart brought an object. Where it was only rendered, and applied by others, there is no release.
fn is_helms(live: &Live) -> bool {
    live.meta.labels.get(MANAGED_BY).is_some_and(|value| value == "Helm")
}

/// Whether an object that nobody controls is ours: we applied it, and nobody says that it is theirs.
pub(super) fn made_by_us(meta: &Meta) -> bool {
    let (label, value) = words::managed();
    meta.revived || (meta.ours.is_some() && meta.labels.get(&label).is_none_or(|there| *there == value))
}

/// What Crossplane itself needs whatever is installed.
fn core_rules() -> Vec<Rule> {
    vec![
        rule(EVENTS, ["events"], &verbs(&["create", "update", "patch", "delete"])),
        rule([""], ["secrets"], &WRITE),
        rule([""], ["serviceaccounts", "services"], &EVERYTHING),
        rule(["apiextensions.k8s.io"], ["customresourcedefinitions", "customresourcedefinitions/status"], &EVERYTHING),
        rule(
            ["apiextensions.crossplane.io", "pkg.crossplane.io", "ops.crossplane.io", "protection.crossplane.io"],
            ["*"],
            &EVERYTHING,
        ),
        rule(["extensions", "apps"], ["deployments"], &WRITE),
        rule(["", "coordination.k8s.io"], ["configmaps", "leases"], &WRITE),
        rule(
            ["admissionregistration.k8s.io"],
            ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
            &WRITE,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_belongs_to_one() {
        for standing in ALL {
            assert_eq!(Standing::of(&standing.key().name), Some(standing));
            assert_eq!(Standing::of(&standing.base()), Some(standing));
        }
        for other in
            ["crossplane-ns-edit", "crossplane-ns-shop-edit", "crossplane:aggregate-to-crossplane", "admin", ""]
        {
            assert_eq!(Standing::of(other), None, "{other}");
        }
    }
}
