//! Documents, each built at most once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use ring::digest::{SHA512, digest};
use rolewright_core::Name;
use serde::Serializer as _;
use serde_json::{Value, json};

use super::custom::{self, CustomKind};
use super::operation::Path;
use super::{paths, schema};
use crate::catalog::{Catalog, Origin};
use crate::facts::{self, Resource};

/// The documents of a server by the names that the index has for them, such as `apis/apps/v1`.
pub(crate) struct Documents {
    built_in: BTreeMap<String, Arc<Document>>,
    custom: Mutex<Kept>,
}

/// Documents about custom kinds, as of a generation of the catalog.
#[derive(Default)]
struct Kept {
    generation: Option<u64>,
    documents: Arc<BTreeMap<String, Arc<Document>>>,
}

/// One document.
pub(super) struct Document {
    name: String,
    about: About,
    hash: OnceLock<String>,
    bytes: OnceLock<Bytes>,
}

/// What a document describes.
enum About {
    Core,
    Groups,
    Group(Name),
    Version(Name, Name),
    Custom(Name, Name),
}

impl Documents {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let mut built_in = BTreeMap::new();
        let mut add = |name: String, about: About| {
            let (hash, bytes) = (OnceLock::new(), OnceLock::new());
            built_in.insert(name.clone(), Arc::new(Document { name, about, hash, bytes }));
        };
        add("api".to_owned(), About::Core);
        add("apis".to_owned(), About::Groups);
        for served in catalog.built_ins() {
            let (group, version) = (served.group.clone(), served.version.clone());
            if group.is_empty() {
                add(format!("api/{version}"), About::Version(group, version));
            } else {
                add(format!("apis/{group}"), About::Group(group.clone()));
                add(format!("apis/{group}/{version}"), About::Version(group, version));
            }
        }
        Self { built_in, custom: Mutex::default() }
    }

    pub(super) fn find(&self, name: &str, catalog: &Catalog) -> Option<Arc<Document>> {
        self.built_in.get(name).cloned().or_else(|| self.custom(catalog).get(name).cloned())
    }

    /// Where each document is. The hash in it changes with the document, so that clients can keep what they have.
    pub(super) fn index(&self, catalog: &Catalog) -> String {
        let entry = |document: &Document| json!({"serverRelativeURL": document.url(catalog)});
        let custom = self.custom(catalog);
        let all = custom.iter().chain(&self.built_in);
        let paths: BTreeMap<&str, Value> = all.map(|(name, document)| (name.as_str(), entry(document))).collect();
        json!({"paths": paths}).to_string()
    }

    /// The documents about custom kinds. Only what was defined anew gets a new one.
    fn custom(&self, catalog: &Catalog) -> Arc<BTreeMap<String, Arc<Document>>> {
        let generation = catalog.generation();
        let mut kept = self.custom.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation != Some(generation) {
            let mut documents = BTreeMap::new();
            for (group, versions) in catalog.custom_groups() {
                for version in versions {
                    let name = format!("apis/{group}/{version}");
                    let hash = stamps(catalog, &group, &version);
                    let same = kept.documents.get(&name).filter(|old| old.hash.get() == Some(&hash));
                    let document = same.cloned().unwrap_or_else(|| {
                        let about = About::Custom(group.clone(), version);
                        Arc::new(Document { name: name.clone(), about, hash: hash.into(), bytes: OnceLock::new() })
                    });
                    documents.insert(name, document);
                }
            }
            *kept = Kept { generation: Some(generation), documents: Arc::new(documents) };
        }
        kept.documents.clone()
    }
}

/// The hash of what a document about custom kinds is made of, which is much less than the document.
fn stamps(catalog: &Catalog, group: &str, version: &str) -> String {
    let mut all = String::new();
    for served in catalog.of_version(group, version) {
        if let Origin::Custom(version) = &served.origin {
            all.push_str(&version.definition().stamp());
            all.push('\n');
        }
    }
    hexadecimal(digest(&SHA512, all.as_bytes()).as_ref())
}

/// Bytes in capital hexadecimal digits.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

impl Document {
    /// The SHA-512 of the document, or of what it is made of.
    pub(super) fn hash(&self, catalog: &Catalog) -> &String {
        self.hash.get_or_init(|| {
            let hash = match self.bytes.get() {
                Some(bytes) => digest(&SHA512, bytes),
                None => digest(&SHA512, &self.build(catalog)),
            };
            hexadecimal(hash.as_ref())
        })
    }

    pub(super) fn url(&self, catalog: &Catalog) -> String {
        format!("/openapi/v3/{}?hash={}", self.name, self.hash(catalog))
    }

    pub(super) fn bytes(&self, catalog: &Catalog) -> Bytes {
        if let About::Custom(..) = self.about {
            // There may be thousands of them, each about kinds that few clients know.
            return self.build(catalog).into();
        }
        self.bytes.get_or_init(|| self.build(catalog).into()).clone()
    }

    fn build(&self, catalog: &Catalog) -> Vec<u8> {
        match &self.about {
            About::Core => write(&[paths::of_core()], ("", "v1")),
            About::Groups => write(&[paths::of_groups()], ("", "v1")),
            About::Group(group) => write(&[paths::of_group(group)], ("", "v1")),
            About::Version(group, version) => {
                let built_ins = catalog.built_ins().iter();
                let resources: Vec<&'static Resource> = built_ins
                    .filter(|served| served.group == *group && served.version == *version)
                    .filter_map(|served| served.built_in().map(|built_in| built_in.facts))
                    .collect();
                write(&paths::of_version(group, version, &resources), (group, version))
            }
            About::Custom(group, version) => {
                let served = catalog.of_version(group, version);
                let kinds = served.iter().filter_map(|served| match &served.origin {
                    Origin::Custom(known) => CustomKind::read(&known.source(), version),
                    Origin::BuiltIn(_) => None,
                });
                custom::document(&kinds.collect::<Vec<_>>()).to_string().into_bytes()
            }
        }
    }
}

/// `1.36`
pub(super) fn version() -> &'static str {
    let version = facts::VERSION.trim_start_matches('v');
    version.rsplit_once('.').map_or(version, |(minor, _)| minor)
}

/// A document with these paths and the schemas that they need. It is written piece by piece, because as a whole tree it is
/// many times as large.
fn write(paths: &[Path], home: (&str, &str)) -> Vec<u8> {
    let types = schema::reachable(paths.iter().flat_map(Path::types));
    let info = json!({"title": "Kubernetes", "version": version()});
    let security = json!({"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}});
    let mut out = format!(r#"{{"openapi":"3.0.0","info":{info},"paths":"#).into_bytes();
    members(&mut out, paths.iter().map(|path| (path.path.as_str(), path.to_json())));
    out.extend_from_slice(br#","components":{"schemas":"#);
    members(&mut out, types.values().map(|ty| (ty.name, schema::of_type(ty, home))));
    out.extend_from_slice(format!(r#","securitySchemes":{security}}}}}"#).as_bytes());
    out
}

fn members<'a>(out: &mut Vec<u8>, members: impl Iterator<Item = (&'a str, Value)>) {
    let written = serde_json::Serializer::new(out).collect_map(members);
    written.expect("JSON with text keys can be written into memory");
}
