//! Whether the API server lets somebody do it: the right to write at all, and the check that nobody grants what they do
//! not hold.

use rolewright_core::escalation::{self, Refusal, RoleWrite};
use rolewright_core::{Authorizer, Binding, Request, Role, RoleKey, Rule, Subject, User, World};
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::{Content, Engine, Kind, Live, ObjectRef, Op, Write};

use super::review::{FileChange, Sign};
use crate::render;

/// Whether somebody may do all of it.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// How many writes were looked at.
    pub(super) writes: usize,
    /// Those that would be refused.
    pub(super) refused: Vec<Refused>,
}

/// A write that would be refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) object: ObjectRef,
    /// Why, in a few words.
    pub(super) why: String,
    /// The rights that are missing.
    pub(super) missing: Vec<Rule>,
}

/// Where the rights of the manager come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Footing {
    /// From the roles and bindings that are there.
    Given,
    /// From nowhere: manifests need not say who the manager is, so it counts as installed.
    Supposed,
    /// From nowhere, though it is a cluster: the manager is not installed there.
    Absent,
    /// Nobody knows: not everything on the cluster could be read.
    Unseen,
}

impl Footing {
    /// What is known of the manager in a world, which is a cluster's if it is `live`.
    pub(super) fn in_world(world: &World, identity: &Identity, live: bool, complete: bool) -> Self {
        let account = Subject::service_account(identity.namespace.as_str(), identity.name.as_str());
        let is_given = world.roles.contains_key(&RoleKey::Cluster(identity.name.as_str().into()))
            || world.bindings.values().any(|binding| binding.subjects.contains(&account));
        match (is_given, live) {
            (true, _) => Self::Given,
            (false, false) => Self::Supposed,
            (false, true) if complete => Self::Absent,
            (false, true) => Self::Unseen,
        }
    }

    /// The world in which the manager is asked about. Only one that is not there is given what it would be installed with.
    pub(super) fn stand(self, world: World, rights: &Rights, identity: &Identity) -> World {
        match self {
            Self::Given => world,
            Self::Supposed | Self::Absent | Self::Unseen => world.with(rights.world(identity)),
        }
    }
}

/// The world once the manifests are applied: the manager comes after them.
pub(super) fn applied(mut world: World, files: &[FileChange]) -> World {
    for change in files.iter().filter(|change| change.faults.is_empty()) {
        if let Some(role) = change.before.as_ref().and_then(Live::role) {
            world.roles.remove(&role.key);
        }
        if let Some(binding) = change.before.as_ref().and_then(Live::binding) {
            world.bindings.remove(&binding.key);
        }
        let after = change.after.as_ref();
        world.roles.extend(after.and_then(Live::role).map(|role| (role.key.clone(), role)));
        world.bindings.extend(after.and_then(Live::binding).map(|binding| (binding.key.clone(), binding)));
    }
    world
}

/// Whether the manager may do what it plans.
pub(super) fn manager(world: &World, identity: &Identity, ops: &[&Op], engine: &Engine) -> Verdict {
    let user = User::service_account(&identity.namespace, &identity.name);
    let mut desk = Desk::new(world, &user);
    for op in ops {
        let kind = op.object.kind;
        let (verbs, subresource): (&[&str], &str) = match &op.write {
            // Server-side apply creates what is not there.
            Write::Create(_) => (&["create", "patch"], ""),
            Write::Update { .. } | Write::Ungather { .. } | Write::Rules { .. } => (&["patch"], ""),
            Write::Inherit { .. } | Write::Hold { .. } | Write::Release { .. } => (&["get", "patch"], ""),
            Write::Replace { .. } => (&["delete", "create", "patch"], ""),
            Write::Delete { .. } => (&["delete"], ""),
            Write::Report { .. } => (&["patch"], "status"),
        };
        let there = engine.snapshot().get(&op.object);
        let (role, binding) = match &op.write {
            Write::Create(shape) | Write::Update { shape, .. } | Write::Replace { shape, .. } => {
                written(&op.object, &shape.content, there)
            }
            Write::Rules { rules, .. } => {
                written(&op.object, &Content::Role { rules: Some(rules.clone()), aggregation: None }, there)
            }
            Write::Inherit { .. }
            | Write::Ungather { .. }
            | Write::Hold { .. }
            | Write::Release { .. }
            | Write::Delete { .. }
            | Write::Report { .. } => (None, None),
        };
        let asked = verbs.iter().find_map(|verb| desk.missing(kind, verb, subresource, &op.object));
        desk.settle(&op.object, asked, role, binding, &op.object.name);
    }
    desk.verdict
}

