//! The example: a platform as manifests, and how it gets into a fresh server.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use http::{Method, Request};
use rolewright_api::{crds, manifest};
use rolewright_controller::connect::{Client, ClientError};
use rolewright_core::{Authorizer, Request as Wish, Subject, User};
use rolewright_plan::crossplane::DEFINITION;
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING};
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::{Module, ObjectRef, Snapshot};
use serde_json::{Value, json};

use crate::world;

/// In this order: what comes later stands on what came before.
const FILES: [(&str, &str); 6] = [
    ("1-kinds.yaml", include_str!("../../../../../examples/platform/1-kinds.yaml")),
    ("2-providers.yaml", include_str!("../../../../../examples/platform/2-providers.yaml")),
    ("3-definitions.yaml", include_str!("../../../../../examples/platform/3-definitions.yaml")),
    ("4-teams.yaml", include_str!("../../../../../examples/platform/4-teams.yaml")),
    ("5-people.yaml", include_str!("../../../../../examples/platform/5-people.yaml")),
    ("6-syncs.yaml", include_str!("../../../../../examples/platform/6-syncs.yaml")),
];

/// Says on the manager's namespace what a cluster was begun with, so that a later start adds nothing to it.
const BEGUN: &str = "rolewright.io/begun-with";
const FIELD_MANAGER: &str = "rolewright-up";

/// What a cluster was begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Example,
    Nothing,
}

/// Who is who in the example.
pub(super) const PEOPLE: &str = "admin ada, edit eli, view vic, browse bea; shop sam, bank ben";
/// The bindings by which that is so.
const BOUND: [(&str, &str, &str); 6] = [
    ("", "platform-admins", "ada"),
    ("", "platform-editors", "eli"),
    ("", "platform-viewers", "vic"),
    ("", "platform-browsers", "bea"),
    ("shop", "developers", "sam"),
    ("bank", "developers", "ben"),
];
/// The role that is tried first on a cluster that began empty.
pub(super) const FIRST_ROLE: &str = "node-readers";

/// What there is to try things on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    /// The example, with what is said of it still true.
    Example,
    /// A cluster that began empty and has nothing of what is tried there.
    Empty,
    /// What somebody made of either.
    Other,
}

impl Scene {
    /// What there is in a cluster that began with the example, or without it.
    pub(super) fn of(snapshot: &Snapshot, had_example: bool) -> Self {
        match had_example {
            true if is_as_told(snapshot) => Self::Example,
            false if snapshot.get(&ObjectRef::cluster(&CLUSTER_ROLE, FIRST_ROLE)).is_none() => Self::Empty,
            _ => Self::Other,
        }
    }
}

/// Whether everybody is who the page says, and may do what it says, and no more.
fn is_as_told(snapshot: &Snapshot) -> bool {
    let is_bound = |&(namespace, name, person): &(&'static str, &'static str, &'static str)| {
        let kind = if namespace.is_empty() { &CLUSTER_ROLE_BINDING } else { &ROLE_BINDING };
        let binding = snapshot.body::<BindingBody>(&ObjectRef::namespaced(kind, namespace, name));
        binding.is_some_and(|binding| binding.subjects.contains(&Subject::user(person)))
    };
    let is_there = |kind, name: &'static str| snapshot.get(&ObjectRef::cluster(kind, name)).is_some();
    let authorizer = Authorizer::new(&world::rbac_of(snapshot));
    let may = |person: &'static str, namespace: &str| {
        let wish = Wish::resource("create", "acme.io", "databases").in_namespace(namespace);
        authorizer.allows(&User::authenticated(person, ["acme:people"; 0]), &wish)
    };
    BOUND.iter().all(is_bound)
        && is_there(&NAMESPACE, "bank")
        && is_there(&DEFINITION, "databases.acme.io")
        && is_there(&CLUSTER_ROLE, "crossplane-ns-shop-edit")
        && may("sam", "shop")
        && !may("ben", "bank")
}

/// Gives the manager the rights that it needs, and the example to a cluster that is new, unless it should begin empty.
/// Returns what the cluster was begun with.
pub(super) async fn plant(
    client: &Client,
    modules: &[Box<dyn Module>],
    identity: &Identity,
    begin: Begun,
) -> Result<Begun> {
    let mut hands = Hands { client, kinds: HashMap::new() };
    let rights = Rights::of(modules.iter().map(|module| &**module), identity);
    let namespace = identity.namespace_manifest().context("the manager's namespace is its own")?;
    let known = hands.get(&namespace).await?;
    let begun = known.as_ref().and_then(|known| known.pointer("/metadata/annotations")?.get(BEGUN)?.as_str());
    let begun = match begun {
        Some("example") => Some(Begun::Example),
        Some(_) => Some(Begun::Nothing),
        None => None,
    };
    if begun.is_none() {
        hands.apply(&namespace).await?;
    }
    if begun.is_none() && begin == Begun::Example {
        for definition in crds::config_sync() {
            hands.apply(&definition).await?;
        }
        for (file, text) in FILES {
            let manifests = manifest::read(file, text.as_bytes()).map_err(|problems| {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                anyhow!("the example is no good: {}", problems.join("; "))
            })?;
            for manifest in manifests {
                hands.put(manifest.object).await.with_context(|| format!("cannot apply the example's `{file}`"))?;
            }
        }
    }
    for object in rights.manifests(identity) {
        // Where nobody runs yet there is no lease to hold, and no namespace for its role.
        let is_there = match object.pointer("/metadata/namespace").and_then(Value::as_str) {
            Some(name) => {
                let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
                hands.get(&namespace).await?.is_some()
            }
            None => true,
        };
        if is_there {
            hands.apply(&object).await?;
        }
    }
    if let Some(begun) = begun {
        return Ok(begun);
    }
    // Last: a start that was cut short begins anew.
    let word = if begin == Begun::Example { "example" } else { "nothing" };
    let mut namespace = namespace;
    if let Some(metadata) = namespace.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.insert("annotations".to_owned(), json!({ BEGUN: word }));
    }
    hands.apply(&namespace).await?;
    Ok(begin)
}

