//! Checks a store without serving it.

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::path::Path;

use serde_json::Value;

use super::medium::{Folder, LogFile as _, Medium as _};
use super::record::Contents;
use super::scan::scan;
use super::{Log, StoreError, Sync};

/// What a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many objects of each resource (`roles.rbac.authorization.k8s.io`).
    pub objects: BTreeMap<String, usize>,
    /// The last change.
    pub revision: u64,
    /// The end of the file is what a crash left of a write that was never acknowledged; the next start wipes it.
    pub torn: bool,
}

/// Reads all that is kept in a folder, without a change to it, and compares each object with what is known of it.
pub fn check(folder: &Path) -> Result<Report, StoreError> {
    let missing = || StoreError::Missing { path: folder.to_owned() };
    let medium = Folder::at(folder);
    if !medium.path().exists() {
        return Err(missing());
    }
    // Nobody may write meanwhile.
    let _locked = Log::in_folder(folder, Sync::System)?;
    let io = |source| StoreError::Io { path: medium.path().to_owned(), source };
    let file = medium.open().map_err(io)?.ok_or_else(missing)?;
    let length = file.length().map_err(io)?;
    read(medium.path(), &mut BufReader::with_capacity(1 << 18, file), length)
}

/// The same for a file that is in memory.
pub fn check_bytes(bytes: &[u8]) -> Result<Report, StoreError> {
    read(Path::new("the bytes given"), &mut &*bytes, bytes.len() as u64)
}

fn read(path: &Path, file: &mut impl io::Read, length: u64) -> Result<Report, StoreError> {
    let mut contents = Contents::default();
    let end = scan(file, length, &mut |payload| contents.take(payload)).map_err(|fault| StoreError::of(path, fault))?;
    let mut objects = BTreeMap::new();
    for (resource, kept) in &contents.collections {
        for ((namespace, name), entry) in &kept.objects {
            let fits = serde_json::from_slice::<Value>(&entry.body).is_ok_and(|body| {
                let metadata = body.get("metadata");
                let text = |member: &str| metadata.and_then(|meta| meta.get(member)?.as_str()).unwrap_or_default();
                let digits = entry.body.get(entry.digits_at..).unwrap_or_default();
                text("namespace") == namespace
                    && text("name") == name
                    && text("uid") == entry.uid
                    && text("resourceVersion") == entry.revision.to_string()
                    && digits.starts_with(format!("{}\"", entry.revision).as_bytes())
            });
            if !fits {
                let what = format!("the object `{namespace}/{name}` of `{resource}` is not what its record says");
                return Err(StoreError::Damaged { path: path.to_owned(), at: end.at, what });
            }
        }
        if !kept.objects.is_empty() {
            objects.insert(resource.clone(), kept.objects.len());
        }
    }
    Ok(Report { objects, revision: contents.revision, torn: end.torn })
}

impl Report {
    /// How many objects there are.
    pub fn total(&self) -> usize {
        self.objects.values().sum()
    }
}
