//! What Crossplane's package manager and its users put into a cluster, as a value: definitions, revisions of providers and
//! what runs them. Objects are made from it, and so is what everybody should be able to do.

mod fixed;
mod manifest;
mod random;
mod rights;

use std::collections::BTreeSet;

pub(crate) use fixed::{disputed, later, undisputed};
pub(crate) use manifest::apply;
pub(crate) use random::{changed, drawn};
pub(crate) use rights::{Expected, Known, Way, people};

/// The namespace of Crossplane, and where providers run.
pub(crate) const HOME: &str = "crossplane-system";
/// Another one.
pub(crate) const ELSEWHERE: &str = "elsewhere";
/// One that enables a definition.
pub(crate) const SHOP: &str = "shop";

/// Everything at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) deployments: Vec<Deployment>,
    /// Accounts that a revision controls: its name, and theirs.
    pub(crate) accounts: Vec<(String, String)>,
    /// Definitions of resources that name a revision as their owner.
    pub(crate) served: Vec<Served>,
}

/// A definition of composite resources.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) plural: String,
    pub(crate) group: String,
    pub(crate) claim: Option<String>,
    /// None for what the first version of the API makes of it.
    pub(crate) scope: Option<&'static str>,
    pub(crate) paused: bool,
}

impl Definition {
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

/// A revision of a provider's package.
#[derive(Clone, Debug)]
pub(crate) struct Revision {
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) image: Image,
    pub(crate) family: Option<String>,
    pub(crate) refs: Vec<Reference>,
    pub(crate) capabilities: Vec<&'static str>,
}

/// An image, and who publishes it: none if that cannot be told. An index into [`IMAGES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image(pub(crate) usize);

/// Images, and their publishers.
pub(crate) const IMAGES: [(&str, Option<u8>); 12] = [
    ("xpkg.example.org/acme/provider:v1", Some(1)),
    ("xpkg.example.org/acme/deep/provider", Some(1)),
    ("xpkg.example.org/acme/p@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Some(1)),
    ("xpkg.example.org/other/provider:v1", Some(2)),
    ("elsewhere.example.org/acme/provider:v1", Some(3)),
    ("docker.io/acme/provider:v1", Some(4)),
    ("index.docker.io/acme/provider:v2", Some(4)),
    ("acme/provider:v1", Some(5)),
    ("localhost:5000/acme/provider", Some(6)),
    ("xpkg.example.org/Acme/provider:v1", None),
    ("not an image", None),
    ("xpkg.example.org/acme/p@sha256:0123", None),
];

impl Image {
    fn text(self) -> &'static str {
        IMAGES[self.0].0
    }

    fn publisher(self) -> Option<u8> {
        IMAGES[self.0].1
    }
}

/// What a revision says that it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A resource that is served.
    Served(String),
    /// A resource that may be served.
    Managed(String),
    /// Something else: its version, its kind and its name.
    Other(&'static str, &'static str, &'static str),
}

/// What runs a provider.
#[derive(Clone, Debug)]
pub(crate) struct Deployment {
    pub(crate) namespace: &'static str,
    pub(crate) name: String,
    pub(crate) revision: String,
    /// Empty for that of the namespace.
    pub(crate) account: String,
    /// Whether the revision controls it, or is only named as an owner.
    pub(crate) controlled: bool,
}

/// A definition of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) revision: String,
    /// Whether it is one of Crossplane, that need not be served yet.
    pub(crate) managed: bool,
}

/// A resource: its group and its name in rules.
pub(crate) type Resource = (String, String);

/// `buckets.example.org` as a resource.
fn resource(name: &str) -> Option<Resource> {
    name.split_once('.').map(|(plural, group)| (group.to_owned(), plural.to_owned()))
}

impl World {
    /// Both.
    pub(crate) fn join(&mut self, other: Self) {
        self.definitions.extend(other.definitions);
        self.revisions.extend(other.revisions);
        self.deployments.extend(other.deployments);
        self.accounts.extend(other.accounts);
        self.served.extend(other.served);
    }

    /// Whether a provider serves what a definition would define, and Crossplane does not.
    pub(crate) fn is_taken(&self, definition: &str) -> bool {
        self.served.iter().any(|served| served.name == definition && !served.managed)
    }

    /// What a revision lists.
    fn listed(revision: &Revision) -> BTreeSet<Resource> {
        let names = revision.refs.iter().filter_map(|reference| match reference {
            Reference::Served(name) | Reference::Managed(name) => resource(name),
            Reference::Other(..) => None,
        });
        names.collect()
    }

    /// What names a revision as its owner.
    fn owned(&self, revision: &Revision) -> BTreeSet<Resource> {
        let owned = self.served.iter().filter(|served| served.revision == revision.name);
        owned.filter_map(|served| resource(&served.name)).collect()
    }

    /// Those with whom a revision shares, itself among them.
    fn members<'a>(&'a self, revision: &'a Revision) -> Vec<&'a Revision> {
        let shares = |other: &&Revision| {
            other.name == revision.name
                || (revision.family.is_some()
                    && other.family == revision.family
                    && other.image.publisher().is_some()
                    && other.image.publisher() == revision.image.publisher())
        };
        self.revisions.iter().filter(shares).collect()
    }
}
