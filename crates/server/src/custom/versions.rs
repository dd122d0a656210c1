//! The versions of a custom kind, for managers that named their fields in another one.

use super::Version;
use crate::managed::{self, Converted, Kind, Unconverted};
use crate::strategy::Object;

/// The versions of a custom kind, as a writer of one of them sees them.
#[derive(Clone, Copy)]
pub(crate) struct Versions<'a> {
    /// The version that the client used.
    pub(crate) used: &'a Version,
    /// The subresource that it writes to, or nothing.
    pub(crate) subresource: &'a str,
}

impl std::fmt::Debug for Versions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Versions").field("used", &self.used.name()).finish_non_exhaustive()
    }
}

impl managed::Versions for Versions<'_> {
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted> {
        let find = |name: &str| {
            let (schema, status) = self.used.described(name)?;
            let reset_fields = match (self.subresource, status) {
                ("status", true) => super::STATUS.reset_fields,
                // Only what clients of a version may not write there is nobody's.
                ("", true) if name == self.used.name() => super::BUT_STATUS.reset_fields,
                _ => &[],
            };
            Some(managed::Version { kind: Kind::Custom(schema), reset_fields })
        };
        managed::unchanged(object, from, to, find)
    }
}
