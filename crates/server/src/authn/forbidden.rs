//! How a refusal of the authorizer is told.

use rolewright_core::validate::BadValue;
use rolewright_core::{Request, Target};

use crate::status::{Failure, GroupResource};

/// 403: `user` may not do this; `reason` is what else the authorizer has to say, mostly nothing.
pub fn forbidden(user: &str, request: &Request<'_>, reason: &str) -> Failure {
    let (user, verb) = (BadValue::from(user), request.verb);
    let (on, name, mut why) = match request.target {
        Target::Url(path) => {
            let on = GroupResource { group: "", resource: "" };
            (on, "", format!("User {user} cannot {verb} path {}", BadValue::from(path)))
        }
        Target::Resource(r) => {
            let resource = match r.subresource {
                "" => BadValue::from(r.resource),
                subresource => BadValue::from(format!("{}/{subresource}", r.resource).as_str()),
            };
            let scope = match r.namespace {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", BadValue::from(namespace)),
            };
            let group = BadValue::from(r.group);
            let on = GroupResource { group: r.group, resource: r.resource };
            (on, r.name, format!("User {user} cannot {verb} resource {resource} in API group {group} {scope}"))
        }
    };
    why = harmless(&why);
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    Failure::forbidden(on, name, why)
}

/// Names come from clients; nobody shall take them for HTML.
fn harmless(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
