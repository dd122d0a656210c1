//! Events that we may not create. They are a courtesy, so that is said once and nothing waits for it.

use kube::core::Status;

/// What the server says of a namespace that goes: that is no lack of rights.
const TERMINATING: &str = "NamespaceTerminating";

/// Whether we may tell events.
#[derive(Debug)]
pub(super) struct Refusal {
    rights: String,
    is_said: bool,
}

impl Default for Refusal {
    fn default() -> Self {
        Self::new("rolewright manifests rbac")
    }
}

impl Refusal {
    /// With the command that prints the rights that we need.
    pub(super) fn new(rights: &str) -> Self {
        Self { rights: rights.to_owned(), is_said: false }
    }

    /// What to do about an event that was refused, the first time that a right is missing.
    pub(super) fn begin(&mut self, status: &Status) -> Option<String> {
        let causes = status.details.iter().flat_map(|details| &details.causes);
        let terminating = causes.into_iter().any(|cause| cause.reason == TERMINATING);
        if !status.is_forbidden() || terminating || self.is_said {
            return None;
        }
        self.is_said = true;
        Some(format!("`{} | kubectl apply -f -` gives the manager's service account the right", self.rights))
    }

    /// An event was taken: if another one is refused later, that is new.
    pub(super) fn end(&mut self) {
        self.is_said = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(code: u16, reason: &str, cause: &str) -> Status {
        let details = json!({"causes": [{"reason": cause}]});
        serde_json::from_value(json!({"status": "Failure", "message": "no", "reason": reason, "code": code,
            "details": details}))
        .unwrap()
    }

    #[test]
    fn a_missing_right_is_said_once_until_it_is_there_again() {
        let forbidden = status(403, "Forbidden", "");
        let mut refusal = Refusal::new("print rights");
        for other in [status(422, "Invalid", ""), status(403, "Forbidden", TERMINATING)] {
            assert_eq!(refusal.begin(&other), None, "{other:?}");
        }
        assert!(refusal.begin(&forbidden).is_some_and(|hint| hint.starts_with("`print rights | kubectl apply -f -`")));
        assert_eq!(refusal.begin(&forbidden), None);
        refusal.end();
        assert!(refusal.begin(&forbidden).is_some());
    }
}
