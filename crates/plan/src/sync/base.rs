//! What every reconciler has: it reads what it works with, and writes what is its own.

use rolewright_core::{Labels, NameList, Rule};

use super::kinds::{REPO_SYNC, ROOT_SYNC};
use super::words;
use crate::Name;
use crate::intent::{Content, Shape, Wanted};
use crate::kind::Kind;
use crate::object::ObjectRef;
use crate::rbac::CLUSTER_ROLE;
use crate::vocabulary::label::MANAGED_BY;
use crate::vocabulary::manager::ROLEWRIGHT;

const READ: [&str; 3] = ["get", "list", "watch"];
const INVENTORY: &str = "kpt.dev";

/// A ClusterRole that all reconcilers of a kind share. It is there while there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Of which syncs.
    pub(super) kind: &'static Kind,
    name: &'static str,
}

pub(super) const STANDING: [Standing; 2] = [
    Standing { kind: &ROOT_SYNC, name: "rolewright:root-reconciler" },
    Standing { kind: &REPO_SYNC, name: "rolewright:ns-reconciler" },
];

impl Standing {
    /// The one for reconcilers of these syncs.
    pub(super) fn of(kind: &Kind) -> Self {
        let [root, repo] = STANDING;
        if *kind == ROOT_SYNC { root } else { repo }
    }

    pub(super) fn key(self) -> ObjectRef {
        ObjectRef::cluster(&CLUSTER_ROLE, self.name)
    }

    pub(super) fn name(self) -> Name {
        Name::new(self.name)
    }

    /// What such a reconciler reads in the whole cluster.
    pub(super) fn rules(self) -> Vec<Rule> {
        let mut rules = vec![Rule::resources(["apiextensions.k8s.io"], ["customresourcedefinitions"], READ)];
        if *self.kind == ROOT_SYNC {
            rules.push(Rule::resources([ROOT_SYNC.group], [ROOT_SYNC.plural], READ));
        }
        rules
    }

    pub(super) fn wanted(self) -> Wanted {
        let labels = Labels::from_iter([(Name::new(MANAGED_BY), Name::new(ROLEWRIGHT))]);
        Wanted {
            object: self.key(),
            claim: words::CLAIM,
            shape: Shape { labels, content: Content::rules(self.rules()), ..Shape::default() },
            because: format!("every reconciler of a {} reads this", self.kind),
        }
    }
}

/// What a reconciler writes in the namespace of its sync: the sync itself and its inventory, and no other.
pub(super) fn own_rules(sync: &ObjectRef) -> Vec<Rule> {
    let (group, plural, own) = (sync.kind.group, sync.kind.plural, [sync.name.as_str()]);
    let (status, finalizers) = (format!("{plural}/status"), format!("{plural}/finalizers"));
    let mut rules = vec![
        // Finalizers are part of the object. That nothing else of it changes is what the policy is for.
        Rule::resources([group], [plural, &status], ["get", "update", "patch"]).named(own),
        Rule::resources([group], [&finalizers], ["update"]).named(own),
        // Who creates has no name yet.
        Rule::resources([INVENTORY], ["resourcegroups"], ["get", "list", "watch", "create"]),
        Rule::resources([INVENTORY], ["resourcegroups", "resourcegroups/status"], ["get", "update", "patch", "delete"])
            .named(own),
    ];
    if *sync.kind == REPO_SYNC {
        rules.push(Rule::resources([group], [plural], READ));
    }
    rules
}

/// Everything that any base role holds: whoever gives it must have it.
pub(super) fn all_rules(kinds: &[&'static Kind]) -> Vec<Rule> {
    let unnamed = |rule: Rule| Rule { resource_names: NameList::default(), ..rule };
    let each = kinds.iter().flat_map(|kind| {
        let sync = ObjectRef::namespaced(kind, "", "");
        Standing::of(kind).rules().into_iter().chain(own_rules(&sync).into_iter().map(unnamed))
    });
    each.collect()
}

/// What the role and the bindings of the base are called.
pub(super) fn named(account: &str) -> Name {
    words::named(account, "base")
}
