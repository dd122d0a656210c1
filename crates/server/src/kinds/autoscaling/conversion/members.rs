//! JSON as Go writes it, member by member.

use rolewright_core::quote::JsonText;

/// The members of a JSON object in Go's order.
#[derive(Default)]
pub(super) struct Members(Vec<String>);

impl Members {
    pub(super) fn raw(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.push(format!("{}:{value}", JsonText(name)));
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.raw(name, JsonText(value));
    }

    pub(super) fn maybe(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.raw(name, value);
        }
    }

    pub(super) fn finish(self) -> String {
        format!("{{{}}}", self.0.join(","))
    }
}
