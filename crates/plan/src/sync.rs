//! Config Sync's permissions: with which roles the reconcilers of RootSyncs and RepoSyncs work.
//!
//! Each sync has an account of its own, what every reconciler needs, and one binding for each role that it names. Nothing
//! is shared between syncs, so nothing that happens to one touches another.

mod base;
mod departure;
mod entry;
mod escalation;
mod index;
mod kinds;
mod legacy;
mod misspelt;
pub mod policy;
mod settings;
mod state;
mod survey;
mod words;

use std::collections::BTreeSet;

use rolewright_core::{Labels, RBAC_GROUP, RoleRef, Rule, Subject};

use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Content, Hold, Intent, Shape, Wanted};
use crate::kind::{Kind, NAMESPACE};
use crate::module::{Module, Watch};
use crate::object::{Live, ObjectRef};
use crate::op::{Plan, Report};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use crate::snapshot::{Change, Service, Snapshot};
use crate::workload::{DEPLOYMENT, Deployment, SERVICE_ACCOUNT};
use crate::{Name, Time};

use base::{STANDING, Standing};
use index::{Index, is_sync};
use kinds::Sync;
pub use kinds::{REPO_SYNC, ROOT_SYNC};
pub use settings::Settings;
use survey::{Obstacle, Survey};
pub use words::FINALIZER;

/// The module.
#[derive(Debug, Default)]
pub struct RoleRefs {
    settings: Settings,
    index: Index,
}

impl RoleRefs {
    /// The module, working like this.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    fn intend_sync(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let held = self.index.held(snapshot, key, &self.settings.namespace);
        let Some(live) = snapshot.get(key) else { return Intent { held, ..Intent::default() } };
        if live.meta.deleting && !departure::waits(live) {
            return self.leave(snapshot, key, held);
        }
        let mut intent = self.intend_present(snapshot, key, live, held);
        if live.meta.deleting {
            departure::await_reconciler(snapshot, key, live, &mut intent);
        }
        intent
    }

    /// What there should be while a sync is there, and while its reconciler cleans up after it.
    fn intend_present(&self, snapshot: &Snapshot, key: &ObjectRef, live: &Live, held: Vec<ObjectRef>) -> Intent {
        if let Some(refusal) = self.refusal(snapshot, key) {
            return Intent { held, diagnostics: vec![refusal], ..Intent::default() };
        }
        match self.survey(snapshot, key, live) {
            Ok(survey) => Intent {
                wanted: self.grants(snapshot, key, live, &survey),
                held,
                holds: vec![Hold {
                    object: key.clone(),
                    finalizer: Name::new(FINALIZER),
                    holds: true,
                    because: "its bindings and its account go before it does".to_owned(),
                }],
                diagnostics: self.problems(snapshot, key, live, &survey),
                wake_at: None,
            },
            // What was granted stays until somebody can tell what is meant.
            Err(why) => {
                let diagnostics = vec![Diagnostic::new(Code::Invalid, key.clone(), why)];
                Intent { diagnostics, ..Intent::default() }
            }
        }
    }

    /// Everything that should be there for a sync; nothing, if that cannot be told.
    fn wanted(&self, snapshot: &Snapshot, key: &ObjectRef, live: &Live) -> Vec<Wanted> {
        let survey = self.survey(snapshot, key, live);
        survey.map(|survey| self.grants(snapshot, key, live, &survey)).unwrap_or_default()
    }

    fn grants(&self, snapshot: &Snapshot, key: &ObjectRef, live: &Live, survey: &Survey) -> Vec<Wanted> {
        let account = words::account(key);
        let subjects = [Subject::service_account(self.settings.namespace.clone(), account.clone())];
        let labels = words::labels(key);
        let made = |object: ObjectRef, content: Content, because: String| {
            let shape = Shape { labels: labels.clone(), content, ..Shape::default() };
            Wanted { object, claim: words::CLAIM, shape, because }
        };
        let bind = |object, role_ref, because| made(object, Content::binding(role_ref, subjects.clone()), because);
        let own = base::named(&account);
        let of_all = format!("every reconciler of a {} has this", key.kind);
        let in_home = |kind: &'static Kind| ObjectRef::namespaced(kind, key.namespace.clone(), own.clone());
        let mut all = vec![
            self.account(key, live, &account),
            made(in_home(&ROLE), Content::rules(base::own_rules(key)), of_all.clone()),
            bind(in_home(&ROLE_BINDING), RoleRef::role(own.clone()), of_all.clone()),
            bind(
                ObjectRef::cluster(&CLUSTER_ROLE_BINDING, own.clone()),
                RoleRef::cluster_role(Standing::of(key.kind).name()),
                of_all,
            ),
        ];
        for (entry, obstacle) in &survey.entries {
            let binding = entry.binding(&account);
            let is_given = match obstacle {
                Obstacle::None | Obstacle::RoleMissing => true,
                Obstacle::Forbidden => false,
                // One that is going takes its bindings with it when it has gone.
                Obstacle::NamespaceMissing => snapshot.get(&binding).is_some(),
            };
            if is_given {
                let because = match survey.origin {
                    survey::Origin::Default => format!("{} `{}` names no roles", key.kind, key.name),
                    _ => format!("`roleRefs` names {entry}"),
                };
                all.push(bind(binding, entry.role_ref(), because));
            }
        }
        all
    }

    fn account(&self, key: &ObjectRef, live: &Live, account: &Name) -> Wanted {
        let google = live.body::<Sync>().map(|sync| sync.google_account.clone()).filter(|email| !email.is_empty());
        let annotations: Labels = google.map(|email| (Name::new(words::GOOGLE_ACCOUNT), email)).into_iter().collect();
        Wanted {
            object: ObjectRef::namespaced(&SERVICE_ACCOUNT, self.settings.namespace.clone(), account.clone()),
            claim: words::CLAIM,
            shape: Shape { labels: words::labels(key), annotations, ..Shape::default() },
            because: "its reconciler runs as this".to_owned(),
        }
    }
}

