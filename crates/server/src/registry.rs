//! The verbs: what happens to objects.
//!
//! A write goes the way it goes in Kubernetes, so that of several faults the same one is reported:
//! decode and default, namespace, ownership of fields, escalation, the kind's own rules, and then the commit.

mod admit;
mod allocate;
mod apply;
mod bind;
mod create;
mod delete;
mod evict;
mod filter;
mod furnish;
mod list;
mod patch;
mod read;
mod render;
mod scale;
mod update;
mod watch;

use std::cell::RefCell;
use std::sync::Arc;

use axum::http::StatusCode;
use bytes::Bytes;
use serde_json::Value;

pub(crate) use filter::Filter;
pub(crate) use render::Render;

use crate::Server;
use crate::authn::Identity;
use crate::catalog::Served;
use crate::cluster::{Draft, Entry};
use crate::http::auditing::Sent;
use crate::http::negotiate::{self, Form};
use crate::http::request::RequestInfo;
use crate::http::respond::{self, Answer};
use crate::query::{FieldValidation, Query};
use crate::status::Failure;
use crate::strategy::Object;

/// A request about a resource, ready to be answered.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) served: &'a Arc<Served>,
    pub(crate) info: &'a RequestInfo,
    pub(crate) identity: &'a Identity,
    pub(crate) query: Query,
    pub(crate) accept: Option<&'a str>,
    pub(crate) content_type: Option<&'a str>,
    pub(crate) user_agent: &'a str,
    pub(crate) body: Bytes,
    /// What the client is warned of, whatever becomes of the request.
    pub(crate) warnings: RefCell<Vec<String>>,
    /// What the audit log tells of the object in the request.
    pub(crate) sent: RefCell<Sent>,
}

/// Objects larger than this do not fit into etcd; who develops against this server should learn it here.
const MOST_STORED: usize = 3 << 19;

impl Call<'_> {
    pub(crate) fn form(&self) -> Result<Form, Failure> {
        negotiate::form(self.accept)
    }

    fn render(&self) -> Result<Render, Failure> {
        Render::new(self.served, self.form()?, &self.query)
    }

    /// The namespace of the objects; empty at cluster scope.
    fn namespace(&self) -> &str {
        if self.served.namespaced { &self.info.namespace } else { "" }
    }

    fn not_found(&self) -> Failure {
        Failure::not_found(self.served.group_resource(), &self.info.name)
    }

    fn current(&self) -> Option<Arc<Entry>> {
        self.server.cluster().read().table(self.served.collection).get(self.namespace(), &self.info.name).cloned()
    }

    /// The body as an object of this resource, defaulted, in its stored form.
    fn decode(&self, validation: FieldValidation) -> Result<Object, Failure> {
        let decoded = self.served.decode(self.content_type, &self.body, validation)?;
        let mut object = decoded.object;
        if decoded.forgets_managers {
            set_meta(&mut object, "managedFields", Vec::<Value>::new());
        }
        self.served.strategy().default(&mut object);
        self.warn(decoded.warnings);
        self.note(&object);
        Ok(self.to_stored(object))
    }

    /// Keeps what the audit log tells of an object in a request.
    pub(crate) fn note(&self, object: &Object) {
        if self.server.audit().is_some() {
            let text = |member: &str| meta(object, member).to_owned();
            self.sent.replace(Sent {
                namespace: text("namespace"),
                name: text("name"),
                uid: text("uid"),
                resource_version: text("resourceVersion"),
            });
        }
    }

    fn to_stored(&self, object: Object) -> Object {
        match self.served.conversion() {
            Some(conversion) => (conversion.to_stored)(&object),
            None => object,
        }
    }

    /// The resource in whose form objects are stored: its type and rules are those that count.
    fn stored(&self) -> Arc<Served> {
        self.server.catalog().stored_in(self.served.collection).unwrap_or_else(|| self.served.clone())
    }

    fn draft(&self, object: &Object) -> Result<Draft, Failure> {
        let draft = self.stored().draft(object);
        if draft.size() > MOST_STORED {
            return Err(Failure::new(500, "", "etcdserver: request is too large"));
        }
        Ok(draft)
    }

    /// Whose fields the written ones become.
    fn manager(&self, field_manager: &str) -> String {
        crate::managed::manager(field_manager, self.user_agent)
    }

    pub(crate) fn warn(&self, warnings: impl IntoIterator<Item = String>) {
        self.warnings.borrow_mut().extend(warnings);
    }

    fn answer(&self, code: StatusCode, entry: &Entry) -> Result<Answer, Failure> {
        if self.form()? == Form::MetadataList {
            return Err(self.not_a_list(true));
        }
        Ok(respond::json(code, self.render()?.object(entry)))
    }
}

/// A text in an object's metadata; empty where it is absent.
pub(crate) fn meta<'a>(object: &'a Object, member: &str) -> &'a str {
    object.get("metadata").and_then(|meta| meta.get(member)).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a text in an object's metadata.
pub(crate) fn set_meta(object: &mut Object, member: &str, value: impl Into<Value>) {
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Object::new()));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert(member.to_owned(), value.into());
    }
}

/// An object's finalizers.
pub(crate) fn finalizers(object: &Object) -> Vec<&str> {
    let list = object.get("metadata").and_then(|meta| meta.get("finalizers")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}
