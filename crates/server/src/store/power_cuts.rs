//! What is left of a log when the power goes: any of the sectors that were written since the last sync, and none of the
//! others.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::block::{HEAD, SECTOR, UNIT, fill};
use super::log::Log;
use super::medium::{LogFile, Medium};
use super::scan::scan;
use super::{Store, StoreError, Sync};

/// A disk that remembers what was synced and what was only written.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Clone, Default)]
struct State {
    log: Option<Content>,
    new: Option<Content>,
    /// Operations until the disk fails; none where it does not.
    left: Option<usize>,
}

#[derive(Clone, Default)]
struct Content {
    synced: Vec<u8>,
    /// Sectors that were written since, each whole.
    written: BTreeMap<u64, [u8; SECTOR as usize]>,
    length: u64,
}

impl Content {
    fn now(&self) -> Vec<u8> {
        self.cut(&mut |_| true)
    }

    /// The file if only some sectors made it. Its length is that of the last write, since zeros are synced before use.
    fn cut(&self, survives: &mut dyn FnMut(u64) -> bool) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        bytes.resize(self.length as usize, 0);
        for (sector, content) in self.written.iter().filter(|(sector, _)| survives(**sector)) {
            let at = (sector * SECTOR) as usize;
            let end = bytes.len().min(at + SECTOR as usize);
            bytes[at..end].copy_from_slice(&content[..end - at]);
        }
        bytes
    }
}

impl State {
    fn step(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

struct DiskFile {
    disk: Disk,
    is_new: bool,
    read: usize,
}

impl DiskFile {
    fn with<T>(&self, act: impl FnOnce(&mut Content) -> T) -> T {
        let mut state = self.disk.0.lock().unwrap();
        // Once it was put in place, the new file is the log.
        let content = if self.is_new && state.new.is_some() { &mut state.new } else { &mut state.log };
        act(content.as_mut().unwrap())
    }
}

impl Read for DiskFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.with(|content| content.now());
        let some = into.len().min(bytes.len() - self.read);
        into[..some].copy_from_slice(&bytes[self.read..self.read + some]);
        self.read += some;
        Ok(some)
    }
}

impl LogFile for DiskFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.with(|content| content.length))
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.0.lock().unwrap().step()?;
        self.with(|content| {
            let mut now = content.now();
            let end = at as usize + bytes.len();
            now.resize(now.len().max(end), 0);
            now[at as usize..end].copy_from_slice(bytes);
            content.length = now.len() as u64;
            for sector in at / SECTOR..=(end as u64 - 1) / SECTOR {
                let mut whole = [0; SECTOR as usize];
                let from = (sector * SECTOR) as usize;
                let to = now.len().min(from + SECTOR as usize);
                whole[..to - from].copy_from_slice(&now[from..to]);
                content.written.insert(sector, whole);
            }
        });
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.0.lock().unwrap().step()?;
        self.with(|content| {
            content.synced = content.now();
            content.written.clear();
        });
        Ok(())
    }
}

impl Medium for Disk {
    type File = DiskFile;

    fn open(&self) -> io::Result<Option<DiskFile>> {
        let there = self.0.lock().unwrap().log.is_some();
        Ok(there.then(|| DiskFile { disk: self.clone(), is_new: false, read: 0 }))
    }

    fn create(&self) -> io::Result<DiskFile> {
        let mut state = self.0.lock().unwrap();
        state.step()?;
        state.new = Some(Content::default());
        Ok(DiskFile { disk: self.clone(), is_new: true, read: 0 })
    }

    fn replace(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.step()?;
        state.log = state.new.take();
        Ok(())
    }

    fn discard(&self) {
        self.0.lock().unwrap().new = None;
    }

    fn path(&self) -> &Path {
        Path::new("objects.log")
    }
}

/// A disk with this as its log.
fn disk(bytes: Vec<u8>) -> Disk {
    let content = Content { length: bytes.len() as u64, synced: bytes, written: BTreeMap::new() };
    Disk(Arc::new(Mutex::new(State { log: Some(content), ..State::default() })))
}

