//! Deleting: at once, or when nobody waits for anything any longer.

use std::sync::Arc;

use axum::http::StatusCode;
use rolewright_crd::naming;
use serde_json::{Value, json};

use super::{Call, finalizers, list, meta, set_meta};
use crate::cluster::Entry;
use crate::codec;
use crate::controller::definition;
use crate::http::negotiate::Form;
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::query::{DeleteOptions, ListOptions, Propagation};
use crate::status::{Failure, GroupResource};
use crate::strategy::Object;
use crate::time;

/// A definition waits for its objects, whatever else the client wants.
fn end_definition(last: &mut Object) {
    set_meta(last, "deletionTimestamp", time::seconds(time::now()));
    let mut kept: Vec<String> = finalizers(last).into_iter().map(str::to_owned).collect();
    if !kept.iter().any(|name| name == definition::CLEANUP) {
        kept.push(definition::CLEANUP.to_owned());
    }
    set_meta(last, "finalizers", json!(kept));
    naming::terminate(last, &naming::Termination::Pending, &time::seconds(time::now()));
}

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// Namespaces that a cluster cannot be without.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

const JOBS: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove \
                    them or set propagationPolicy=Orphan to suppress this warning";

/// What became of an object.
pub(super) enum Fate {
    Gone(Arc<Entry>),
    Waits(Arc<Entry>),
}