/// The role or binding that a write leads to.
fn written(object: &ObjectRef, content: &Content, there: Option<&Live>) -> (Option<Role>, Option<Binding>) {
    let old = there.and_then(Live::role);
    match content {
        Content::Bare => (None, None),
        Content::Role { rules, aggregation } => {
            let namespace = object.namespace.as_str();
            let rules = rules.clone().or_else(|| old.as_ref().map(|old| old.rules.clone())).unwrap_or_default();
            let role = if namespace.is_empty() {
                Role::cluster(object.name.clone(), rules)
            } else {
                Role::namespaced(namespace, object.name.clone(), rules)
            };
            let aggregation = aggregation.clone().or_else(|| old.and_then(|old| old.aggregation));
            (Some(Role { aggregation, ..role }), None)
        }
        Content::Binding { role_ref, subjects } => {
            let (namespace, name) = (object.namespace.as_str(), object.name.clone());
            let binding = if namespace.is_empty() {
                Binding::cluster(name, role_ref.clone(), subjects.clone())
            } else {
                Binding::namespaced(namespace, name, role_ref.clone(), subjects.clone())
            };
            (None, Some(binding))
        }
    }
}

/// Whether a user may apply the manifests, one after the other: what was accepted counts for what follows.
pub(super) fn user(world: &World, user: &User, files: &[FileChange]) -> Verdict {
    let mut desk = Desk::new(world, user);
    for change in files.iter().filter(|change| change.faults.is_empty()) {
        let (verb, request_name) = match change.sign {
            Sign::Add => ("create", ""),
            Sign::Change => ("patch", change.object.name.as_str()),
            Sign::Remove => ("delete", change.object.name.as_str()),
        };
        let asked = desk.missing(change.object.kind, verb, "", &change.object);
        let role = change.after.as_ref().and_then(Live::role);
        let binding = change.after.as_ref().and_then(Live::binding);
        let accepted = desk.settle(&change.object, asked, role, binding, request_name);
        if accepted && let Some(before) = change.before.as_ref().filter(|_| change.after.is_none()) {
            if let Some(role) = before.role() {
                desk.authorizer.remove_role(&role.key);
            }
            if let Some(binding) = before.binding() {
                desk.authorizer.remove_binding(&binding.key);
            }
        }
    }
    desk.verdict
}

/// The API server's desk: writes come one by one.
struct Desk<'a> {
    authorizer: Authorizer,
    user: &'a User,
    verdict: Verdict,
}

impl<'a> Desk<'a> {
    fn new(world: &World, user: &'a User) -> Self {
        Self { authorizer: Authorizer::new(world), user, verdict: Verdict::default() }
    }

    /// The right that is missing to do this at all.
    fn missing(&self, kind: &Kind, verb: &str, subresource: &str, object: &ObjectRef) -> Option<Rule> {
        let name = if verb == "create" { "" } else { object.name.as_str() };
        let request = Request::resource(verb, kind.group, kind.plural).in_namespace(&object.namespace).named(name);
        let request = if subresource.is_empty() { request } else { request.subresource(subresource) };
        let resource =
            if subresource.is_empty() { kind.plural.to_owned() } else { format!("{}/{subresource}", kind.plural) };
        (!self.authorizer.allows(self.user, &request))
            .then(|| Rule::resources([kind.group], [resource.as_str()], [verb]))
    }

    /// Decides about a write, and stores it if it is accepted.
    fn settle(
        &mut self,
        object: &ObjectRef,
        asked: Option<Rule>,
        role: Option<Role>,
        binding: Option<Binding>,
        request_name: &str,
    ) -> bool {
        self.verdict.writes += 1;
        let old = role.as_ref().and_then(|role| self.authorizer.role(&role.key));
        let refusal = match (asked, &role, &binding) {
            (Some(missing), ..) => Some((words(std::slice::from_ref(&missing)), vec![missing])),
            (None, Some(role), _) => {
                let write = RoleWrite { role, old, request_name };
                escalation::check_role(&self.authorizer, self.user, &write).err().map(explained)
            }
            (None, None, Some(binding)) => {
                escalation::check_binding(&self.authorizer, self.user, binding).err().map(explained)
            }
            (None, None, None) => None,
        };
        if let Some((why, missing)) = refusal {
            self.verdict.refused.push(Refused { object: object.clone(), why, missing });
            return false;
        }
        if let Some(role) = role {
            self.authorizer.set_role(role);
        }
        if let Some(binding) = binding {
            self.authorizer.set_binding(binding);
        }
        true
    }
}

fn explained(refusal: Refusal) -> (String, Vec<Rule>) {
    match refusal {
        Refusal::NotHeld { missing, .. } => {
            let missing = rolewright_core::RuleSet::new(&missing).to_rules();
            (words(&missing), missing)
        }
        other => (other.to_string(), Vec::new()),
    }
}

/// `missing patch pods, get secrets`.
fn words(missing: &[Rule]) -> String {
    let rows: Vec<String> = render::rows(missing).into_iter().map(|(on, verbs)| format!("{verbs} {on}")).collect();
    format!("missing {}", rows.join("; "))
}