fn read(disk: &Disk) -> Result<(Log<Disk>, Vec<Vec<u8>>), StoreError> {
    let mut log = Log::on(disk.clone(), Sync::Disk);
    let mut payloads = Vec::new();
    log.load(&mut |payload| {
        payloads.push(payload.to_vec());
        Ok(())
    })?;
    Ok((log, payloads))
}

/// Texts of many lengths, as payloads are, around the sizes of units and sectors.
fn payload(i: usize) -> Vec<u8> {
    let length = [1, 31, 32, 33, 449, 479, 480, 481, 1_000, 5_000][i % 10];
    format!("{i:08}").bytes().cycle().take(length).collect()
}

fn filled(count: usize) -> (Disk, Vec<Vec<u8>>) {
    let disk = Disk::default();
    let (mut log, _) = read(&disk).unwrap();
    let payloads: Vec<_> = (0..count).map(payload).collect();
    for payload in &payloads {
        log.append(payload).unwrap();
    }
    (disk, payloads)
}

fn bytes(disk: &Disk) -> Vec<u8> {
    disk.0.lock().unwrap().log.as_ref().unwrap().now()
}

/// A simple generator: tests must not depend on luck.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn what_was_appended_is_read_and_can_be_added_to() {
    let (disk, mut payloads) = filled(30);
    for i in 30..40 {
        let (mut log, read) = read(&disk).unwrap();
        assert_eq!(read, payloads);
        log.append(&payload(i)).unwrap();
        payloads.push(payload(i));
    }
    let (mut log, _) = read(&disk).unwrap();
    log.rewrite(&mut (0..3).map(payload)).unwrap();
    log.append(&payload(3)).unwrap();
    assert_eq!(read(&disk).unwrap().1, (0..4).map(payload).collect::<Vec<_>>());
}

#[test]
fn a_power_cut_leaves_what_was_synced_and_the_log_goes_on() {
    let mut random = Random(7);
    let mut torn = 0;
    for round in 0..600 {
        let count = round % 12;
        let (before, mut payloads) = filled(count);
        let (mut log, _) = read(&before).unwrap();
        // The disk fails at some operation of the next append: the block is written in part or whole, but not synced.
        before.0.lock().unwrap().left = Some(random.below(3));
        let next = payload(random.below(10));
        let acknowledged = log.append(&next).is_ok();
        let content = before.0.lock().unwrap().log.clone().unwrap();
        let chance = 1 + random.below(3);
        let after = disk(content.cut(&mut |_| random.below(chance + 1) == 0));
        let (mut log, read_back) = read(&after).unwrap_or_else(|error| panic!("round {round}: {error}"));
        let mut longer = payloads.clone();
        longer.push(next);
        assert!(read_back == longer || !acknowledged && read_back == payloads, "round {round}");
        torn += usize::from(read_back == payloads);
        payloads = read_back;
        log.append(b"after").unwrap();
        payloads.push(b"after".to_vec());
        assert_eq!(read(&after).unwrap().1, payloads, "round {round}");
    }
    assert!(torn > 100, "{torn}");
}

#[test]
fn a_power_cut_while_a_torn_end_is_wiped_is_no_worse() {
    let mut random = Random(3);
    for round in 0..300 {
        let (before, payloads) = filled(5);
        let (mut log, _) = read(&before).unwrap();
        before.0.lock().unwrap().left = Some(1);
        let _ = log.append(&payload(9));
        let content = before.0.lock().unwrap().log.clone().unwrap();
        let torn = disk(content.cut(&mut |sector| sector % 3 == round % 3));
        torn.0.lock().unwrap().left = Some(random.below(2));
        let _ = read(&torn);
        let content = torn.0.lock().unwrap().log.clone().unwrap();
        let again = disk(content.cut(&mut |_| random.below(2) == 0));
        let (_, read_back) = read(&again).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(read_back[..5], payloads, "round {round}");
        assert!(read_back.len() <= 6);
    }
}

