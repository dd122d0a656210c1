//! Objects of a cluster as planners see them: a little of their metadata, and their content as a value.

mod condition;
mod echo;
mod managed;
mod read;
mod said;
mod split;

use std::any::Any;
use std::fmt;

use rolewright_core::Labels;

use crate::Name;
use crate::kind::{Body, Kind};
use crate::vocabulary::{annotation, manager};

pub use condition::{Condition, Status};
pub use echo::Echo;
pub use read::Unreadable;
pub(crate) use read::parse_as;
pub(crate) use split::Rest;

/// Which object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its namespace; `""` for an object of the whole cluster.
    pub namespace: Name,
    /// Its name.
    pub name: Name,
}

impl ObjectRef {
    /// An object of the whole cluster.
    pub fn cluster(kind: &'static Kind, name: impl Into<Name>) -> Self {
        Self { kind, namespace: Name::default(), name: name.into() }
    }

    /// An object in a namespace.
    pub fn namespaced(kind: &'static Kind, namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }
}

/// `ClusterRole/view`, `Role/shop/ci`.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An object as it was last seen.
#[derive(Clone, Debug)]
pub struct Live {
    /// What is known of its metadata.
    pub meta: Meta,
    /// Its content; an error, in words for a user, if it cannot be understood.
    pub body: Result<Body, String>,
    /// Its conditions, of a kind that has them.
    pub conditions: Vec<Condition>,
}

impl Live {
    /// The content, if it is a `T` and could be understood.
    pub fn body<T: Any>(&self) -> Option<&T> {
        self.body.as_ref().ok()?.downcast_ref()
    }
}

/// What planners need of an object's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The name.
    pub name: Name,
    /// The namespace; `""` at cluster scope.
    pub namespace: Name,
    /// Tells an object from another one that had its name before.
    pub uid: Name,
    /// The revision that this state was stored at.
    pub resource_version: u64,
    /// Counts changes of the wish, for kinds that do.
    pub generation: i64,
    /// All labels.
    pub labels: Labels,
    /// All annotations but those that only repeat the object.
    pub annotations: Labels,
    /// Who owns it.
    pub owners: Vec<Owner>,
    /// What must happen before it can go.
    pub finalizers: Vec<Name>,
    /// Whether it is on its way out.
    pub deleting: bool,
    /// What of its metadata is ours; `None` if we never applied it.
    pub ours: Option<Managed>,
    /// What of it is of a controller that did our job before; with the object it becomes ours.
    pub inherited: Option<Box<Inherited>>,
    /// Whether nobody but the controller that aggregates ever wrote it. Kubernetes' applies rules to a role that was deleted
    /// a moment ago, and so makes it anew: with what it last granted, which may be nothing, and without whatever said whose
    /// it was.
    pub revived: bool,
    /// Who else wrote it last, if several did and that was not before us.
    pub rival: Option<Box<Name>>,
}

impl Meta {
    /// Whether nobody should write to it, or on its behalf.
    pub fn is_paused(&self) -> bool {
        let says = |key: &&str| self.annotations.get(key).is_some_and(|value| value == "true");
        [annotation::PAUSED, annotation::CROSSPLANE_PAUSED].iter().any(says)
    }

    /// Whether one of these controllers wrote it.
    pub(crate) fn is_from(&self, managers: &[&str]) -> bool {
        self.inherited.as_ref().is_some_and(|inherited| inherited.from.iter().any(|name| managers.contains(name)))
    }

    /// Whether somebody gave it to us, whoever made it.
    pub(crate) fn is_given(&self) -> bool {
        self.annotations.get(annotation::ADOPT).is_some_and(|value| value == "true")
    }

    /// What is ours of it, with what becomes ours.
    pub(crate) fn all_ours(&self) -> Managed {
        let mut all = self.ours.clone().unwrap_or_default();
        if let Some(inherited) = &self.inherited {
            all.extend(inherited.fields.clone());
        }
        all
    }

    /// The owner that controls it.
    pub fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.controller)
    }
}

/// An owner, as an object names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// `apiVersion` of the owner.
    pub api_version: Name,
    /// Its kind.
    pub kind: Name,
    /// Its name.
    pub name: Name,
    /// Its uid: the only part that counts.
    pub uid: Name,
    /// Whether it is the one that controls the object.
    pub controller: bool,
}

/// What a manager wrote: it is its to take away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managed {
    /// Keys of labels.
    pub labels: Vec<Name>,
    /// Keys of annotations.
    pub annotations: Vec<Name>,
    /// Uids of owners.
    pub owners: Vec<Name>,
    /// Whether it wrote the rules of a role.
    pub rules: bool,
    /// Whether it made a role gather others.
    pub gathers: bool,
}

/// What controllers wrote that did our jobs before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// Which of them did.
    pub from: Vec<&'static str>,
    /// What they wrote, together.
    pub fields: Managed,
}

impl Inherited {
    /// What predecessors wrote, if they did, each as `managed` finds it.
    fn read<E>(mut managed: impl FnMut(&str) -> Result<Option<Managed>, E>) -> Result<Option<Box<Self>>, E> {
        let mut all = Self::default();
        for name in manager::UPSTREAM.iter().copied().flatten() {
            if let Some(fields) = managed(name)? {
                all.from.push(name);
                all.fields.extend(fields);
            }
        }
        Ok((!all.from.is_empty()).then(|| Box::new(all)))
    }
}

impl Managed {
    /// Takes in what another manager wrote.
    fn extend(&mut self, more: Self) {
        self.labels.extend(more.labels);
        self.annotations.extend(more.annotations);
        self.owners.extend(more.owners);
        self.rules |= more.rules;
        self.gathers |= more.gathers;
    }
}