impl Call<'_> {
    pub(crate) fn delete(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = self.delete_options()?;
        if self.served.plural == "jobs" && options.propagation.is_none() && options.orphan_dependents.is_none() {
            self.warn([JOBS.to_owned()]);
        }
        let fate = self.delete_one(&self.info.name, self.namespace(), &options)?;
        let render = self.render()?;
        let shows_object = matches!(fate, Fate::Waits(_)) || self.stored().handling("").returns_deleted;
        if shows_object && render.is_metadata_list() {
            return Err(self.not_a_list(true));
        }
        match fate {
            Fate::Waits(entry) => {
                let accepted = options.orphan_dependents == Some(false);
                let code = if accepted { StatusCode::ACCEPTED } else { StatusCode::OK };
                Ok(respond::json(code, render.object(&entry)))
            }
            Fate::Gone(entry) if self.stored().handling("").returns_deleted => {
                Ok(respond::json(StatusCode::OK, render.object(&entry)))
            }
            Fate::Gone(entry) => {
                let mut details = json!({"name": entry.name, "kind": self.served.plural, "uid": entry.uid});
                if !self.served.group.is_empty() {
                    put(&mut details, "group", self.served.group.as_str());
                }
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
                });
                Ok(respond::status(StatusCode::OK, status))
            }
        }
    }

    pub(crate) fn delete_collection(&self) -> Result<Answer, Failure> {
        let render = self.render()?;
        let list_options = ListOptions::from_query(&self.query)?;
        let filter = self.filter(&list_options)?;
        let options = self.delete_options()?;
        let found = list::list(&self.server.cluster().read(), self.served, &filter, &list_options)?;
        for entry in &found.entries {
            match self.delete_one(&entry.name, &entry.namespace, &options) {
                Err(failure) if failure.code == 404 => {}
                done => {
                    done?;
                }
            }
        }
        if self.form()? == Form::Metadata {
            return Err(self.not_a_list(false));
        }
        Ok(found.answer(&render))
    }

    /// From the body, or from the URL where there is none.
    fn delete_options(&self) -> Result<DeleteOptions, Failure> {
        if self.body.is_empty() {
            return DeleteOptions::from_query(&self.query);
        }
        DeleteOptions::from_object(
            &codec::decode_options(self.content_type, &self.body, "DeleteOptions").map_err(Failure::without_scheme)?,
        )
    }

    pub(super) fn delete_one(&self, name: &str, namespace: &str, options: &DeleteOptions) -> Result<Fate, Failure> {
        let on = self.served.group_resource();
        if self.served.collection == self.server.namespaces() && IMMORTAL.contains(&name) {
            return Err(Failure::forbidden(on, name, "this namespace may not be deleted"));
        }
        loop {
            let collection = self.served.collection;
            let current = self.server.cluster().read().table(collection).get(namespace, name).cloned();
            let current = current.ok_or_else(|| Failure::not_found(on, name))?;
            self.check_preconditions(&current, options)?;
            let old = current.object();
            if current.deleting && collection == self.server.namespaces() && self.waits(&old) {
                return Ok(Fate::Waits(current));
            }
            let last = self.end(&old, options);
            let stays = !finalizers(&last).is_empty() || self.ends_slowly() && self.waits(&last);
            if options.dry_run {
                let entry = self.served.shown(if stays { &last } else { &old }).into();
                return Ok(if stays { Fate::Waits(entry) } else { Fate::Gone(entry) });
            }
            if stays && last == old {
                return Ok(Fate::Waits(current));
            }
            // What goes at once was never about to go: its last state is the stored one.
            let draft = self.draft(if stays { &last } else { &old })?;
            let done = self.server.cluster().write(|transaction| {
                let now = transaction.state().table(collection).get(namespace, name);
                if now.is_none_or(|now| now.revision != current.revision) {
                    return Ok(None);
                }
                let entry =
                    if stays { transaction.put(collection, &draft) } else { transaction.remove(collection, &draft) };
                self.server.note(transaction, collection, &entry);
                Ok(Some(entry))
            })?;
            match done {
                Some(entry) if stays => return Ok(Fate::Waits(entry)),
                // Who may end gracefully is shown as ending.
                Some(entry) if self.stored().handling("").graceful_delete => {
                    let mut last = last;
                    set_meta(&mut last, "resourceVersion", entry.revision.to_string());
                    return Ok(Fate::Gone(self.served.shown(&last).into()));
                }
                Some(entry) => return Ok(Fate::Gone(entry)),
                None => {}
            }
        }
    }

    pub(super) fn check_preconditions(&self, current: &Entry, options: &DeleteOptions) -> Result<(), Failure> {
        // Kubernetes names the kind where it names the resource everywhere else.
        let stored = self.stored();
        let on = GroupResource { group: &stored.group, resource: &self.served.kind };
        let version = current.revision.to_string();
        let expects = [
            ("UID", options.uid.as_deref(), current.uid.as_str(), "deleted and then recreated"),
            ("ResourceVersion", options.resource_version.as_deref(), &version, "modified"),
        ];
        for (what, expected, found, happened) in expects {
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                if [self.server.namespaces(), self.server.definitions()].contains(&self.served.collection) {
                    let why = format_args!(
                        "Precondition failed: {what} in precondition: {expected}, {what} in object meta: {found}"
                    );
                    return Err(Failure::conflict(self.served.group_resource(), &current.name, why));
                }
                let why = format_args!(
                    "the {what} in the precondition ({expected}) does not match the {what} in record ({found}). \
                     The object might have been {happened}"
                );
                return Err(Failure::conflict(on, &current.name, why));
            }
        }
        Ok(())
    }

    /// The object as it is when its deletion has begun.
    fn end(&self, old: &Object, options: &DeleteOptions) -> Object {
        let mut last = old.clone();
        if self.served.collection == self.server.definitions() && meta(old, "deletionTimestamp").is_empty() {
            end_definition(&mut last);
            return last;
        }
        let wanted = self.end_finalizers(old, options);
        let before = finalizers(old);
        if before != wanted {
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            set_meta(&mut last, "finalizers", json!(wanted));
        }
        let namespace = self.served.collection == self.server.namespaces();
        let grace = self.grace(old, options);
        if meta(&last, "deletionTimestamp").is_empty() {
            let at = time::now() + jiff::SignedDuration::from_secs(grace);
            set_meta(&mut last, "deletionTimestamp", time::seconds(at));
            let generation = old.get("metadata").and_then(|meta| meta.get("generation")).and_then(Value::as_i64);
            if let Some(generation) = generation.filter(|generation| *generation > 0) {
                set_meta(&mut last, "generation", generation + 1);
            }
            if !namespace {
                set_meta(&mut last, "deletionGracePeriodSeconds", grace);
            }
        } else if !self.ends_slowly() {
            set_meta(&mut last, "deletionGracePeriodSeconds", 0);
        }
        if namespace
            && last.get("status").and_then(|status| status.get("phase")).is_none_or(|phase| phase != "Terminating")
        {
            let status = last.entry("status").or_insert_with(|| json!({}));
            if status.is_object() {
                put(status, "phase", "Terminating");
            }
        }
        if finalizers(&last).is_empty()
            && let Some(metadata) = last.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.remove("finalizers");
        }
        last
    }

    /// Whether objects of this kind may take their time to end, even if nobody waits for anything.
    fn ends_slowly(&self) -> bool {
        self.stored().handling("").graceful_delete || self.served.collection == self.server.namespaces()
    }

    /// Seconds that the object may take to end. Only pods that run somewhere take any.
    fn grace(&self, object: &Object, options: &DeleteOptions) -> i64 {
        if !self.stored().handling("").graceful_delete || self.served.plural != "pods" {
            return 0;
        }
        let at = |path: [&str; 2]| object.get(path[0]).and_then(|part| part.get(path[1]));
        let runs = at(["spec", "nodeName"]).and_then(Value::as_str).is_some_and(|node| !node.is_empty());
        let over = at(["status", "phase"])
            .and_then(Value::as_str)
            .is_some_and(|phase| ["Failed", "Succeeded"].contains(&phase));
        if !runs || over {
            return 0;
        }
        let own = at(["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64).unwrap_or(30);
        options.grace_period_seconds.unwrap_or(own).max(0)
    }

    /// The finalizers that make the garbage collector do what the client wants.
    fn end_finalizers(&self, object: &Object, options: &DeleteOptions) -> Vec<String> {
        let before = finalizers(object);
        if !self.stored().handling("").collected {
            return before.iter().map(|name| (*name).to_owned()).collect();
        }
        let orphan = match (options.orphan_dependents, options.propagation) {
            (Some(orphan), _) => orphan,
            (None, Some(policy)) => policy == Propagation::Orphan,
            (None, None) => before.contains(&ORPHAN) || self.stored().handling("").orphans,
        };
        // Only namespaces understand the old way to say it.
        let is_namespace = self.served.collection == self.server.namespaces();
        let foreground = match (options.orphan_dependents, options.propagation) {
            (Some(orphan), _) => is_namespace && !orphan,
            (None, Some(policy)) => policy == Propagation::Foreground,
            (None, None) => before.contains(&FOREGROUND),
        };
        let mut after: Vec<String> =
            before.iter().filter(|name| ![ORPHAN, FOREGROUND].contains(name)).map(|name| (*name).to_owned()).collect();
        if orphan {
            after.push(ORPHAN.to_owned());
        }
        if foreground {
            after.push(FOREGROUND.to_owned());
        }
        after
    }
}
