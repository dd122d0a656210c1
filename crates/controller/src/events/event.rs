//! A diagnostic as an event.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use rolewright_plan::{Diagnostic, Severity};
use sha2::{Digest, Sha256};

/// As many bytes as the server takes of a note.
const NOTE: usize = 1024;

/// As many bytes as the server takes of an instance.
const INSTANCE: usize = 128;

/// `returned` is how often it was over before. The first time counts for every process, so that none tells it anew.
pub(super) fn event(module: &str, diagnostic: &Diagnostic, uid: &str, instance: &str, returned: u32) -> Event {
    let Diagnostic { object, code, message } = diagnostic;
    // Events about what has no namespace live in this one.
    let namespace = if object.namespace.is_empty() { "default" } else { object.namespace.as_str() };
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let again = if returned > 0 { format!("-{returned}") } else { String::new() };
    let name = format!("rolewright-{}{again}", digest(&[uid, &object.to_string(), code.reason(), message]));
    let note = bounded(&format!("{message} ({code})"), NOTE);
    Event {
        metadata: ObjectMeta { name: Some(name), namespace: Some(namespace.to_owned()), ..ObjectMeta::default() },
        event_time: Some(MicroTime(Timestamp::now())),
        type_: Some(match code.severity() {
            Severity::Note => "Normal".to_owned(),
            Severity::Warning | Severity::Error => "Warning".to_owned(),
        }),
        reason: Some(code.reason().to_owned()),
        note: Some(note),
        action: Some("Reconcile".to_owned()),
        regarding: Some(ObjectReference {
            api_version: Some(object.kind.api_version(object.kind.best_version())),
            kind: Some(object.kind.kind.to_owned()),
            namespace: some(&object.namespace),
            name: some(&object.name),
            uid: some(uid),
            ..ObjectReference::default()
        }),
        reporting_controller: Some(format!("rolewright.io/{module}")),
        reporting_instance: Some(bounded(instance, INSTANCE)),
        ..Event::default()
    }
}

/// 128 bits over parts whose borders count. It must never change: it is how the next version knows what was told.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0xff]);
    }
    let first = hash.finalize().into_iter().take(16).fold(0, |number: u128, byte| number << 8 | u128::from(byte));
    format!("{first:032x}")
}

/// At most so many bytes, on one line.
fn bounded(text: &str, most: usize) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() > most {
        let mark = "...";
        let mut end = most.saturating_sub(mark.len());
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push_str(mark);
    }
    line
}

#[cfg(test)]
mod tests {
    use rolewright_plan::{Code, ObjectRef, rbac};

    use super::*;

    fn of(code: Code, object: ObjectRef, message: &str) -> Event {
        event("aggregation", &Diagnostic::new(code, object, message), "uid-1", "pod_1", 0)
    }

    fn view() -> ObjectRef {
        ObjectRef::cluster(&rbac::CLUSTER_ROLE, "system:view")
    }

    #[test]
    fn names_follow_from_what_is_told() {
        let name = |event: Event| event.metadata.name.unwrap();
        let told = name(of(Code::AggregationCycle, view(), "a selects b"));
        assert_eq!(told, "rolewright-82d1bbb0b45a06d4394d243593057609");
        assert_eq!(told, name(of(Code::AggregationCycle, view(), "a selects b")));
        assert_ne!(told, name(of(Code::AggregationCycle, view(), "a selects c")));
        assert_ne!(told, name(of(Code::AggregationDrift, view(), "a selects b")));
        let moved = Diagnostic::new(Code::AggregationCycle, view(), "a selects b");
        assert_ne!(told, name(event("aggregation", &moved, "uid-2", "pod_1", 0)), "another object of that name");
        assert_eq!(told, name(event("aggregation", &moved, "uid-1", "pod_2", 0)), "another process");
        assert_eq!(format!("{told}-2"), name(event("aggregation", &moved, "uid-1", "pod_1", 2)), "it came back twice");
    }

    #[test]
    fn events_are_beside_their_objects() {
        let event = of(Code::AggregationCycle, view(), "a selects b");
        assert_eq!(event.metadata.namespace.as_deref(), Some("default"));
        assert_eq!(event.note.as_deref(), Some("a selects b (RW0102)"));
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        assert_eq!(event.reason.as_deref(), Some("AggregationCycle"));
        let event = of(Code::Paused, ObjectRef::namespaced(&rbac::ROLE, "shop", "ci"), "one write waits");
        assert_eq!(event.metadata.namespace.as_deref(), Some("shop"));
        assert_eq!(event.type_.as_deref(), Some("Normal"));
        let regarding = event.regarding.unwrap();
        assert_eq!(regarding.api_version.as_deref(), Some("rbac.authorization.k8s.io/v1"));
        assert_eq!((regarding.namespace.as_deref(), regarding.name.as_deref()), (Some("shop"), Some("ci")));
    }

    #[test]
    fn notes_fit() {
        assert_eq!(bounded("a\nb\u{7}", NOTE), "a b ");
        assert_eq!(bounded(&"x".repeat(NOTE), NOTE), "x".repeat(NOTE));
        let long = bounded(&"é".repeat(NOTE), NOTE);
        assert!(long.len() <= NOTE && long.ends_with("é..."), "{}", long.len());
    }
}
