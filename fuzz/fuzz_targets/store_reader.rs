//! Data files that anybody may have written: what is read is a beginning of what was written, goes on from there, and is
//! read again as the same.
#![no_main]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_server::store::{Data, Store, Sync, check_bytes, open};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    /// Bytes as they are.
    Raw(&'a [u8]),
    /// A file that was written as files are, with these payloads, and then changed in some places.
    Changed { payloads: Vec<Payload<'a>>, changes: Vec<(u16, u8)>, cut: Option<u16>, zeros: Option<u8>, open: u8 },
}

#[derive(Debug, Arbitrary)]
enum Payload<'a> {
    Raw(&'a [u8]),
    Items(Vec<Item>),
}

/// One change, as `store/record.rs` describes it.
#[derive(Debug, Arbitrary)]
enum Item {
    Object { revision: u32, place: u8, flags: u8, labels: u8, owners: u8 },
    Gone { revision: u32, place: u8 },
    Collection { revision: u32, resource: u8 },
    Revision(u32),
}

/// What a reader should find.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Model {
    revision: u64,
    objects: BTreeMap<(u8, u8), u32>,
}

fn resource(place: u8) -> String {
    ["roles.rbac.authorization.k8s.io", "secrets", "widgets.acme.io", ""][usize::from(place % 4)].to_owned()
}

impl Item {
    fn write(&self, bytes: &mut Vec<u8>, model: &mut Model) {
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend(u32::try_from(text.len()).expect("texts are short").to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        let (tag, revision) = match self {
            Self::Object { revision, .. } => (1, *revision),
            Self::Gone { revision, .. } => (2, *revision),
            Self::Collection { revision, .. } => (3, *revision),
            Self::Revision(revision) => (4, *revision),
        };
        bytes.push(tag);
        bytes.extend(u64::from(revision).to_le_bytes());
        model.revision = model.revision.max(u64::from(revision));
        match self {
            Self::Revision(_) => {}
            Self::Collection { resource: place, .. } => text(bytes, &resource(*place)),
            Self::Gone { place, .. } | Self::Object { place, .. } => {
                let (namespace, name) = (format!("n{}", place / 128), format!("o{place}"));
                text(bytes, &resource(*place));
                text(bytes, &namespace);
                text(bytes, &name);
                let Self::Object { flags, labels, owners, .. } = self else {
                    model.objects.remove(&(place % 4, *place));
                    return;
                };
                model.objects.insert((place % 4, *place), revision);
                let uid = format!("u{place}");
                let body = format!(
                    r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}","uid":"{uid}","resourceVersion":"{revision}"}}}}"#
                );
                let digits = body.find(&format!("{revision}\"}}")).expect("the revision is in the body");
                bytes.push(flags % 4);
                bytes.extend(7_u32.to_le_bytes());
                bytes.extend(u32::try_from(digits).expect("bodies are short").to_le_bytes());
                text(bytes, &uid);
                bytes.extend(u32::from(labels % 3).to_le_bytes());
                for label in 0..labels % 3 {
                    text(bytes, &format!("l{label}"));
                    text(bytes, "x");
                }
                bytes.extend(u32::from(owners % 3).to_le_bytes());
                for owner in 0..owners % 3 {
                    text(bytes, &format!("u{owner}"));
                }
                text(bytes, &body);
            }
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    match input {
        Input::Raw(bytes) => {
            if check_bytes(bytes).is_ok() {
                reread(bytes, None);
            }
        }
        Input::Changed { payloads, changes, cut, zeros, open } => {
            let mut model = Model::default();
            let mut models = vec![Some(model.clone())];
            let mut written: Vec<Vec<u8>> = Vec::new();
            for payload in &payloads {
                let mut bytes = Vec::new();
                match payload {
                    Payload::Raw(raw) => bytes.extend_from_slice(raw),
                    Payload::Items(items) => items.iter().for_each(|item| item.write(&mut bytes, &mut model)),
                }
                // What raw bytes mean is not known here.
                let known = matches!(payload, Payload::Items(_)) && models.last().is_some_and(Option::is_some);
                models.push(known.then(|| model.clone()));
                written.push(bytes);
            }
            let mut bytes = file(&written);
            let whole = bytes.clone();
            for (at, by) in &changes {
                if let Some(byte) = bytes.get_mut(usize::from(*at)) {
                    *byte ^= by;
                }
            }
            bytes.truncate(cut.map_or(bytes.len(), usize::from));
            bytes.extend(std::iter::repeat_n(0, usize::from(zeros.unwrap_or_default()) * 32));
            let report = check_bytes(&bytes);
            if bytes == whole && models.iter().all(Option::is_some) {
                assert!(report.is_ok(), "what was written is read: {report:?}");
            }
            let Ok(report) = report else { return };
            if models.iter().all(Option::is_some) {
                let told = |model: &Model| model.objects.len() == report.total() && model.revision == report.revision;
                assert!(models.iter().flatten().any(told), "a beginning is read: {report:?} of {models:?}");
            }
            // A server that starts with the file takes long.
            if open % 32 == 31 {
                let kept = reread(&bytes, Some(&written));
                if let Some(Some(model)) = models.get(kept) {
                    assert_eq!((report.total(), report.revision), (model.objects.len(), model.revision), "{model:?}");
                }
            }
        }
    }
});

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("rolewright-fuzz-{}", std::process::id()))
}

