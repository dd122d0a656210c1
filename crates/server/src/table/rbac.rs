//! Bindings. Roles have no printer of their own.

use serde_json::Value;

use super::row;
use super::shown::Shown;

pub(super) fn binding(shown: Shown<'_>) -> Vec<Value> {
    let role = shown.get("roleRef");
    let role = format!("{}/{}", role.get("kind").text(), role.get("name").text());
    let of_kind =
        |kind: &'static str| shown.get("subjects").items().filter(move |subject| subject.get("kind").text() == kind);
    let names =
        |kind: &'static str| of_kind(kind).map(|subject| subject.get("name").text()).collect::<Vec<_>>().join(", ");
    let accounts = of_kind("ServiceAccount")
        .map(|account| format!("{}/{}", account.get("namespace").text(), account.get("name").text()));
    row![shown.name(), role, shown.age(), names("User"), names("Group"), accounts.collect::<Vec<_>>().join(", ")]
}
