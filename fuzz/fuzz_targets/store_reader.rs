//! Data files that anybody may have written.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_server::store::{Data, Sync, check_bytes, open};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    /// Bytes as they are.
    Raw(&'a [u8]),
    /// A file that was written as files are, with these payloads, and then changed in some places.
    Changed { payloads: Vec<&'a [u8]>, changes: Vec<(u16, u8)>, cut: Option<u16> },
}

fuzz_target!(|input: Input<'_>| {
    match input {
        Input::Raw(bytes) => drop(check_bytes(bytes)),
        Input::Changed { payloads, changes, cut } => {
            let mut bytes = written(&payloads);
            for (at, by) in &changes {
                if let Some(byte) = bytes.get_mut(usize::from(*at)) {
                    *byte ^= by;
                }
            }
            bytes.truncate(cut.map_or(bytes.len(), usize::from));
            drop(check_bytes(&bytes));
        }
    }
});

/// A file with these payloads, as a server writes it.
fn written(payloads: &[&[u8]]) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("rolewright-fuzz-{}", std::process::id()));
    // What an earlier run left is no concern of this one.
    let _ = std::fs::remove_dir_all(&folder);
    let mut store = open(&Data { folder: folder.clone(), sync: Sync::System }).expect("an empty folder can be used");
    store.load(&mut |_| Ok(())).expect("a new file can be read");
    for payload in payloads {
        store.append(payload).expect("there is room");
    }
    let used = usize::try_from(store.size()).expect("files of this size fit into memory") + 64;
    let mut bytes = std::fs::read(folder.join("objects.log")).expect("the file is there");
    bytes.truncate(used);
    bytes
}