#[test]
fn a_full_disk_while_the_log_is_rewritten_loses_nothing() {
    for left in 0..8 {
        let (disk, payloads) = filled(6);
        let (mut log, _) = read(&disk).unwrap();
        disk.0.lock().unwrap().left = Some(left);
        let rewritten = log.rewrite(&mut (20..23).map(payload)).is_ok();
        disk.0.lock().unwrap().left = None;
        let mut expected = if rewritten { (20..23).map(payload).collect() } else { payloads };
        if log.append(b"more").is_ok() {
            expected.push(b"more".to_vec());
        }
        drop(log);
        assert_eq!(read(&disk).unwrap().1, expected, "after {left} operations");
    }
}

#[test]
fn after_a_failure_nothing_is_stored_any_more() {
    let (disk, payloads) = filled(3);
    let (mut log, _) = read(&disk).unwrap();
    disk.0.lock().unwrap().left = Some(0);
    assert_eq!(log.append(b"lost").unwrap_err().kind(), io::ErrorKind::StorageFull);
    disk.0.lock().unwrap().left = None;
    assert!(log.append(b"later").is_err());
    assert!(log.rewrite(&mut std::iter::empty()).is_err());
    assert_eq!(read(&disk).unwrap().1, payloads);
}

/// What a start makes of these bytes.
fn judged(bytes: &[u8], payloads: &[Vec<u8>], what: &str) -> Option<usize> {
    let mut read = Vec::new();
    let scanned = scan(&mut &*bytes, bytes.len() as u64, &mut |payload| {
        read.push(payload.to_vec());
        Ok(())
    });
    match scanned {
        Ok(_) => {
            assert!(payloads.starts_with(&read), "{what}");
            Some(read.len())
        }
        Err(fault) => {
            let error = StoreError::of(Path::new("objects.log"), fault).to_string();
            assert!(error.contains("`objects.log`") && error.contains("hint:"), "{what}: {error}");
            None
        }
    }
}

#[test]
fn a_file_that_is_cut_or_changed_is_refused() {
    let (disk, payloads) = filled(12);
    let whole = bytes(&disk);
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let mut whole = whole[..used + 1_000].to_vec();
    for length in 0..whole.len() {
        let read = judged(&whole[..length], &payloads, &format!("cut to {length}"));
        assert_eq!(read, (length >= used + UNIT).then_some(payloads.len()), "cut to {length}");
    }
    for at in 0..whole.len() {
        for bit in [at % 8, 7 - at % 8] {
            whole[at] ^= 1 << bit;
            let read = judged(&whole, &payloads, &format!("bit {bit} of byte {at}"));
            assert!(read.is_none() || at >= used && read == Some(payloads.len()), "bit {bit} of byte {at}");
            whole[at] ^= 1 << bit;
        }
    }
    // A sector of zeros is damage where anything starts after it; else it is what a power cut leaves.
    let mut starts = vec![HEAD];
    for payload in &payloads {
        let length = payload.len() as u64;
        starts.push(starts.last().unwrap() + UNIT + (length + fill(length)) as usize);
    }
    for sector in 1..used.div_ceil(SECTOR as usize) {
        let (from, to) = (sector * SECTOR as usize, used.min((sector + 1) * SECTOR as usize));
        let mut changed = whole.clone();
        changed[from..to].fill(0);
        let read = judged(&changed, &payloads, &format!("sector {sector}"));
        let later = |read: usize| starts[read + 1..payloads.len()].iter().any(|start| *start >= to);
        assert!(read.is_none_or(|read| read < payloads.len() && !later(read)), "sector {sector}");
    }
}

#[test]
fn foreign_files_and_other_formats_are_named() {
    let (whole, _) = filled(1);
    let whole = bytes(&whole);
    let mut other = whole.clone();
    other[16] = 9;
    let cases: [(Vec<u8>, &str); 4] = [
        (b"SQLite format 3\0 and so on, long enough".to_vec(), "was not written by rolewright"),
        (Vec::new(), "was not written by rolewright"),
        (other, "has the format 9"),
        (whole[..300].to_vec(), "ends too early"),
    ];
    for (bytes, expected) in cases {
        let error = read(&disk(bytes)).err().unwrap().to_string();
        assert!(error.contains(expected) && error.contains("`objects.log`") && error.contains("hint:"), "{error}");
    }
}
