//! What is wrong with who a pod and its containers run as, and with what they may do.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, between, each_item, json, supported, supported_if, within};
use super::super::internal;
use super::super::read::{child, flag, list, text, texts};
use super::super::volumes::check_descending;
use super::systems::check_windows_options;
use crate::strategy::Object;

/// The number of a user or group.
const IDS: (i64, i64) = (0, i32::MAX as i64);

/// The context of a container; `host_users` where its users are those of the node.
pub(super) fn check_context(errors: &mut Errors, container: &Object, host_users: bool, at: Path<'_>) {
    within(container, "securityContext", at, |context, at| {
        between(errors, context, "runAsUser", at, IDS);
        between(errors, context, "runAsGroup", at, IDS);
        supported_if(errors, context, "procMount", at, &["Default", "Unmasked"]);
        if host_users && text(context, "procMount") == "Unmasked" {
            let why = "`hostUsers` must be false to use `Unmasked`";
            errors.push(FieldError::invalid(at.child("procMount"), json("\"Unmasked\""), why));
        }
        check_seccomp(errors, context, at);
        if context.get("allowPrivilegeEscalation") == Some(&Value::from(false)) {
            let path = ["spec", "containers", "securityContext"];
            let shown = || json(internal::shown("", "Pod", &path, container.get("securityContext")));
            let mut refuse = |why: &str| errors.push(FieldError::invalid(at, shown(), why));
            if flag(context, "privileged") {
                refuse("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
            }
            let added = child(context, "capabilities").into_iter().flat_map(|all| texts(all, "add"));
            for _ in added.filter(|name| *name == "CAP_SYS_ADMIN") {
                refuse("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
            }
        }
        check_windows_options(errors, context, at);
        check_app_armor(errors, context, at);
    });
}

fn check_seccomp(errors: &mut Errors, context: &Object, at: Path<'_>) {
    within(context, "seccompProfile", at, |profile, at| {
        let kind = text(profile, "type");
        if kind.is_empty() {
            errors.push(FieldError::required(at.child("type"), "type is required when seccompProfile is set"));
        } else {
            supported(errors, kind, at.child("type"), &["Localhost", "RuntimeDefault", "Unconfined"]);
        }
        let local = profile.get("localhostProfile").and_then(Value::as_str);
        let local_at = at.child("localhostProfile");
        match (kind, local) {
            ("Localhost", None) => {
                errors.push(FieldError::required(local_at, "must be set when seccomp type is Localhost"));
            }
            ("Localhost", Some(path)) => check_descending(errors, path, local_at),
            (_, Some(_)) => {
                let path = ["spec", "securityContext", "seccompProfile"];
                let shown = json(internal::shown("", "Pod", &path, context.get("seccompProfile")));
                errors.push(FieldError::invalid(local_at, shown, "can only be set when seccomp type is Localhost"));
            }
            (_, None) => {}
        }
    });
}

fn check_app_armor(errors: &mut Errors, context: &Object, at: Path<'_>) {
    const LOCAL: &str = "must be set when AppArmor type is Localhost";
    const LONGEST: usize = 4095;
    within(context, "appArmorProfile", at, |profile, at| {
        let local = profile.get("localhostProfile").and_then(Value::as_str);
        let local_at = at.child("localhostProfile");
        match (text(profile, "type"), local) {
            ("Localhost", None) => errors.push(FieldError::required(local_at, LOCAL)),
            ("Localhost", Some(path)) => {
                if path.trim() != path {
                    errors.push(FieldError::invalid(local_at, path, "must not be padded with whitespace"));
                } else if path.is_empty() {
                    errors.push(FieldError::required(local_at, LOCAL));
                }
                if path.len() > LONGEST {
                    errors.push(FieldError::too_long(local_at, LONGEST));
                }
            }
            ("RuntimeDefault" | "Unconfined", Some(path)) => {
                errors.push(FieldError::invalid(local_at, path, "can only be set when AppArmor type is Localhost"));
            }
            ("RuntimeDefault" | "Unconfined", None) => {}
            ("", _) => {
                errors.push(FieldError::required(at.child("type"), "type is required when appArmorProfile is set"));
            }
            (kind, _) => supported(errors, kind, at.child("type"), &["Localhost", "RuntimeDefault", "Unconfined"]),
        }
    });
}

/// The context of the pod itself; some of it lies in the spec.
pub(super) fn check_pod_context(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let empty = Object::new();
    let context = child(spec, "securityContext").unwrap_or(&empty);
    let at = at.child("securityContext");
    for key in ["fsGroup", "runAsUser", "runAsGroup"] {
        between(errors, context, key, at, IDS);
    }
    let groups = at.child("supplementalGroups");
    for (i, group) in list(context, "supplementalGroups").iter().enumerate() {
        if let Some(id) = group.as_i64().filter(|id| !(IDS.0..=IDS.1).contains(id)) {
            errors.push(FieldError::invalid(groups.index(i), json(id), "must be between 0 and 2147483647, inclusive"));
        }
    }
    if flag(spec, "shareProcessNamespace") && flag(spec, "hostPID") {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid(at.child("shareProcessNamespace"), json(true), why));
    }
    check_sysctls(errors, context, spec, at);
    supported_if(errors, context, "fsGroupChangePolicy", at, &["Always", "OnRootMismatch"]);
    check_seccomp(errors, context, at);
    check_windows_options(errors, context, at);
    check_app_armor(errors, context, at);
    supported_if(errors, context, "supplementalGroupsPolicy", at, &["Merge", "Strict"]);
    supported_if(errors, context, "seLinuxChangePolicy", at, &["Recursive"]);
}

fn check_sysctls(errors: &mut Errors, context: &Object, spec: &Object, at: Path<'_>) {
    const FORM: &str = "must have at most 253 characters and match regex \
        ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let is_segment = |segment: &str| {
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let inner = |c: char| edge(c) || matches!(c, '-' | '_');
        segment.starts_with(edge) && segment.ends_with(edge) && segment.chars().all(inner)
    };
    let mut seen = BTreeSet::new();
    each_item(context, "sysctls", at, |sysctl, at| {
        let name = text(sysctl, "name");
        let at = at.child("name");
        if name.is_empty() {
            errors.push(FieldError::required(at, ""));
        } else if name.len() > 253 || !name.split(['.', '/']).all(is_segment) {
            errors.push(FieldError::invalid(at, name, FORM));
        } else if seen.contains(name) {
            errors.push(FieldError::duplicate(at, name));
        }
        let name_dotted = name.replace('/', ".");
        let of_ipc = ["kernel.shm", "kernel.msg", "fs.mqueue."].iter().any(|start| name_dotted.starts_with(start))
            || name_dotted == "kernel.sem";
        if flag(spec, "hostNetwork") && name_dotted.starts_with("net.") {
            errors.push(FieldError::invalid(at, name, "may not be specified when 'hostNetwork' is true"));
        } else if flag(spec, "hostIPC") && of_ipc {
            errors.push(FieldError::invalid(at, name, "may not be specified when 'hostIPC' is true"));
        }
        seen.insert(name);
    });
}

/// A pod with users of its own shares little else with its node.
pub(super) fn check_host_users(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    const WHY: &str = "when `hostUsers` is false";
    if spec.get("hostUsers") != Some(&Value::from(false)) {
        return;
    }
    for (key, reported) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if flag(spec, key) {
            errors.push(FieldError::forbidden(at.child(reported), WHY));
        }
    }
    super::each_container(spec, at, |container, at| {
        if !list(container, "volumeDevices").is_empty() {
            errors.push(FieldError::forbidden(at.child("volumeDevices"), WHY));
        }
    });
}
