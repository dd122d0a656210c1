//! What came of a write.

use std::fmt;
use std::time::Duration;

use crate::object::ObjectRef;
use crate::snapshot::Event;

/// What the server stored, or why it did not.
pub type Outcome = Result<Event, Failure>;

/// A write that was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// To which object.
    pub object: ObjectRef,
    /// What to do about it.
    pub category: Category,
    /// The server's words.
    pub message: String,
    /// How long the server wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why a write was not done, by what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The object is not what it was when the plan was made: look again.
    Conflict,
    /// Something that it stands on is not there: wait until it is.
    Missing,
    /// We may not: somebody must give us the right.
    Forbidden,
    /// It is not acceptable: somebody must change the wish.
    Invalid,
    /// The server is busy or away: try again.
    Unavailable,
}

impl Category {
    /// Whether a user should know: these do not pass by themselves.
    pub(super) fn is_trouble(self) -> bool {
        matches!(self, Self::Missing | Self::Forbidden | Self::Invalid)
    }

    /// How long to wait after so many failures in a row: doubled each time, up to a limit.
    pub(super) fn delay(self, failures: u32) -> Duration {
        let (first, most) = match self {
            Self::Conflict => (Duration::from_millis(5), Duration::from_secs(5)),
            Self::Unavailable => (Duration::from_millis(100), Duration::from_secs(30)),
            Self::Missing => (Duration::from_secs(1), Duration::from_mins(1)),
            Self::Forbidden | Self::Invalid => (Duration::from_secs(5), Duration::from_mins(5)),
        };
        first.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX)).min(most)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "conflict",
            Self::Missing => "missing",
            Self::Forbidden => "forbidden",
            Self::Invalid => "invalid",
            Self::Unavailable => "unavailable",
        })
    }
}
