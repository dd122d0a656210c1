//! Evicting: a pod is deleted, unless a disruption budget forbids it.

use axum::http::StatusCode;
use rolewright_core::Labels;
use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::{Value, json};

use super::{Call, meta};
use crate::cluster::{Entry, ObjectName, Page};
use crate::codec;
use crate::controller;
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::kinds::read_selector;
use crate::query::{DeleteOptions, WriteOptions};
use crate::status::{Cause, Details, Failure, GroupResource};
use crate::strategy::{Object, fields};
use crate::time;

const EVICTION: codec::Gvk<'static> = codec::Gvk { group: "policy", version: "v1", kind: "Eviction" };
const BUDGET: GroupResource<'static> = GroupResource { group: "policy", resource: "poddisruptionbudget" };
/// Pods that are over, about to go, or never ran are under no budget.
const UNGUARDED: [&str; 3] = ["Succeeded", "Failed", "Pending"];
/// How many evicted pods a budget remembers at most.
const MOST_REMEMBERED: usize = 2000;
const AGENT: &str = "kube-apiserver";

impl Call<'_> {
    /// `pods/eviction`
    pub(crate) fn evict(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = WriteOptions::create(&self.query)?;
        let body = as_current(&self.body);
        let body = body.as_deref().unwrap_or(&self.body);
        let decoded = codec::decode(self.content_type, body, EVICTION, options.field_validation);
        let decoded = decoded.map_err(Failure::without_scheme)?;
        self.warn(decoded.warnings);
        let eviction = decoded.object;
        self.note(&eviction);
        let namespace = meta(&eviction, "namespace");
        if !namespace.is_empty() && namespace != self.info.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        let name = self.info.name.as_str();
        self.admit_namespace(&self.server.cluster().read(), name)?;
        if meta(&eviction, "name") != name {
            return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
        }
        let mut delete = delete_options(&eviction, name, &self.query.all("dryRun").collect::<Vec<_>>())?;
        delete.dry_run |= options.dry_run;
        let pod = self.current().ok_or_else(|| self.not_found())?;
        self.permit(&pod, &delete)?;
        self.check_preconditions(&pod, &delete)?;
        if !delete.dry_run {
            let at = self.at(self.served.collection, name);
            controller::change_for_nobody(self.server, &at, "status", &|pod| Ok(target_of_disruption(pod)));
            // The version that the client means is the one before that.
            delete.resource_version = None;
        }
        self.delete_one(name, &self.info.namespace, &delete)?;
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        Ok(respond::status(StatusCode::CREATED, status))
    }

    /// Whether the pod's budget has room for one more, which is taken.
    fn permit(&self, entry: &Entry, options: &DeleteOptions) -> Result<(), Failure> {
        let pod = entry.object();
        if entry.deleting || UNGUARDED.contains(&fields::text(&pod, &["status", "phase"])) {
            return Ok(());
        }
        let mut budgets = self.budgets(&pod);
        let budget = match (budgets.pop(), budgets.is_empty()) {
            (None, _) => return Ok(()),
            (Some(budget), true) => budget,
            (Some(_), false) => {
                let why =
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(Failure::new(500, "", why));
            }
        };
        if !is_ready(&pod) {
            let always = fields::text(&budget, &["spec", "unhealthyPodEvictionPolicy"]) == "AlwaysAllow";
            let wanted = count(&budget, "desiredHealthy");
            if always || wanted > 0 && count(&budget, "currentHealthy") >= wanted {
                return Ok(());
            }
        }
        check(&budget)?;
        if options.dry_run {
            return Ok(());
        }
        let collection = self.server.catalog().find("policy", "v1", "poddisruptionbudgets").map(|it| it.collection);
        let Some(collection) = collection else { return Ok(()) };
        let at = self.at(collection, meta(&budget, "name"));
        controller::try_change(self.server, &at, "status", AGENT, &|mut budget| {
            check(&budget)?;
            take(&mut budget, &entry.name);
            Ok(budget)
        })
    }

    /// The budgets that a pod is under.
    fn budgets(&self, pod: &Object) -> Vec<Object> {
        let labels = fields::object_at(pod, &["metadata", "labels"]);
        let labels: Labels =
            labels.iter().filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into()))).collect();
        let Some(budgets) = self.server.catalog().find("policy", "v1", "poddisruptionbudgets") else {
            return Vec::new();
        };
        let state = self.server.cluster().read();
        let page = Page { namespace: &self.info.namespace, after: None };
        let all = state.table(budgets.collection).entries(&page).map(|entry| entry.object());
        let selects = |budget: &Object| {
            let selector = fields::get(budget, &["spec", "selector"]).and_then(Value::as_object);
            selector.is_some_and(|selector| {
                read_selector(selector).compile().is_ok_and(|selector| selector.matches(&labels))
            })
        };
        all.filter(selects).collect()
    }

    fn at(&self, collection: crate::cluster::Collection, name: &str) -> ObjectName {
        ObjectName { collection, namespace: self.info.namespace.as_str().into(), name: name.into() }
    }
}

/// An eviction of an older version, which has the same fields, as one of this.
fn as_current(body: &[u8]) -> Option<bytes::Bytes> {
    let mut sent: Object = serde_json::from_slice(body).ok()?;
    let version = sent.get_mut("apiVersion").filter(|version| *version == "policy/v1beta1")?;
    *version = "policy/v1".into();
    serde_json::to_vec(&sent).ok().map(Into::into)
}

