//! Every code there is. Numbers are never used again.

use std::fmt;

use super::Severity;

macro_rules! codes {
    ($($name:ident = $number:literal, $severity:ident, $title:literal, $help:literal;)*) => {
        /// A problem that rolewright can name. `rolewright explain RW0001` prints what is written here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// All of them, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The number after `RW`.
            pub fn number(self) -> u16 {
                match self { $(Self::$name => $number,)* }
            }

            /// In PascalCase: the reason of events and conditions.
            pub fn reason(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// In a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// What it means and what to do.
            pub fn help(self) -> &'static str {
                match self { $(Self::$name => $help,)* }
            }
        }
    };
}

codes! {
    Invalid = 1, Error, "an object cannot be understood",
        "The object is stored in a form that its kind does not allow, so nothing is granted because of it and what was \
         granted before stays as it was. Correct the field that the message names.";
    Paused = 2, Note, "writes are paused",
        "The annotation `rolewright.io/paused: \"true\"` stops every write to the object and on its behalf. What would be \
         written is counted in the message. Remove the annotation to go on.";
    NameTaken = 3, Error, "the name is taken by somebody else's object",
        "An object of this name exists and is not ours: it is not controlled by the object that needs it. It is left as it \
         is, and the rights that it should give are missing. Delete or rename it, or give it to us: \
         `kubectl annotate KIND NAME rolewright.io/adopt=true`.";
    Refused = 4, Error, "the API server refused a write",
        "The message says why. `forbidden` means that the manager lacks rights: `rolewright manifests rbac` prints the role \
         that it needs. It tries again from time to time.";
    Ineffective = 5, Warning, "a write has no effect",
        "The API server accepted a write and the object is not what was written: an admission webhook or another controller \
         changes it at once. It is tried again ever more rarely. Find out who else writes to it in its `managedFields`.";
    PeerActive = 6, Warning, "somebody else does the same work",
        "Another controller changes back what the manager writes, or holds the lease of the same job. Two writers would \
         fight, so the manager leaves the object or the job to it and looks again after some minutes. Let only one of \
         them do it: switch the other one off, or let the manager only observe. `managedFields` say who wrote last.";
    UnionTooLarge = 101, Error, "an aggregated role is too large to store",
        "The rules that its selectors gather do not fit into one object. Where the manager writes them, revocations still \
         reach the role and the rules that the message counts are withheld; Kubernetes' own controller changes nothing any \
         more. Select fewer roles, or let rules share verbs and resources.";
    AggregationCycle = 102, Warning, "aggregated roles select each other",
        "Kubernetes' own controller never takes a revoked rule out of such a circle. Change the labels or selectors so that \
         no role selects, over others, itself.";
    SelectorInvalid = 103, Warning, "a selector cannot be used",
        "It selects nothing; the other selectors of the role work. The message says what is wrong with it.";
    AggregationDrift = 104, Warning, "an aggregated role does not hold what its selectors gather",
        "Beside Kubernetes' controller rolewright only observes. If this stays, that controller is not running, fails, or \
         keeps rules that nobody grants any more; its log says more.";
    DefinitionUnknown = 201, Warning, "a namespace enables what is not defined",
        "An annotation of the namespace names a CompositeResourceDefinition that does not exist. It grants nothing until \
         there is one of that name. Correct the name, or remove the annotation.";
    AnnotationUnknown = 202, Warning, "an annotation of a namespace enables nothing",
        "A definition is enabled by the value `xrd-enabled` (or `xrd-claim-accepted`), and by nothing else.";
    ResourcesUnlisted = 203, Warning, "a provider's revision does not list what it owns",
        "Resources name the revision as their owner, and its `status.objectRefs` does not name them. Their rights are \
         granted all the same. Crossplane's package manager should list them; its log says why it does not.";
    FamilyStranger = 204, Warning, "a provider is left out of its family",
        "Members of a family use each other's resources if they are published by the same organisation of the same \
         registry. To trust another one: `--trust-organisations=REGISTRY/ORGANISATION,REGISTRY/ORGANISATION`.";
    BeyondBoundary = 205, Warning, "a provider asks for more than it may have",
        "What the role of `--provider-clusterrole` does not cover is not granted. Widen that role, if the provider should \
         have it.";
    LeftToHelm = 206, Note, "a role is left to its Helm release",
        "It is not changed, because the next upgrade of the release would change it back. To let us keep it, remove it from \
         the release.";
    ResourceRefused = 207, Warning, "a provider brings what cannot be a custom resource",
        "A resource that the revision lists or owns has a name with signs that mean more than one resource, or is of a group \
         that Kubernetes or Crossplane itself serves. It is granted to nobody; the others are. If nobody tries to get more \
         than they may have, the package is broken: report it to its author.";
    ServedByAnother = 208, Warning, "a definition names resources of somebody else",
        "The CustomResourceDefinition of this name is controlled by another object, so Crossplane cannot serve it for this \
         definition, and nobody gets rights on it because of it. What else it defines is granted. Define it under another \
         name, or remove what controls it.";
    GathersNothing = 209, Warning, "a role of a Helm release does not gather what is installed",
        "Whoever is bound to it gets nothing of what providers and definitions bring. Crossplane's chart renders it so with \
         `rbacManager.deploy: false`. Set that to `true` and `rbacManager.replicas` to 0, or remove the role from the \
         release, to let us keep it.";
    ClusterAdminByDefault = 301, Warning, "a RootSync may do everything because it names no roles",
        "Without `spec.override.roleRefs` its reconciler is bound to `cluster-admin`, as Config Sync does it. Name the roles \
         that it needs, or annotate it `rolewright.io/root-role: none`; `--default-root-role` changes the default of the \
         whole cluster.";
    NamespaceMissing = 302, Warning, "a role is to count in a namespace that is not there",
        "The binding is made as soon as the namespace is there. The other entries of `roleRefs` count already.";
    RoleMissing = 303, Warning, "a role that a sync names is not there",
        "The binding is there and gives nothing until somebody creates the role. Correct the name, or create it.";
    RoleRefInvalid = 304, Error, "an entry of `roleRefs` cannot be used",
        "It gives nothing; the other entries count. The message says what to correct.";
    RoleNotBindable = 305, Error, "a role is not to be given by syncs",
        "`--bindable-roles` names the roles that may be given. Without it RepoSyncs get none: the manager would give what \
         the author of the RepoSync does not have. RootSyncs may then name any.";
    OverridesMisspelt = 306, Error, "a field that should name roles is misspelt",
        "Nobody reads it, and most API servers drop it, so the sync seems to name no roles. A RootSync then gets no more than \
         every reconciler has, and not `cluster-admin`. Say `spec.override.roleRefs`.";
    SyncMisplaced = 307, Error, "a sync is where it cannot be",
        "RootSyncs live in the namespace of Config Sync, RepoSyncs in all others, and their names are limited. Nothing is \
         granted for it.";
    AccountTaken = 308, Error, "two syncs would share an account",
        "The names of accounts are made from those of syncs, and these two give the same. Each would have the rights of the \
         other, so the second gets none.";
    ReconcilerAwaited = 309, Note, "a sync that is being deleted waits for its reconciler",
        "The reconciler cleans up with the rights that it has, so these stay, and are kept in order, until it is done. If it \
         is dead: `kubectl annotate rootsync NAME rolewright.io/release-reconciler='WHY'`.";
    ReconcilerReleased = 310, Warning, "a sync goes without its reconciler",
        "Its finalizer was taken away without its doing, for the reason in the message. What it had applied stays.";
    RoleEscalates = 311, Warning, "a role of a sync lets its reconciler take more",
        "Whoever writes to the source of the sync can have more than the role says, up to everything. Name a narrower role, \
         or let an operator decide which roles syncs may have: `--bindable-roles`.";
    SharedBindingForeign = 312, Error, "a shared binding gives a reconciler more, and is not ours",
        "It has the name of a binding that Config Sync's manager shares between syncs, and nothing says that this manager \
         made it, so it is left as it is and still counts. Delete it, or give it to us: `kubectl annotate KIND NAME \
         rolewright.io/adopt=true`.";
}

impl Code {
    /// The code of this number or text: `RW0101`, `rw101`, `101`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("RW").or_else(|| text.strip_prefix("rw")).unwrap_or(text);
        let number: u16 = digits.parse().ok()?;
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RW{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart_and_found_again() {
        assert!(Code::ALL.is_sorted_by(|a, b| a.number() < b.number()), "one number each, in order");
        for code in Code::ALL {
            assert_eq!(Code::parse(&code.to_string()), Some(*code));
            assert!(code.help().ends_with('.') && !code.title().ends_with('.'), "{code}");
        }
        assert_eq!(Code::parse("rw101"), Some(Code::UnionTooLarge));
        for unknown in ["", "RW", "RW9999", "pods"] {
            assert_eq!(Code::parse(unknown), None, "{unknown}");
        }
    }
}
