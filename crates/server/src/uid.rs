//! Random UUIDs, as Kubernetes gives them to objects, tokens and requests.

use std::cell::RefCell;

use ring::rand::{SecureRandom, SystemRandom};

const SIZE: usize = 16;
/// One call to the operating system serves this many.
const BATCH: usize = 256;

struct Pool {
    bytes: [u8; SIZE * BATCH],
    used: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; SIZE * BATCH], used: SIZE * BATCH }) };
}

/// A fresh UUID of version 4 in its usual form, such as `0b6c4f0e-2f4c-4d0c-9c57-7ab0fd2d1c11`.
///
/// # Panics
/// When the operating system has no random bytes to give; no server should run then.
pub fn uuid_v4() -> String {
    let mut random = POOL.with_borrow_mut(Pool::next);
    random[6] = (random[6] & 0x0f) | 0x40;
    random[8] = (random[8] & 0x3f) | 0x80;
    written(&random)
}

impl Pool {
    fn next(&mut self) -> [u8; SIZE] {
        if self.used >= self.bytes.len() {
            fill(&mut self.bytes);
            self.used = 0;
        }
        let mut out = [0; SIZE];
        let next = self.bytes.iter_mut().skip(self.used);
        for (out, byte) in out.iter_mut().zip(next) {
            // WHY: a UUID that was handed out must not be found again in memory; credential ids are made here.
            *out = std::mem::take(byte);
        }
        self.used += SIZE;
        out
    }
}

/// A random number below `limit`, evenly enough for names and delays.
pub(crate) fn random_below(limit: u32) -> u32 {
    let random = POOL.with_borrow_mut(Pool::next);
    let number =
        u64::from_le_bytes([random[0], random[1], random[2], random[3], random[4], random[5], random[6], random[7]]);
    u32::try_from(number % u64::from(limit.max(1))).unwrap_or_default()
}

/// Random bytes from the operating system.
pub(crate) fn fill(bytes: &mut [u8]) {
    SystemRandom::new().fill(bytes).expect("the operating system gives random bytes");
}

fn written(bytes: &[u8; SIZE]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 0x0f] {
            text.extend(DIGITS.get(usize::from(nibble)).copied().map(char::from));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn uuids_have_the_form_of_version_4_and_never_repeat() {
        let all: HashSet<String> = (0..5 * BATCH).map(|_| uuid_v4()).collect();
        assert_eq!(all.len(), 5 * BATCH);
        for uuid in &all {
            let groups: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-')), "{uuid}");
            assert_eq!(&uuid[14..15], "4", "{uuid}");
            assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"), "{uuid}");
        }
    }

    #[test]
    fn bytes_are_written_in_order() {
        let bytes = std::array::from_fn(|at| u8::try_from(at * 17).unwrap());
        assert_eq!(written(&bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
