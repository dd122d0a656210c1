//! Objects before they are created: not nothing, but what Go writes for a new struct.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::Request;
use crate::codec::conform;
use crate::strategy::Object;

static ZEROS: LazyLock<RwLock<FxHashMap<&'static str, Arc<Object>>>> = LazyLock::new(RwLock::default);

/// The object of the request's type before it is created.
pub(super) fn zero(request: &Request<'_>) -> Arc<Object> {
    // A panic cannot leave the map half written.
    if let Some(known) = ZEROS.read().unwrap_or_else(PoisonError::into_inner).get(request.ty.name) {
        return Arc::clone(known);
    }
    let mut object = match conform(request.ty, Value::Object(Map::new())) {
        Ok(conformed) => match conformed.value {
            Value::Object(object) => object,
            _ => Map::new(),
        },
        Err(_) => Map::new(),
    };
    let kind = request.ty.name.rsplit('.').next().unwrap_or_default();
    object.insert("apiVersion".to_owned(), request.api_version.into());
    object.insert("kind".to_owned(), kind.into());
    let object = Arc::new(object);
    ZEROS.write().unwrap_or_else(PoisonError::into_inner).insert(request.ty.name, Arc::clone(&object));
    object
}