/// The ClusterRole of all reconcilers of a kind is there while there is one.
fn intend_standing(snapshot: &Snapshot, standing: Standing) -> Intent {
    let key = standing.key();
    let is_needed = snapshot.all(standing.kind).next().is_some();
    // A kind that is not served for a moment has its syncs all the same.
    let is_known = snapshot.service(standing.kind) == Service::Seen;
    let is_ours = snapshot.get(&key).is_some_and(index::is_ours);
    Intent {
        wanted: is_needed.then(|| standing.wanted()).into_iter().collect(),
        held: (is_ours && is_known).then_some(key).into_iter().collect(),
        ..Intent::default()
    }
}

/// Whether a binding is one of those that every reconciler has.
fn is_base(object: &ObjectRef) -> bool {
    object.name.ends_with(":base")
}

impl Module for RoleRefs {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn watches(&self) -> Vec<Watch> {
        let needed = [
            &ROOT_SYNC,
            &CLUSTER_ROLE,
            &CLUSTER_ROLE_BINDING,
            &ROLE,
            &ROLE_BINDING,
            &SERVICE_ACCOUNT,
            &NAMESPACE,
            &DEPLOYMENT,
        ];
        needed.map(Watch::needed).into_iter().chain([Watch::optional(&REPO_SYNC)]).collect()
    }

    fn writes(&self) -> Vec<Rule> {
        let (verbs, made) = (["create", "delete", "get", "patch"], ["create", "delete", "patch"]);
        let [root, repo] = STANDING.map(Standing::name);
        let mut rules = vec![
            Rule::resources([RBAC_GROUP], ["clusterrolebindings", "rolebindings"], verbs),
            // Nobody had any of these before us.
            Rule::resources([RBAC_GROUP], ["roles"], made),
            Rule::resources([RBAC_GROUP], ["clusterroles"], made).named([&root, &repo]),
            // Finalizers, and conditions among those of others.
            Rule::resources([ROOT_SYNC.group], [ROOT_SYNC.plural, REPO_SYNC.plural], ["get", "patch"]),
        ];
        rules.extend(base::all_rules(&[&ROOT_SYNC, &REPO_SYNC]));
        let bind = |kind| Rule::resources([RBAC_GROUP], [kind], ["bind"]);
        let Some(names) = &self.settings.bindable else {
            return rules.into_iter().chain(["clusterroles", "roles"].map(bind)).collect();
        };
        // The roles of all reconcilers may not be there yet when they are first bound.
        let own = [root, repo].into_iter().chain(self.settings.default_role.clone());
        for (kind, more) in [("roles", Vec::new()), ("clusterroles", own.collect())] {
            let all: BTreeSet<Name> = names.iter().cloned().chain(more).collect();
            // A rule without names would be on all of them.
            if !all.is_empty() {
                rules.push(Rule { resource_names: all.into_iter().collect(), ..bind(kind) });
            }
        }
        rules
    }

    fn writes_within(&self) -> Vec<(Name, Rule)> {
        let accounts = Rule::resources([""], ["serviceaccounts"], ["create", "delete", "get", "patch"]);
        vec![(self.settings.namespace.clone(), accounts)]
    }

    fn peer(&self, snapshot: &Snapshot) -> Option<Diagnostic> {
        let peer = ObjectRef::namespaced(&DEPLOYMENT, self.settings.namespace.clone(), words::PEER);
        let runs = snapshot.body::<Deployment>(&peer).is_some_and(|deployment| deployment.runs);
        let message =
            "it deletes bindings that it did not declare, so the module only plans; scale it to 0 to take over";
        runs.then(|| Diagnostic::new(Code::PeerActive, peer, message))
    }

    fn report(&self, snapshot: &Snapshot, key: &ObjectRef, plan: &Plan) -> Option<Report> {
        is_sync(key.kind).then(|| self.told(snapshot, key, plan)).flatten()
    }

    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], _: Time, mark: &mut dyn FnMut(ObjectRef)) {
        for change in changes {
            self.index.follow(snapshot, change, &self.settings, mark);
        }
    }

    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, _: Time) -> Intent {
        if is_sync(key.kind) {
            return self.intend_sync(snapshot, key);
        }
        if legacy::is_shared(key) {
            return self.intend_shared(snapshot, key);
        }
        if let Some(standing) = STANDING.into_iter().find(|standing| standing.key() == *key) {
            return intend_standing(snapshot, standing);
        }
        // Nothing tells what it was for any more, and it still gives somebody something.
        let is_orphan = self.index.owner(snapshot, key, &self.settings.namespace).as_ref() == Some(key);
        Intent { held: is_orphan.then(|| key.clone()).into_iter().collect(), ..Intent::default() }
    }

    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef> {
        let all = |kind: &'static Kind| {
            let key =
                move |live: &Live| ObjectRef::namespaced(kind, live.meta.namespace.clone(), live.meta.name.clone());
            snapshot.all(kind).map(key)
        };
        let mut keys: Vec<ObjectRef> = all(&ROOT_SYNC).chain(all(&REPO_SYNC)).collect();
        keys.extend(STANDING.map(Standing::key));
        keys.extend(legacy::keys(snapshot));
        // Whatever is left of what is no longer there.
        let owner = |object| self.index.owner(snapshot, object, &self.settings.namespace);
        keys.extend(self.index.made().filter_map(owner));
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
