//! Kubernetes writes an empty list as `null` as readily as `[]`, and reads `null` for any field as its absence; so do we.

use serde::{Deserialize, Deserializer};

pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
