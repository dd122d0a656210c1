//! What is wrong with who a pod and its containers run as, and with what they may do.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, between, each_item, forbid, formed, json, required, supported, supported_if, within,
};
use super::super::internal;
use super::super::read::{absent, child, flag, list, text, texts};
use super::super::volumes::check_descending;
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

fn check_windows_options(errors: &mut Errors, context: &Object, at: Path<'_>) {
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
            windows_user_faults(name).into_iter().for_each(|why| refuse("runAsUserName", name, why));
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

/// Containers that are processes of a Windows node: all of them or none.
pub(super) fn check_host_process(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let of = |object: &Object| {
        let options = child(object, "securityContext").and_then(|context| child(context, "windowsOptions"))?;
        options.get("hostProcess").and_then(Value::as_bool)
    };
    let of_pod = of(spec);
    let (mut count, mut processes) = (0, 0);
    super::each_container(spec, at, |container, at| {
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
            super::each_container(spec, at, |container, at| {
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
            super::each_container(spec, at, |container, at| {
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
