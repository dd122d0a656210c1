//! Changes of objects as bytes, with what the indexes need, so that a start need not read the objects themselves.
//!
//! ```text
//! payload   item*
//! item      1 object | 2 an object is gone | 3 a collection's last change | 4 the cluster's last change
//! text      its length in four bytes, then UTF-8
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use rolewright_core::Name;
use rustc_hash::FxHashMap;

use super::Payload;
use crate::cluster::Entry;

const PUT: u8 = 1;
const GONE: u8 = 2;
const COLLECTION: u8 = 3;
const REVISION: u8 = 4;

const DELETING: u8 = 1;
const COLLECTING: u8 = 2;

/// Writes a payload.
#[derive(Debug, Default)]
pub(crate) struct Writer(Payload);

impl Writer {
    /// An object of a resource (`roles.rbac.authorization.k8s.io`) as a change leaves it.
    pub(crate) fn change(&mut self, resource: &str, entry: &Entry, gone: bool) {
        self.0.push(if gone { GONE } else { PUT });
        self.u64(entry.revision);
        self.text(resource);
        self.text(&entry.namespace);
        self.text(&entry.name);
        if gone {
            return;
        }
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        self.0.push(flag(entry.deleting, DELETING) | flag(entry.collecting, COLLECTING));
        self.u32(entry.written);
        self.size(entry.digits_at);
        self.text(&entry.uid);
        self.size(entry.labels.len());
        for (key, value) in &entry.labels {
            self.text(key);
            self.text(value);
        }
        self.size(entry.owners.len());
        for owner in &entry.owners {
            self.text(owner);
        }
        self.bytes(&entry.body);
    }

    /// When a collection changed last, deletions included.
    pub(crate) fn collection(&mut self, resource: &str, changed: u64) {
        self.0.push(COLLECTION);
        self.u64(changed);
        self.text(resource);
    }

    /// When anything changed last.
    pub(crate) fn revision(&mut self, revision: u64) {
        self.0.push(REVISION);
        self.u64(revision);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn finish(self) -> Payload {
        self.0
    }

    fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn size(&mut self, size: usize) {
        self.u32(u32::try_from(size).expect("objects are a few megabytes at most"));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }
}

/// Everything that a store kept.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The cluster's last change.
    pub(crate) revision: u64,
    /// By resource.
    pub(crate) collections: FxHashMap<String, Kept>,
}

/// About how many bytes an object takes.
pub(crate) fn stored_size(entry: &Entry) -> u64 {
    /// Names and numbers beside the body.
    const BESIDE: u64 = 200;
    entry.body.len() as u64 + BESIDE
}

/// The objects of one resource.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Its last change.
    pub(crate) changed: u64,
    /// By namespace and name.
    pub(crate) objects: BTreeMap<(Name, Name), Arc<Entry>>,
}

impl Contents {
    /// Takes in one payload; the error says what is wrong with it.
    pub(crate) fn take(&mut self, payload: &[u8]) -> Result<(), String> {
        let mut reader = Reader(payload);
        while let Some((tag, rest)) = reader.0.split_first() {
            reader.0 = rest;
            self.item(*tag, &mut reader).ok_or_else(|| "a record that cannot be read".to_owned())?;
        }
        Ok(())
    }

    /// About how many bytes the same takes without its history.
    pub(crate) fn size(&self) -> u64 {
        self.collections.values().flat_map(|kept| kept.objects.values()).map(|entry| stored_size(entry)).sum()
    }

    fn item(&mut self, tag: u8, reader: &mut Reader<'_>) -> Option<()> {
        let revision = reader.u64()?;
        self.revision = self.revision.max(revision);
        if tag == REVISION {
            return Some(());
        }
        let resource = reader.text()?;
        if !self.collections.contains_key(resource) {
            self.collections.insert(resource.to_owned(), Kept::default());
        }
        let kept = self.collections.get_mut(resource)?;
        kept.changed = kept.changed.max(revision);
        if tag == COLLECTION {
            return Some(());
        }
        let at = (Name::from(reader.text()?), Name::from(reader.text()?));
        if tag == GONE {
            kept.objects.remove(&at);
            return Some(());
        }
        if tag != PUT {
            return None;
        }
        let entry = reader.entry(&at, revision)?;
        kept.objects.insert(at, Arc::new(entry));
        Some(())
    }
}

/// Reads what [`Writer`] wrote; `None` where that ends too early or is no text.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn entry(&mut self, at: &(Name, Name), revision: u64) -> Option<Entry> {
        let [flags] = self.array()?;
        let written = self.u32()?;
        let digits_at = self.size()?;
        let uid = self.text()?.into();
        let labels = self.list(|reader| Some((reader.text()?.into(), reader.text()?.into())))?;
        let owners = self.list(|reader| Some(reader.text()?.into()))?;
        let body = Bytes::copy_from_slice(self.bytes()?);
        Some(Entry {
            namespace: at.0.clone(),
            name: at.1.clone(),
            uid,
            revision,
            labels,
            owners,
            deleting: flags & DELETING != 0,
            collecting: flags & COLLECTING != 0,
            written,
            digits_at,
            body,
        })
    }

    /// WHY: grows as it reads: a length that is a lie must not reserve memory.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Box<[T]>> {
        (0..self.u32()?).map(|_| one(self)).collect::<Option<Vec<T>>>().map(Into::into)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let size = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}
