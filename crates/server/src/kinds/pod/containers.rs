//! What is wrong with the containers of a pod.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, config_key, each, json, name, not_found, not_negative, one_of, port, port_name, port_number, required,
    supported,
};
use super::super::quantity::Quantity;
use super::super::read::{absent, child, integer, items, list, text};
use super::volume::Volumes;
use crate::strategy::Object;

const ONE_HANDLER: &str = "may not specify more than 1 handler type";
const SIDECARS_ONLY: &str = "may not be set for init containers without restartPolicy=Always";
const ENV_NAME: &str =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";

pub(super) fn check_containers(errors: &mut Errors, spec: &Object, volumes: &Volumes<'_>, at: Path<'_>) {
    if list(spec, "containers").is_empty() {
        errors.push(FieldError::required(at, ""));
        return;
    }
    let mut seen = BTreeSet::new();
    for (i, container) in items(spec, "containers").enumerate() {
        let at = at.index(i);
        check_common(errors, container, volumes, at);
        if !seen.insert(text(container, "name")) {
            errors.push(FieldError::duplicate(at.child("name"), text(container, "name")));
        }
        check_running(errors, container, at);
        check_restart(errors, container, at);
    }
    check_host_ports(errors, items(spec, "containers"), at);
}

pub(super) fn check_init_containers(errors: &mut Errors, spec: &Object, volumes: &Volumes<'_>, at: Path<'_>) {
    let mut seen: BTreeSet<&str> = items(spec, "containers").map(|container| text(container, "name")).collect();
    for (i, container) in items(spec, "initContainers").enumerate() {
        let list = at;
        let at = at.index(i);
        check_common(errors, container, volumes, at);
        check_restart(errors, container, at);
        let name = text(container, "name");
        if seen.contains(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        } else if !name.is_empty() {
            seen.insert(name);
        }
        check_host_ports(errors, std::iter::once(container), list);
        if text(container, "restartPolicy") == "Always" {
            check_running(errors, container, at);
            continue;
        }
        for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if !absent(container, key) {
                errors.push(FieldError::forbidden(at.child(key), SIDECARS_ONLY));
            }
        }
    }
}

fn check_common(errors: &mut Errors, container: &Object, volumes: &Volumes<'_>, at: Path<'_>) {
    required(errors, container, "name", at);
    name(errors, container, "name", at, names::dns_label);
    required(errors, container, "image", at);
    let policies = ["File", "FallbackToLogsOnError"];
    one_of(errors, container, "terminationMessagePolicy", at, &policies);
    check_ports(errors, container, at.child("ports"));
    check_env(errors, container, at);
    check_mounts(errors, container, volumes, at.child("volumeMounts"));
    one_of(errors, container, "imagePullPolicy", at, &["Always", "IfNotPresent", "Never"]);
    if let Some(resources) = child(container, "resources") {
        check_resources(errors, resources, at.child("resources"));
    }
    if let Some(context) = child(container, "securityContext") {
        for key in ["runAsUser", "runAsGroup"] {
            check_id(errors, context, key, at.child("securityContext"));
        }
    }
}

/// The number of a user or group.
pub(super) fn check_id(errors: &mut Errors, context: &Object, key: &str, at: Path<'_>) {
    if let Some(id) = integer(context, key).filter(|id| !(0..=i64::from(i32::MAX)).contains(id)) {
        errors.push(FieldError::invalid(at.child(key), json(id), "must be between 0 and 2147483647, inclusive"));
    }
}

fn check_ports(errors: &mut Errors, container: &Object, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    for (i, port) in items(container, "ports").enumerate() {
        let at = at.index(i);
        let name = text(port, "name");
        if !name.is_empty() {
            let faults = port_name(name);
            if faults.is_empty() && !seen.insert(name) {
                errors.push(FieldError::duplicate(at.child("name"), name));
            }
            each(errors, at.child("name"), name, faults);
        }
        match integer(port, "containerPort").unwrap_or_default() {
            0 => errors.push(FieldError::required(at.child("containerPort"), "")),
            number => port_number(errors, number, at.child("containerPort")),
        }
        if let Some(number) = integer(port, "hostPort").filter(|number| *number != 0) {
            port_number(errors, number, at.child("hostPort"));
        }
        one_of(errors, port, "protocol", at, &["SCTP", "TCP", "UDP"]);
    }
}

fn check_host_ports<'a>(errors: &mut Errors, containers: impl Iterator<Item = &'a Object>, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    for (i, container) in containers.enumerate() {
        for (j, port) in items(container, "ports").enumerate() {
            let Some(number) = integer(port, "hostPort").filter(|number| *number != 0) else { continue };
            let taken = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if seen.contains(&taken) {
                let container = at.index(i);
                let ports = container.child("ports");
                let port = ports.index(j);
                errors.push(FieldError::duplicate(port.child("hostPort"), taken.as_str()));
            }
            seen.insert(taken);
        }
    }
}

fn env_name(name: &str) -> Vec<String> {
    let good = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
    if good { Vec::new() } else { vec![ENV_NAME.to_owned()] }
}