fn open_at(folder: &Path) -> Box<dyn Store> {
    open(&Data { folder: folder.to_owned(), sync: Sync::System }).expect("the folder can be used")
}

fn payloads(store: &mut dyn Store) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let each = &mut |payload: &[u8]| {
        found.push(payload.to_vec());
        Ok(())
    };
    store.load(each).expect("what is whole can be read");
    found
}

/// A file with these payloads, as `store/block.rs` describes it: a disk would be too slow for a million of them.
fn file(written: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    bytes[..16].copy_from_slice(b"rolewright-data\n");
    bytes[16] = 1;
    bytes[20..36].copy_from_slice(b"0123456789abcdef");
    let sum = crc32(&bytes[..508]);
    bytes[508..].copy_from_slice(&sum.to_le_bytes());
    let mut chain = crc32(&bytes[20..36]);
    for (payload, number) in written.iter().zip(1_u64..) {
        let mut head = vec![0xf5, b'r', b'w', 0xff];
        head.extend(u32::try_from(payload.len()).expect("payloads are short").to_le_bytes());
        head.extend(number.to_le_bytes());
        head.extend(crc32(payload).to_le_bytes());
        head.extend(chain.to_le_bytes());
        head.extend([0; 4]);
        chain = crc32(&head);
        head.extend(chain.to_le_bytes());
        bytes.extend(head);
        bytes.extend(payload);
        bytes.extend(std::iter::repeat_n(0xff, 32 - payload.len() % 32));
    }
    bytes.extend([0; 64]);
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 })
    })
}

/// How many payloads there are in a file that is in order: a server starts with them and goes on.
fn reread(bytes: &[u8], written: Option<&[Vec<u8>]>) -> usize {
    let folder = folder();
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("there is room");
    std::fs::write(folder.join("objects.log"), bytes).expect("there is room");
    let mut store = open_at(&folder);
    let mut kept = payloads(&mut *store);
    let count = kept.len();
    if let Some(written) = written {
        assert!(written.starts_with(&kept), "what is read is a beginning of what was written");
    }
    store.append(b"one more").expect("there is room");
    kept.push(b"one more".to_vec());
    drop(store);
    let mut store = open_at(&folder);
    assert_eq!(payloads(&mut *store), kept, "what was read is read again");
    store.rewrite(&mut kept.iter().cloned()).expect("there is room");
    drop(store);
    assert_eq!(payloads(&mut *open_at(&folder)), kept, "what was rewritten is read again");
    count
}
