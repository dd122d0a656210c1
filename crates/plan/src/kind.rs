//! The kinds of objects that are read and written.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::object::{Meta, Rest, parse_as};
use crate::snapshot::Shelf;

/// An object's content as the value that its kind reads it into.
pub type Body = Arc<dyn Any + Send + Sync>;

/// Namespaces: their labels and annotations say who wants what in them.
pub static NAMESPACE: Kind = Kind::cluster::<IgnoredAny>("", &["v1"], "Namespace", "namespaces").bare();

/// Leases: whoever holds one does the job that it is for.
pub static LEASE: Kind = Kind::namespaced::<IgnoredAny>("coordination.k8s.io", &["v1"], "Lease", "leases").bare();

/// What a kind's status says of what came of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// Nothing.
    Never,
    /// A condition of this type, always: the kind is ours.
    Always(&'static str),
    /// A condition of this type once something was wrong: the kind is somebody else's, and what is well needs no write.
    Trouble(&'static str),
}

/// One kind: where it is served, and how an object of it is read. Modules declare their own as statics.
pub struct Kind {
    /// The API group; `""` is the core group.
    pub group: &'static str,
    /// Versions that are understood, the best first; the first that is served is used.
    pub versions: &'static [&'static str],
    /// The kind as manifests spell it.
    pub kind: &'static str,
    /// The resource as URLs and rules spell it.
    pub plural: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The condition that we write into its status.
    pub reports: Reports,
    /// Whether its metadata says all that is read of it, so that nothing else is fetched.
    pub bare: bool,
    /// Whether its conditions are one value to the server, so that whoever writes one writes all of them.
    pub one_list: bool,
    read: fn(&Value) -> Result<Body, String>,
    same: fn(&Body, &Body) -> bool,
    parse: fn(&str) -> Option<(Meta, Body)>,
    share: fn(&mut Body, &mut Shelf),
}

impl Kind {
    /// A kind of the whole cluster whose objects are read as `T`, which sees everything but the metadata.
    pub const fn cluster<T: DeserializeOwned + PartialEq + Send + Sync + 'static>(
        group: &'static str,
        versions: &'static [&'static str],
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            group,
            versions,
            kind,
            plural,
            namespaced: false,
            reports: Reports::Never,
            bare: false,
            one_list: false,
            read: read_as::<T>,
            same: same_as::<T>,
            parse: parse_content::<T>,
            share: |_, _| {},
        }
    }

    /// A kind in namespaces whose objects are read as `T`.
    pub const fn namespaced<T: DeserializeOwned + PartialEq + Send + Sync + 'static>(
        group: &'static str,
        versions: &'static [&'static str],
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { namespaced: true, ..Self::cluster::<T>(group, versions, kind, plural) }
    }

    /// The same kind, with a condition that we write.
    pub const fn reporting(self, reports: Reports) -> Self {
        Self { reports, ..self }
    }

    /// The same kind, of which only metadata is read.
    pub const fn bare(self) -> Self {
        Self { bare: true, ..self }
    }

    /// The same kind, whose objects are read as `T`, which sees the metadata as well.
    pub(crate) const fn seeing_metadata<T: DeserializeOwned + PartialEq + Send + Sync + 'static>(self) -> Self {
        Self { read: read_whole::<T>, same: same_as::<T>, parse: parse_whole::<T>, ..self }
    }

    /// The same kind, whose conditions only go together.
    pub const fn with_one_list(self) -> Self {
        Self { one_list: true, ..self }
    }

    /// The same kind, whose contents are mostly made of what others say as well.
    pub(crate) const fn sharing(self, share: fn(&mut Body, &mut Shelf)) -> Self {
        Self { share, ..self }
    }

    /// Lets a content share what others say as well.
    pub(crate) fn share(&self, body: &mut Body, shelf: &mut Shelf) {
        (self.share)(body, shelf);
    }

    /// Reads an object's content. The error says what is wrong in words for a user.
    pub fn read(&self, object: &Value) -> Result<Body, String> {
        (self.read)(object)
    }

    /// Whether two contents of this kind say the same.
    pub fn is_same(&self, one: &Body, other: &Body) -> bool {
        (self.same)(one, other)
    }

    /// Reads metadata and content out of an object's text; `None` if somebody has to look at what is wrong with it.
    pub(crate) fn parse(&self, object: &str) -> Option<(Meta, Body)> {
        (self.parse)(object)
    }

    /// `apiVersion` in one of its versions.
    pub fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// The version to use when nothing is known of the server.
    pub fn best_version(&self) -> &'static str {
        self.versions.first().copied().unwrap_or("v1")
    }
}

fn read_as<T: DeserializeOwned + Send + Sync + 'static>(object: &Value) -> Result<Body, String> {
    read_from::<T, _>(Rest { object, metadata: &mut None::<IgnoredAny> })
}

fn read_whole<T: DeserializeOwned + Send + Sync + 'static>(object: &Value) -> Result<Body, String> {
    read_from::<T, _>(object)
}

fn read_from<'de, T, D>(object: D) -> Result<Body, String>
where
    T: Deserialize<'de> + Send + Sync + 'static,
    D: Deserializer<'de, Error: fmt::Display>,
{
    match serde_path_to_error::deserialize::<_, T>(object) {
        Ok(body) => Ok(Arc::new(body)),
        Err(error) => Err(format!("`{}`: {}", error.path(), error.inner())),
    }
}

fn same_as<T: PartialEq + 'static>(one: &Body, other: &Body) -> bool {
    one.downcast_ref::<T>().is_some_and(|one| other.downcast_ref() == Some(one))
}

fn parse_content<T: DeserializeOwned + Send + Sync + 'static>(object: &str) -> Option<(Meta, Body)> {
    let (meta, body) = parse_as::<T>(object)?;
    Some((meta, Arc::new(body)))
}

fn parse_whole<T: DeserializeOwned + Send + Sync + 'static>(object: &str) -> Option<(Meta, Body)> {
    let body: T = serde_json::from_str(object).ok()?;
    Some((parse_as::<IgnoredAny>(object)?.0, Arc::new(body)))
}

/// A kind is where it is served; there is one static for each.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        if std::ptr::eq(self, other) {
            return Ordering::Equal;
        }
        (self.kind, self.group).cmp(&(other.kind, other.group))
    }
}

impl std::hash::Hash for Kind {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.kind, self.group).hash(state);
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// As users know it: `ClusterRole`, or with its group where that is not Kubernetes' own.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)
    }
}