fn check_env(errors: &mut Errors, container: &Object, at: Path<'_>) {
    for (i, variable) in items(container, "env").enumerate() {
        let env = at.child("env");
        let at = env.index(i);
        required(errors, variable, "name", at);
        name(errors, variable, "name", at, env_name);
        if let Some(source) = child(variable, "valueFrom") {
            check_value_from(errors, source, !text(variable, "value").is_empty(), at.child("valueFrom"));
        }
    }
    let from = at.child("envFrom");
    for (i, source) in items(container, "envFrom").enumerate() {
        let at = from.index(i);
        name(errors, source, "prefix", at, env_name);
        let given = ["configMapRef", "secretRef"].into_iter().filter_map(|key| Some((key, child(source, key)?)));
        let mut count = 0;
        for (key, reference) in given {
            count += 1;
            let at = at.child(key);
            required(errors, reference, "name", at);
            name(errors, reference, "name", at, |name| {
                names::dns_subdomain(&name.strip_suffix('-').map_or(name.to_owned(), |cut| format!("{cut}a")))
            });
        }
        match count {
            0 => errors.push(FieldError::invalid(from, "", "must specify one of: `configMapRef` or `secretRef`")),
            1 => {}
            _ => errors.push(FieldError::invalid(from, "", "may not have more than one field specified at a time")),
        }
    }
}

fn check_value_from(errors: &mut Errors, source: &Object, has_value: bool, at: Path<'_>) {
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let count = sources.iter().filter(|key| child(source, key).is_some()).count();
    if let Some(reference) = child(source, "fieldRef") {
        check_field_ref(errors, reference, at.child("fieldRef"));
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        let Some(reference) = child(source, key) else { continue };
        let at = at.child(key);
        let name = text(reference, "name");
        each(errors, at.child("name"), name, names::dns_subdomain(name));
        required(errors, reference, "key", at);
        super::super::check::name(errors, reference, "key", at, config_key);
    }
    let why = match count {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if has_value => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(at, "", why));
}

fn check_field_ref(errors: &mut Errors, reference: &Object, at: Path<'_>) {
    const PATHS: [&str; 9] = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let path = text(reference, "fieldPath");
    if path.is_empty() {
        errors.push(FieldError::required(at.child("fieldPath"), ""));
    } else if text(reference, "apiVersion") == "v1" && !path.contains('[') && !PATHS.contains(&path) {
        // Labels and annotations as a whole are known, though not for the environment.
        if matches!(path, "metadata.labels" | "metadata.annotations") {
            errors.push(FieldError::not_supported(at.child("fieldPath"), path, &PATHS));
        } else if !matches!(path, "spec.host" | "spec.restartPolicy" | "spec.schedulerName") {
            let why = format!("error converting fieldPath: field label not supported: {path}");
            errors.push(FieldError::invalid(at.child("fieldPath"), path, why));
        }
    }
}

fn check_mounts(errors: &mut Errors, container: &Object, volumes: &Volumes<'_>, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    for (i, mount) in items(container, "volumeMounts").enumerate() {
        let list = at;
        let at = at.index(i);
        required(errors, mount, "name", at);
        if !volumes.has(text(mount, "name")) {
            errors.push(not_found(at.child("name"), text(mount, "name")));
        }
        required(errors, mount, "mountPath", at);
        let path = text(mount, "mountPath");
        if !seen.insert(path) {
            errors.push(FieldError::invalid(at.child("mountPath"), path, "must be unique"));
        }
        let sub = text(mount, "subPath");
        check_descending(errors, sub, list.child("subPath"));
    }
}

/// A path that stays where it is relative to.
fn check_descending(errors: &mut Errors, path: &str, at: Path<'_>) {
    if path.starts_with('/') {
        errors.push(FieldError::invalid(at, path, "must be a relative path"));
    }
    check_backsteps(errors, path, at);
}

pub(super) fn check_backsteps(errors: &mut Errors, path: &str, at: Path<'_>) {
    if path.split('/').any(|step| step == "..") {
        errors.push(FieldError::invalid(at, path, "must not contain '..'"));
    }
}

fn check_resources(errors: &mut Errors, resources: &Object, at: Path<'_>) {
    let amounts = |key: &str| {
        let read = |(name, value): (&String, &Value)| Some((name.clone(), Quantity::parse(value.as_str()?)?));
        child(resources, key).into_iter().flatten().filter_map(read).collect::<Vec<_>>()
    };
    let (limits, requests) = (amounts("limits"), amounts("requests"));
    for (key, amounts) in [("limits", &limits), ("requests", &requests)] {
        for (name, amount) in amounts {
            let group = at.child(key);
            check_amount(errors, name, *amount, group.key(name));
            let limit = limits.iter().find(|(known, _)| known == name).filter(|_| key == "requests");
            let Some((_, limit)) = limit else { continue };
            let native = !name.contains('/') && !name.starts_with("hugepages-");
            let why = match (amount.compare(*limit).is_gt(), amount.compare(*limit).is_eq()) {
                (_, false) if !native => format!("must be equal to {name} limit of {limit}"),
                (true, _) => format!("must be less than or equal to {name} limit of {limit}"),
                _ => continue,
            };
            errors.push(FieldError::invalid(at.child("requests"), amount.to_string().as_str(), why));
        }
    }
}

