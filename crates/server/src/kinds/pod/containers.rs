//! What is wrong with the containers of a pod.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::check::{
    Errors, each, each_item, json, named, not_found, one_of, port_name, port_number, required, supported, supported_if,
    too_many, within,
};
use super::super::read::{absent, child, flag, integer, items, list, text};
use super::amounts::check_requirements;
use super::environment::check_environment;
use super::mounts::{check_devices, check_mounts};
use super::probes::check_running;
use super::security::check_context;
use super::volumes::Volumes;
use crate::strategy::Object;

const SIDECARS_ONLY: &str = "may not be set for init containers without restartPolicy=Always";
const NOT_EPHEMERAL: &str = "cannot be set for an Ephemeral Container";

/// What containers need to know of their pod.
pub(super) struct Context<'a> {
    pub(super) spec: &'a Object,
    pub(super) volumes: Volumes<'a>,
    pub(super) claims: Vec<&'a str>,
    pub(super) host_users: bool,
}

impl Context<'_> {
    fn grace(&self) -> Option<i64> {
        integer(self.spec, "terminationGracePeriodSeconds")
    }
}

pub(super) fn check_containers(errors: &mut Errors, pod: &Context<'_>, at: Path<'_>) {
    check_regular(errors, pod, at);
    check_init(errors, pod, at);
    check_ephemeral(errors, pod, at);
}

fn check_regular(errors: &mut Errors, pod: &Context<'_>, at: Path<'_>) {
    if list(pod.spec, "containers").is_empty() {
        errors.push(FieldError::required(at.child("containers"), ""));
        return;
    }
    let mut seen = BTreeSet::new();
    each_item(pod.spec, "containers", at, |container, at| {
        check_common(errors, container, pod, at);
        if !seen.insert(text(container, "name")) {
            errors.push(FieldError::duplicate(at.child("name"), text(container, "name")));
        }
        check_running(errors, container, pod.grace(), at);
        check_restart(errors, container, at);
    });
    check_host_ports(errors, items(pod.spec, "containers"), at.child("containers"));
}

fn check_init(errors: &mut Errors, pod: &Context<'_>, at: Path<'_>) {
    let list_at = at.child("initContainers");
    let mut seen: BTreeSet<&str> = items(pod.spec, "containers").map(|container| text(container, "name")).collect();
    each_item(pod.spec, "initContainers", at, |container, at| {
        check_common(errors, container, pod, at);
        if absent(container, "restartPolicy") {
            if !list(container, "restartPolicyRules").is_empty() {
                let why = "must specify restartPolicy when restart rules are used";
                errors.push(FieldError::required(at.child("restartPolicy"), why));
            }
        } else {
            check_restart(errors, container, at);
        }
        let name = text(container, "name");
        if seen.contains(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        } else if !name.is_empty() {
            seen.insert(name);
        }
        check_host_ports(errors, std::iter::once(container), list_at);
        if text(container, "restartPolicy") == "Always" {
            check_running(errors, container, pod.grace(), at);
            return;
        }
        for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if !absent(container, key) {
                errors.push(FieldError::forbidden(at.child(key), SIDECARS_ONLY));
            }
        }
        each_item(container, "resizePolicy", at, |policy, at| {
            if text(policy, "restartPolicy") == "RestartContainer" {
                let why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                let shown = BadValue::typed_text("RestartContainer");
                errors.push(FieldError::invalid(at.child("restartPolicy"), shown, why));
            }
        });
    });
}

fn check_ephemeral(errors: &mut Errors, pod: &Context<'_>, at: Path<'_>) {
    let name = |container| text(container, "name");
    let others: BTreeSet<&str> =
        ["containers", "initContainers"].into_iter().flat_map(|kind| items(pod.spec, kind)).map(name).collect();
    let mut seen = others.clone();
    each_item(pod.spec, "ephemeralContainers", at, |container, at| {
        check_common(errors, container, pod, at);
        check_image(errors, container, at);
        let name = text(container, "name");
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
        let target = text(container, "targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.push(not_found(at.child("targetContainerName"), target));
        }
        let given = |key: &&str| match *key {
            "resources" => child(container, key).is_some_and(|resources| !resources.is_empty()),
            key => {
                !absent(container, key) && !container.get(key).and_then(|it| it.as_array()).is_some_and(Vec::is_empty)
            }
        };
        let keys = [
            "ports",
            "resources",
            "resizePolicy",
            "restartPolicy",
            "restartPolicyRules",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ];
        for key in keys.into_iter().filter(given) {
            errors.push(FieldError::forbidden(at.child(key), NOT_EPHEMERAL));
        }
        each_item(container, "volumeMounts", at, |mount, at| {
            for key in ["subPath", "subPathExpr"] {
                if !text(mount, key).is_empty() {
                    errors.push(FieldError::forbidden(at.child(key), NOT_EPHEMERAL));
                }
            }
        });
    });
}

