//! What is particular to the system that a pod runs on.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, forbid, formed, json, required, supported, within};
use super::super::read::{absent, child, flag, list, text};
use super::each_container;
use crate::strategy::Object;

pub(super) fn check_windows_options(errors: &mut Errors, context: &Object, at: Path<'_>) {
    within(context, "windowsOptions", at, |options, at| {
        formed(errors, options, "gmsaCredentialSpecName", at, names::dns_subdomain);
        let mut refuse =
            |key: &str, value: &str, why: &str| errors.push(FieldError::invalid(at.child(key), value, why));
        match options.get("gmsaCredentialSpec").and_then(Value::as_str) {
            Some("") => refuse("gmsaCredentialSpec", "", "gmsaCredentialSpec cannot be an empty string"),
            Some(text) if text.len() > 64 * 1024 => {
                refuse("gmsaCredentialSpec", text, "gmsaCredentialSpec size must be under 64 KiB");
            }
            _ => {}
        }
        if let Some(name) = options.get("runAsUserName").and_then(Value::as_str) {
            for why in windows_user_faults(name) {
                refuse("runAsUserName", name, why);
            }
        }
    });
}

fn windows_user_faults(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string"];
    }
    if name.contains(|c: char| c.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters"];
    }
    let mut faults = Vec::new();
    let (domain, user) = match name.split_once('\\') {
        Some((_, user)) if user.contains('\\') => return vec!["runAsUserName cannot contain more than one backslash"],
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    if domain.is_some_and(|domain| domain.len() >= 256) {
        faults.push("runAsUserName's Domain length must be under 256 characters");
    }
    let is_domain = |domain: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let netbios = !domain.is_empty()
            && domain.len() <= 15
            && !domain.contains(['\\', '/', ':', '*', '?', '<', '>', '|', '.']);
        netbios || (domain.bytes().all(inner) && names::dns_subdomain(&domain.to_lowercase()).is_empty())
    };
    if domain.is_some_and(|domain| !is_domain(domain)) {
        faults.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        faults.push("runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        faults.push("runAsUserName's User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|byte| matches!(byte, b'.' | b' ')) {
        faults.push("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        faults.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    faults
}

/// Containers that are processes of a Windows node: all of them or none.
pub(super) fn check_host_process(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let of = |object: &Object| {
        let options = child(object, "securityContext").and_then(|context| child(context, "windowsOptions"))?;
        options.get("hostProcess").and_then(Value::as_bool)
    };
    let of_pod = of(spec);
    let (mut count, mut processes) = (0, 0);
    each_container(spec, at, |container, at| {
        count += 1;
        let own = of(container);
        if let (Some(pod), Some(own)) = (of_pod, own)
            && pod != own
        {
            let context = at.child("securityContext");
            let options = context.child("windowsOptions");
            let why = format!("pod hostProcess value must be identical if both are specified, was {pod}");
            errors.push(FieldError::invalid(options.child("hostProcess"), json(own), why));
        }
        processes += i32::from(own.or(of_pod).unwrap_or_default());
    });
    if processes > 0 && processes != count {
        let why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.push(FieldError::invalid(at, "", why));
    }
    if processes > 0 && !flag(spec, "hostNetwork") {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid(at.child("hostNetwork"), json(false), why));
    }
}

/// What a system does not have.
pub(super) fn check_system(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let Some(system) = child(spec, "os") else { return };
    let context = child(spec, "securityContext");
    let context_at = at.child("securityContext");
    match text(system, "name") {
        "" => required(errors, system, "name", at.child("os")),
        "linux" => {
            const WHY: &str = "windows options cannot be set for a linux pod";
            if let Some(context) = context {
                forbid(errors, context, "windowsOptions", context_at, WHY);
            }
            each_container(spec, at, |container, at| {
                within(container, "securityContext", at, |context, at| {
                    forbid(errors, context, "windowsOptions", at, WHY);
                });
            });
        }
        "windows" => {
            const WHY: &str = "cannot be set for a windows pod";
            let empty = Object::new();
            let context = context.unwrap_or(&empty);
            let mut refuse = |given: bool, at: Path<'_>| {
                if given {
                    errors.push(FieldError::forbidden(at, WHY));
                }
            };
            let has = |key| !absent(context, key);
            refuse(has("appArmorProfile"), context_at.child("appArmorProfile"));
            refuse(has("seLinuxOptions"), context_at.child("seLinuxOptions"));
            refuse(!absent(spec, "hostUsers"), at.child("hostUsers"));
            refuse(flag(spec, "hostPID"), at.child("hostPID"));
            refuse(flag(spec, "hostIPC"), at.child("hostIPC"));
            for key in ["seccompProfile", "fsGroup", "fsGroupChangePolicy"] {
                refuse(has(key), context_at.child(key));
            }
            refuse(!list(context, "sysctls").is_empty(), context_at.child("sysctls"));
            refuse(!absent(spec, "shareProcessNamespace"), at.child("shareProcessNamespace"));
            let others =
                ["runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"];
            for key in others {
                refuse(has(key), context_at.child(key));
            }
            each_container(spec, at, |container, at| {
                within(container, "securityContext", at, |context, at| {
                    let keys = [
                        "appArmorProfile",
                        "seLinuxOptions",
                        "seccompProfile",
                        "capabilities",
                        "readOnlyRootFilesystem",
                        "privileged",
                        "allowPrivilegeEscalation",
                        "procMount",
                        "runAsUser",
                        "runAsGroup",
                    ];
                    for key in keys {
                        forbid(errors, context, key, at, WHY);
                    }
                });
            });
        }
        name => supported(errors, name, at.child("os"), &["linux", "windows"]),
    }
}
