//! Whose fields an object has: the record that every write keeps.

use crate::catalog::Served;
use crate::managed;
use crate::strategy::Object;
use crate::time;

/// Records that `manager` writes `object` in the place of `live`.
pub(crate) fn track(served: &Served, live: Option<&Object>, object: &mut Object, manager: &str, subresource: &str) {
    let handling = match subresource {
        "" => &served.facts.handling,
        name => served.subresource(name).map_or(&served.facts.handling, |sub| &sub.handling),
    };
    let request = managed::Request {
        ty: served.ty,
        api_version: &served.api_version(),
        manager,
        subresource,
        reset_fields: handling.reset_fields,
        now: &time::seconds(time::now()),
    };
    managed::update(&request, live, object);
    if let Some(live) = live {
        managed::keep_times(live, object);
    }
}