fn delete_options(eviction: &Object, name: &str, dry_run: &[&str]) -> Result<DeleteOptions, Failure> {
    let Some(options) = eviction.get("deleteOptions").and_then(Value::as_object) else {
        return Ok(DeleteOptions::default());
    };
    let ignores = "ignoreStoreReadErrorWithClusterBreakingPotential";
    if options.get(ignores) == Some(&json!(true)) {
        let why = "can not be set for pod eviction, try after removing the option";
        let options = Path::field("deleteOptions");
        let fault = FieldError::invalid(options.child(ignores), BadValue::Json("true".to_owned()), why);
        return Err(Failure::invalid("policy", "Eviction", name, &[fault]));
    }
    let own = options.get("dryRun").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let own: Vec<&str> = own.iter().filter_map(Value::as_str).collect();
    if !own.is_empty() && !dry_run.is_empty() && own != dry_run {
        let why = format!(
            "Non-matching dry-run options in request and content: [{}] and [{}]",
            dry_run.join(" "),
            own.join(" ")
        );
        return Err(Failure::new(500, "", why));
    }
    DeleteOptions::from_object(options)
}

fn count(budget: &Object, member: &str) -> i64 {
    fields::get(budget, &["status", member]).and_then(Value::as_i64).unwrap_or_default()
}

fn is_ready(pod: &Object) -> bool {
    let conditions = fields::get(pod, &["status", "conditions"]).and_then(Value::as_array);
    let ready = |condition: &&Value| condition.get("type").is_some_and(|kind| kind == "Ready");
    let ready = conditions.into_iter().flatten().find(ready);
    ready.and_then(|ready| ready.get("status")).is_some_and(|status| status == "True")
}

/// Whether a budget allows one more pod to go, and if not, why.
fn check(budget: &Object) -> Result<(), Failure> {
    let name = meta(budget, "name");
    let generation = fields::get(budget, &["metadata", "generation"]).and_then(Value::as_i64).unwrap_or_default();
    if count(budget, "observedGeneration") < generation {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(too_many(why, 10));
    }
    let allowed = count(budget, "disruptionsAllowed");
    if allowed < 0 {
        return Err(Failure::forbidden(BUDGET, name, "pdb disruptions allowed is negative"));
    }
    if fields::object_at(budget, &["status", "disruptedPods"]).len() > MOST_REMEMBERED {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Failure::forbidden(BUDGET, name, why));
    }
    if allowed > 0 {
        return Ok(());
    }
    let (wanted, found) = (count(budget, "desiredHealthy"), count(budget, "currentHealthy"));
    let condition = condition(budget);
    let of = |member: &str| condition.and_then(|it| it.get(member)).and_then(Value::as_str).unwrap_or_default();
    let told = of("status") == "False" && !of("message").is_empty();
    let why = if told && of("reason") == "SyncFailed" {
        let message = of("message");
        format!("The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}")
    } else if found <= wanted {
        format!("The disruption budget {name} needs {wanted} healthy pods and has {found} currently")
    } else if told {
        let (reason, message) = (of("reason"), of("message"));
        format!("The disruption budget {name} does not allow evicting pods currently ({reason}): {message}")
    } else {
        format!("The disruption budget {name} does not allow evicting pods currently")
    };
    Err(too_many(why, 0))
}

fn condition(budget: &Object) -> Option<&Value> {
    let conditions = fields::get(budget, &["status", "conditions"]).and_then(Value::as_array)?;
    conditions.iter().find(|condition| condition.get("type").is_some_and(|kind| kind == "DisruptionAllowed"))
}

fn too_many(why: String, retry_after_seconds: u32) -> Failure {
    let cause = Cause { reason: "DisruptionBudget".to_owned(), message: why, ..Cause::default() };
    let details = Details { causes: vec![cause], retry_after_seconds, ..Details::default() };
    Failure::new(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.")
        .about(details)
}

/// One pod of a budget goes.
fn take(budget: &mut Object, pod: &str) {
    let left = count(budget, "disruptionsAllowed") - 1;
    let now = time::seconds(time::now());
    fields::set(budget, &["status", "disruptionsAllowed"], left);
    fields::set(budget, &["status", "disruptedPods", pod], now.as_str());
    if left > 0 {
        return;
    }
    let since = condition(budget).filter(|old| old.get("status").is_some_and(|status| status == "False"));
    let since = since.and_then(|old| old.get("lastTransitionTime")).cloned().unwrap_or_else(|| now.into());
    let observed = count(budget, "observedGeneration");
    let condition = json!({
        "type": "DisruptionAllowed", "status": "False", "observedGeneration": observed, "lastTransitionTime": since,
        "reason": "InsufficientPods", "message": "",
    });
    set_condition(budget, condition);
}

/// The pod as one that goes because somebody wanted it to.
fn target_of_disruption(mut pod: Object) -> Object {
    let conditions = fields::get(&pod, &["status", "conditions"]).and_then(Value::as_array);
    let old = conditions.into_iter().flatten().find(|it| it.get("type").is_some_and(|kind| kind == "DisruptionTarget"));
    let since = old.filter(|old| old.get("status").is_some_and(|status| status == "True"));
    let since = since.and_then(|old| old.get("lastTransitionTime")).cloned();
    let mut condition = json!({
        "type": "DisruptionTarget", "status": "True", "lastProbeTime": null, "lastTransitionTime": null,
        "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
    });
    put(&mut condition, "lastTransitionTime", since.unwrap_or_else(|| time::seconds(time::now()).into()));
    set_condition(&mut pod, condition);
    pod
}

/// Puts a condition in the place of the one of its type.
fn set_condition(object: &mut Object, condition: Value) {
    let status = object.entry("status").or_insert_with(|| json!({}));
    let Some(status) = status.as_object_mut() else { return };
    let list = status.entry("conditions").or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    match list.iter_mut().find(|old| old.get("type") == condition.get("type")) {
        Some(old) => *old = condition,
        None => list.push(condition),
    }
}
