//! Kubernetes writes an empty list as `null` as readily as `[]`; both read as empty here.

use serde::{Deserialize, Deserializer};

pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