/// An image as pods must name it, and templates need not yet.
pub(super) fn check_image(errors: &mut Errors, container: &Object, at: Path<'_>) {
    let image = text(container, "image");
    if image.trim() != image {
        errors.push(FieldError::invalid(at.child("image"), image, "must not have leading or trailing whitespace"));
    }
}

fn check_common(errors: &mut Errors, container: &Object, pod: &Context<'_>, at: Path<'_>) {
    named(errors, container, "name", at, names::dns_label);
    required(errors, container, "image", at);
    let policies = ["File", "FallbackToLogsOnError"];
    one_of(errors, container, "terminationMessagePolicy", at, &policies);
    check_ports(errors, container, at);
    check_environment(errors, container, at);
    check_mounts(errors, container, &pod.volumes, at);
    check_devices(errors, container, &pod.volumes, at);
    one_of(errors, container, "imagePullPolicy", at, &["Always", "IfNotPresent", "Never"]);
    within(container, "resources", at, |resources, at| check_requirements(errors, resources, &pod.claims, at));
    check_resizing(errors, container, text(pod.spec, "restartPolicy") == "Never", at);
    check_context(errors, container, pod.host_users, at);
}

fn check_ports(errors: &mut Errors, container: &Object, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    each_item(container, "ports", at, |port, at| {
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
    });
}

fn check_host_ports<'a>(errors: &mut Errors, containers: impl Iterator<Item = &'a Object>, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    for (i, container) in containers.enumerate() {
        each_item(container, "ports", at.index(i), |port, at| {
            let Some(number) = integer(port, "hostPort").filter(|number| *number != 0) else { return };
            let taken = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if seen.contains(&taken) {
                errors.push(FieldError::duplicate(at.child("hostPort"), taken.as_str()));
            }
            seen.insert(taken);
        });
    }
}

/// What happens when resources change. Kubernetes reports the list in most cases.
fn check_resizing(errors: &mut Errors, container: &Object, never: bool, at: Path<'_>) {
    let list_at = at.child("resizePolicy");
    let mut seen = BTreeSet::new();
    each_item(container, "resizePolicy", at, |policy, at| {
        let resource = text(policy, "resourceName");
        if !seen.insert(resource) {
            errors.push(FieldError::duplicate(at, BadValue::typed_text(resource)));
        }
        for (key, known) in
            [("resourceName", ["cpu", "memory"]), ("restartPolicy", ["NotRequired", "RestartContainer"])]
        {
            match text(policy, key) {
                "" => errors.push(FieldError::required(list_at, "")),
                text => supported(errors, text, list_at, &known),
            }
        }
        let restart = text(policy, "restartPolicy");
        if never && restart != "NotRequired" {
            let why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.push(FieldError::invalid(list_at, BadValue::typed_text(restart), why));
        }
    });
}

fn check_restart(errors: &mut Errors, container: &Object, at: Path<'_>) {
    const MOST_RULES: usize = 20;
    const MOST_CODES: usize = 255;
    let count = list(container, "restartPolicyRules").len();
    if absent(container, "restartPolicy") && count > 0 {
        let why = "must specify restartPolicy when restart rules are used";
        errors.push(FieldError::required(at.child("restartPolicy"), why));
    }
    supported_if(errors, container, "restartPolicy", at, &["Always", "Never", "OnFailure"]);
    if count > MOST_RULES {
        errors.push(too_many(at.child("restartPolicyRules"), count, MOST_RULES));
    }
    each_item(container, "restartPolicyRules", at, |rule, at| {
        supported(errors, text(rule, "action"), at.child("action"), &["Restart", "RestartAllContainers"]);
        let Some(codes) = child(rule, "exitCodes") else {
            errors.push(FieldError::required(at.child("exitCodes"), "must be specified"));
            return;
        };
        let at = at.child("exitCodes");
        supported(errors, text(codes, "operator"), at.child("operator"), &["In", "NotIn"]);
        let count = list(codes, "values").len();
        if count > MOST_CODES {
            errors.push(too_many(at.child("values"), count, MOST_CODES));
        }
    });
}

/// Ports of a pod that shares the network of its node.
pub(super) fn check_host_network(errors: &mut Errors, spec: &Object, is_pod: bool, at: Path<'_>) {
    if !flag(spec, "hostNetwork") {
        return;
    }
    each_item(spec, "containers", at, |container, at| {
        each_item(container, "ports", at, |port, at| {
            let number = |key| integer(port, key).unwrap_or_default();
            let host = number("hostPort");
            if (is_pod || host != 0) && host != number("containerPort") {
                let why = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(at.child("hostPort"), json(host), why));
            }
        });
    });
}