fn check_amount(errors: &mut Errors, name: &str, amount: Quantity, at: Path<'_>) {
    let faults = names::label_key(name);
    if faults.is_empty() && !name.contains('/') {
        let standard = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        let known = standard
            || matches!(
                name,
                "pods" | "services" | "replicationcontrollers" | "resourcequotas" | "secrets" | "configmaps"
            )
            || matches!(name, "persistentvolumeclaims" | "storage" | "services.nodeports" | "services.loadbalancers")
            || name.starts_with("requests.")
            || name.starts_with("limits.");
        if !known {
            let why = "must be a standard resource type or fully qualified";
            errors.push(FieldError::invalid(at, BadValue::typed_text(name), why));
        }
        if !standard {
            let why = "must be a standard resource for containers";
            errors.push(FieldError::invalid(at, BadValue::typed_text(name), why));
        }
    }
    for fault in faults {
        errors.push(FieldError::invalid(at, BadValue::typed_text(name), fault));
    }
    if amount.sign().is_lt() {
        errors.push(FieldError::invalid(at, amount.to_string().as_str(), "must be greater than or equal to 0"));
    }
}

/// What is only for containers that go on running.
fn check_running(errors: &mut Errors, container: &Object, at: Path<'_>) {
    if let Some(lifecycle) = child(container, "lifecycle") {
        for key in ["postStart", "preStop"] {
            let cycle = at.child("lifecycle");
            if let Some(handler) = child(lifecycle, key) {
                check_handler(errors, handler, cycle.child(key));
            }
        }
    }
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = child(container, key) else { continue };
        let at = at.child(key);
        check_handler(errors, probe, at);
        for key in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
            not_negative(errors, probe, key, at);
        }
        let grace = integer(probe, "terminationGracePeriodSeconds");
        if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
            let at = at.child("terminationGracePeriodSeconds");
            errors.push(FieldError::invalid(at, json(seconds), "must be greater than 0"));
        }
        if key == "readinessProbe" {
            if let Some(seconds) = grace {
                let at = at.child("terminationGracePeriodSeconds");
                errors.push(FieldError::invalid(at, json(seconds), "must not be set for readinessProbes"));
            }
        } else if let Some(successes) = integer(probe, "successThreshold").filter(|successes| *successes != 1) {
            errors.push(FieldError::invalid(at.child("successThreshold"), json(successes), "must be 1"));
        }
    }
}

fn check_handler(errors: &mut Errors, handler: &Object, at: Path<'_>) {
    let mut known = false;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = child(handler, kind) else { continue };
        if std::mem::replace(&mut known, true) {
            errors.push(FieldError::forbidden(at.child(kind), ONE_HANDLER));
            continue;
        }
        let at = at.child(kind);
        match kind {
            "exec" if list(action, "command").is_empty() => {
                errors.push(FieldError::required(at.child("command"), ""));
            }
            "httpGet" => {
                port(errors, action.get("port"), at.child("port"));
                supported(errors, text(action, "scheme"), at.child("scheme"), &["HTTP", "HTTPS"]);
                check_headers(errors, action, at.child("httpHeaders"));
            }
            "tcpSocket" => port(errors, action.get("port"), at.child("port")),
            "grpc" => port_number(errors, integer(action, "port").unwrap_or_default(), at.child("port")),
            _ => {}
        }
    }
    if !known {
        errors.push(FieldError::required(at, "must specify a handler type"));
    }
}

fn check_headers(errors: &mut Errors, action: &Object, at: Path<'_>) {
    const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', \
        regex used for validation is '[-A-Za-z0-9]+')";
    for header in items(action, "httpHeaders") {
        let name = text(header, "name");
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            errors.push(FieldError::invalid(at, name, HEADER));
        }
    }
}

fn check_restart(errors: &mut Errors, container: &Object, at: Path<'_>) {
    match container.get("restartPolicy").and_then(Value::as_str) {
        Some(policy) => supported(errors, policy, at.child("restartPolicy"), &["Always", "Never", "OnFailure"]),
        None if !list(container, "restartPolicyRules").is_empty() => errors.push(FieldError::required(
            at.child("restartPolicy"),
            "must specify restartPolicy when restart rules are used",
        )),
        None => {}
    }
}

/// Groups of a pod's own context.
pub(super) fn check_groups(errors: &mut Errors, context: &Object, at: Path<'_>) {
    let groups = at.child("supplementalGroups");
    for (i, group) in list(context, "supplementalGroups").iter().enumerate() {
        if let Some(id) = group.as_i64().filter(|id| !(0..=i64::from(i32::MAX)).contains(id)) {
            errors.push(FieldError::invalid(groups.index(i), json(id), "must be between 0 and 2147483647, inclusive"));
        }
    }
}
