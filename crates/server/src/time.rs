//! Times as Kubernetes writes them.

use jiff::Timestamp;

/// Now.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// `2026-11-16T01:02:03Z`
pub(crate) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
