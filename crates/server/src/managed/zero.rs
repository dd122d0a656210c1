//! Objects before they are created: not nothing, but what Go writes for a new struct.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::{Kind, Request};
use crate::codec::conform;
use crate::strategy::Object;

static ZEROS: LazyLock<RwLock<FxHashMap<&'static str, Arc<Object>>>> = LazyLock::new(RwLock::default);

/// The object of the request's type before it is created.
pub(super) fn zero(request: &Request<'_>) -> Arc<Object> {
    let Kind::BuiltIn(ty) = request.kind else { return Arc::new(named(request, Map::new())) };
    // A panic cannot leave the map half written.
    if let Some(known) = ZEROS.read().unwrap_or_else(PoisonError::into_inner).get(ty.name) {
        return Arc::clone(known);
    }
    let object = match conform(ty, Value::Object(Map::new())) {
        Ok(conformed) => match conformed.value {
            Value::Object(object) => object,
            _ => Map::new(),
        },
        Err(_) => Map::new(),
    };
    let object = Arc::new(named(request, object));
    ZEROS.write().unwrap_or_else(PoisonError::into_inner).insert(ty.name, Arc::clone(&object));
    object
}

fn named(request: &Request<'_>, mut object: Object) -> Object {
    object.insert("apiVersion".to_owned(), request.api_version.into());
    object.insert("kind".to_owned(), request.name.into());
    object
}