/// Writes objects of any kind.
struct Hands<'c> {
    client: &'c Client,
    /// What is served, by `apiVersion`: kind, plural, and whether objects are in namespaces.
    kinds: HashMap<String, Vec<(String, String, bool)>>,
}

impl Hands<'_> {
    /// Applies an object with its owners and its status.
    async fn put(&mut self, mut object: Value) -> Result<()> {
        self.find_owners(&mut object).await?;
        let status = object.as_object_mut().and_then(|fields| fields.remove("status"));
        self.apply(&object).await?;
        if let Some(status) = status {
            let path = format!("{}/status", self.path(&object).await?);
            let mut report = json!({
                "apiVersion": object.get("apiVersion"), "kind": object.get("kind"),
                "metadata": {"name": object.pointer("/metadata/name")},
            });
            if let Some(fields) = report.as_object_mut() {
                fields.insert("status".to_owned(), status);
            }
            self.patch(&path, &report).await?;
        }
        Ok(())
    }

    /// Manifests name owners; a cluster knows them by their uids.
    async fn find_owners(&mut self, object: &mut Value) -> Result<()> {
        let owners = object.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten() {
            let named = json!({
                "apiVersion": owner.get("apiVersion"), "kind": owner.get("kind"),
                "metadata": {"name": owner.get("name")},
            });
            let live = self.get(&named).await?.with_context(|| format!("there is no owner {owner}"))?;
            let uid = live.pointer("/metadata/uid").cloned().unwrap_or_default();
            if let Some(owner) = owner.as_object_mut() {
                owner.insert("uid".to_owned(), uid);
            }
        }
        Ok(())
    }

    async fn apply(&mut self, object: &Value) -> Result<()> {
        let path = self.path(object).await?;
        self.patch(&path, object).await
    }

    async fn patch(&self, path: &str, object: &Value) -> Result<()> {
        let request = Request::patch(format!("{path}?fieldManager={FIELD_MANAGER}&force=true"))
            .header("content-type", "application/apply-patch+yaml")
            .body(serde_json::to_vec(object)?)?;
        self.client.request_text(request).await.with_context(|| format!("cannot apply `{path}`"))?;
        Ok(())
    }

    async fn get(&mut self, object: &Value) -> Result<Option<Value>> {
        let path = self.path(object).await?;
        let request = Request::builder().method(Method::GET).uri(&path).body(Vec::new())?;
        match self.client.request::<Value>(request).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read `{path}`")),
        }
    }

    /// Where an object is.
    async fn path(&mut self, object: &Value) -> Result<String> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
        let (plural, namespaced) = self.plural(&version, &kind).await?;
        let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
        let within = if namespaced { format!("/namespaces/{}", text("/metadata/namespace")) } else { String::new() };
        Ok(format!("{root}{within}/{plural}/{name}"))
    }

    /// A kind that was defined a moment ago may not be served yet.
    async fn plural(&mut self, version: &str, kind: &str) -> Result<(String, bool)> {
        for _ in 0..500 {
            let known = self.kinds.get(version).into_iter().flatten();
            if let Some((_, plural, namespaced)) = known.into_iter().find(|(known, ..)| known == kind) {
                return Ok((plural.clone(), *namespaced));
            }
            if !self.discover(version).await? {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        bail!("the kind `{kind}` of `{version}` is not served")
    }

    /// Asks what is served; returns whether that is more than before.
    async fn discover(&mut self, version: &str) -> Result<bool> {
        let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
        let served: Value = match self.client.request(Request::get(&root).body(Vec::new())?).await {
            Ok(served) => served,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(error).with_context(|| format!("cannot read `{root}`")),
        };
        let read = |resource: &Value| {
            let name = resource.get("name")?.as_str().filter(|name| !name.contains('/'))?;
            let kind = resource.get("kind")?.as_str()?;
            Some((kind.to_owned(), name.to_owned(), resource.get("namespaced")?.as_bool()?))
        };
        let resources = served.get("resources").and_then(Value::as_array).into_iter().flatten();
        let found: Vec<_> = resources.filter_map(read).collect();
        let before = self.kinds.insert(version.to_owned(), found.clone()).map_or(0, |known| known.len());
        Ok(found.len() > before)
    }
}

fn is_missing(error: &ClientError) -> bool {
    matches!(error, ClientError::Api(status) if status.code == 404)
}
