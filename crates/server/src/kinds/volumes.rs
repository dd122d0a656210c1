//! Sources of volumes that pods and persistent volumes share: what is wrong with one.

mod iscsi;

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::check::{
    Errors, between, each, forbid, json, list_json, name, named, required, supported, supported_if, within,
};
use super::read::{absent, child, integer, list, text};
use crate::strategy::Object;

/// Members that must be there, of sources that have hardly any other rule.
const NEEDED: [(&str, &[&str]); 17] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("azureFile", &["secretName", "shareName"]),
    ("cephfs", &["monitors"]),
    ("cinder", &["volumeID"]),
    ("flexVolume", &["driver"]),
    ("gcePersistentDisk", &["pdName"]),
    ("gitRepo", &["repository"]),
    ("glusterfs", &["endpoints", "path"]),
    ("nfs", &["server", "path"]),
    ("persistentVolumeClaim", &["claimName"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("rbd", &["monitors", "image"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("vsphereVolume", &["volumePath"]),
    ("hostPath", &["path"]),
];

/// Where a source is reported, as far as that is not its name.
fn called(kind: &str, second: bool) -> &str {
    match (kind, second) {
        ("cephfs", true) => "cephFS",
        ("downwardAPI", true) => "downwarAPI",
        ("gcePersistentDisk", false) => "persistentDisk",
        (kind, _) => kind,
    }
}

/// The one source of a volume, among those that `kinds` names in the order in which Kubernetes looks at them.
pub(super) fn only_source<'a>(
    errors: &mut Errors,
    volume: &'a Object,
    kinds: &[&str],
    at: Path<'_>,
    mut look: impl FnMut(&mut Errors, &str, &'a Object, Path<'_>),
) {
    let mut known = false;
    for kind in kinds {
        let Some(source) = child(volume, kind) else { continue };
        if known && *kind != "flexVolume" {
            forbid(errors, volume, kind, at, "may not specify more than 1 volume type");
            if let Some(error) = errors.last_mut() {
                error.field = at.child(called(kind, true)).to_string();
            }
        } else {
            look(errors, kind, source, at.child(called(kind, false)));
        }
        known = true;
    }
    if !known {
        errors.push(FieldError::required(at, "must specify a volume type"));
    }
}

/// A source that is not particular to pods or to persistent volumes; `persistent` for that of the latter.
pub(super) fn check_source(errors: &mut Errors, kind: &str, source: &Object, persistent: bool, at: Path<'_>) {
    let needed = NEEDED.iter().find(|(known, _)| *known == kind).map(|(_, needed)| *needed);
    for key in needed.unwrap_or_default() {
        if list(source, key).is_empty() {
            required(errors, source, key, at);
        }
    }
    let secret = |errors: &mut Errors| {
        within(source, "secretRef", at, |secret, at| {
            required(errors, secret, "name", at);
            if persistent {
                required(errors, secret, "namespace", at);
            }
        });
    };
    match kind {
        "hostPath" if !text(source, "path").is_empty() => {
            check_backsteps(errors, text(source, "path"), at.child("path"));
            let kinds =
                ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
            supported_if(errors, source, "type", at, &kinds);
        }
        "gitRepo" => check_descending(errors, text(source, "directory"), at.child("directory")),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            if let Some(number) = integer(source, "partition").filter(|number| !(0..=255).contains(number)) {
                let why = "must be between 1 and 255, inclusive";
                errors.push(FieldError::invalid(at.child("partition"), json(number), why));
            }
        }
        "nfs" if !text(source, "path").starts_with('/') => {
            errors.push(FieldError::invalid(at.child("path"), text(source, "path"), "must be an absolute path"));
        }
        "glusterfs" if persistent => {
            if let Some(namespace) = source.get("endpointsNamespace").and_then(serde_json::Value::as_str) {
                let at = at.child("endpointsNamespace");
                if namespace.is_empty() {
                    let why = "if the endpointnamespace is set, it must be a valid namespace name";
                    errors.push(FieldError::invalid(at, namespace, why));
                } else {
                    each(errors, at, namespace, names::dns_label(namespace));
                }
            }
        }
        "cinder" => secret(errors),
        "storageos" => {
            named(errors, source, "volumeName", at, names::dns_label);
            name(errors, source, "volumeNamespace", at, names::dns_label);
            secret(errors);
        }
        "azureFile" if persistent && !absent(source, "secretNamespace") => {
            required(errors, source, "secretNamespace", at);
        }
        "azureDisk" => check_azure_disk(errors, source, at),
        "flexVolume" => check_options(errors, source, at.child("options")),
        "flocker" => check_flocker(errors, source, at),
        "quobyte" => check_quobyte(errors, source, at),
        "fc" => check_fibre(errors, source, at),
        "iscsi" => iscsi::check_iscsi(errors, source, persistent, at),
        _ => {}
    }
}

fn check_azure_disk(errors: &mut Errors, source: &Object, at: Path<'_>) {
    supported_if(errors, source, "cachingMode", at, &["None", "ReadOnly", "ReadWrite"]);
    supported_if(errors, source, "kind", at, &["Dedicated", "Managed", "Shared"]);
    if absent(source, "kind") {
        return;
    }
    let (start, form) = if text(source, "kind") == "Managed" {
        let form = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        ("/subscriptions/", form)
    } else {
        ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
    };
    let uri = text(source, "diskURI");
    if !uri.starts_with(start) {
        errors.push(FieldError::not_supported(at.child("diskURI"), uri, &[form]));
    }
}

fn check_options(errors: &mut Errors, source: &Object, at: Path<'_>) {
    for key in child(source, "options").into_iter().flat_map(Object::keys) {
        let domain = format!(".{}", key.split('/').next().unwrap_or_default().to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let why = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(FieldError::invalid(at.key(key), key.as_str(), why));
        }
    }
}

fn check_flocker(errors: &mut Errors, source: &Object, at: Path<'_>) {
    let name = text(source, "datasetName");
    match (name.is_empty(), text(source, "datasetUUID").is_empty()) {
        (true, true) => errors.push(FieldError::required(at, "one of datasetName and datasetUUID is required")),
        (false, false) => {
            let why = "datasetName and datasetUUID can not be specified simultaneously";
            errors.push(FieldError::invalid(at, "resource", why));
        }
        _ => {}
    }
    if name.contains('/') {
        errors.push(FieldError::invalid(at.child("datasetName"), name, "must not contain '/'"));
    }
}

fn check_quobyte(errors: &mut Errors, source: &Object, at: Path<'_>) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = text(source, "registry");
    if registry.is_empty() {
        errors.push(FieldError::required(at.child("registry"), PAIRS));
    } else if text(source, "tenant").len() > 64 {
        let why = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(FieldError::required(at.child("tenant"), why));
    } else {
        let is_pair = |pair: &str| pair.rsplit_once(':').is_some_and(|(host, _)| !host.contains([':', '[', ']']));
        for _ in registry.split(',').filter(|pair| !is_pair(pair) && !pair.starts_with('[')) {
            errors.push(FieldError::invalid(at.child("registry"), registry, PAIRS));
        }
    }
    required(errors, source, "volume", at);
}

fn check_fibre(errors: &mut Errors, source: &Object, at: Path<'_>) {
    let (names, ids) = (!list(source, "targetWWNs").is_empty(), !list(source, "wwids").is_empty());
    if !names && !ids {
        let why = "must specify either targetWWNs or wwids, but not both";
        errors.push(FieldError::required(at.child("targetWWNs"), why));
    }
    if names && ids {
        let why = "targetWWNs and wwids can not be specified simultaneously";
        errors.push(FieldError::invalid(at.child("targetWWNs"), list_json(source, "targetWWNs"), why));
    }
    if names && absent(source, "lun") {
        errors.push(FieldError::required(at.child("lun"), "lun is required if targetWWNs is specified"));
    } else if names {
        between(errors, source, "lun", at, (0, 255));
    }
}

/// A path that stays where it is relative to.
pub(super) fn check_descending(errors: &mut Errors, path: &str, at: Path<'_>) {
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

/// The name of a driver.
pub(super) fn check_driver(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    const LONGEST: usize = 63;
    let driver = text(object, key);
    required(errors, object, key, at);
    if driver.len() > LONGEST {
        errors.push(FieldError::too_long(at.child(key), LONGEST));
    }
    if !driver.is_empty() {
        each(errors, at.child(key), driver, names::dns_subdomain(&driver.to_lowercase()));
    }
}

/// How a volume may be used; at least one way.
pub(super) fn check_modes(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    let at = at.child("accessModes");
    let (mut alone, mut others) = (false, false);
    for mode in super::read::texts(spec, "accessModes") {
        supported(errors, mode, at, &MODES);
        alone |= mode == "ReadWriteOncePod";
        others |= mode != "ReadWriteOncePod" && MODES.contains(&mode);
    }
    if alone && others {
        errors.push(FieldError::forbidden(at, "may not use ReadWriteOncePod with other access modes"));
    }
}

/// A map as Go writes one of amounts.
pub(super) fn amounts_json(object: &Object, key: &str) -> BadValue {
    super::check::map_json(child(object, key))
}
