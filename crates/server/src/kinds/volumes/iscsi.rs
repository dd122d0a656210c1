//! Volumes by iSCSI.

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, between, required, within};
use super::super::read::{absent, flag, text};
use crate::strategy::Object;

pub(super) fn check_iscsi(errors: &mut Errors, source: &Object, persistent: bool, at: Path<'_>) {
    const FORMAT: &str = "must be valid format";
    const STARTING: &str = "must be valid format starting with iqn, eui, or naa";
    required(errors, source, "targetPortal", at);
    required(errors, source, "iqn", at);
    let check = |errors: &mut Errors, text: &str, starting: &str, at: Path<'_>| {
        if !["iqn", "eui", "naa"].iter().any(|start| text.starts_with(start)) {
            errors.push(FieldError::invalid(at, text, starting));
        } else if !is_iscsi_name(text) {
            errors.push(FieldError::invalid(at, text, FORMAT));
        }
    };
    let name = text(source, "iqn");
    if !name.is_empty() {
        check(errors, name, if persistent { FORMAT } else { STARTING }, at.child("iqn"));
    }
    between(errors, source, "lun", at, (0, 255));
    let authenticates = flag(source, "chapAuthDiscovery") || flag(source, "chapAuthSession");
    if authenticates && absent(source, "secretRef") {
        errors.push(FieldError::required(at.child("secretRef"), ""));
    }
    if persistent {
        within(source, "secretRef", at, |secret, at| required(errors, secret, "name", at));
    }
    if let Some(initiator) = source.get("initiatorName").and_then(Value::as_str) {
        let starting = if persistent { FORMAT } else { STARTING };
        check(errors, initiator, starting, at.child("initiatorname"));
    }
}

fn is_iscsi_name(name: &str) -> bool {
    let alphanumeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if let Some(rest) = name.strip_prefix("iqn") {
        let is_date = |date: &str| {
            let shape = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
            date.bytes().map(shape).eq(*b".0000-00.")
        };
        return rest.split_at_checked(9).is_some_and(|(date, rest)| {
            is_date(date)
                && rest.split_once(':').is_some_and(|(domain, rest)| {
                    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
                    let bad = |c: char| ",;*&$|".contains(c) || matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ');
                    !domain.is_empty() && domain.bytes().all(inner) && !rest.is_empty() && !rest.contains(bad)
                })
        });
    }
    let length = if name.starts_with("eui") { 16 } else { 32 };
    name.char_indices().nth(4).is_some_and(|(at, _)| {
        let rest = name.get(at..).unwrap_or_default();
        rest.len() == length && alphanumeric(rest)
    })
}
