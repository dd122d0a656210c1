//! Addresses of the web as values.
use std::sync::Arc;

use super::opaque::Opaque;
use crate::url::{Part, Url, unescape};
use crate::value::collection::{Made, Map};
use crate::value::{Outcome, Value, fault};

/// Kubernetes wants what is an address in a request, and reads it as any.
fn parse(text: &str) -> Result<Url, String> {
    Url::parse_request(text)?;
    Url::parse(text)
}

fn query<'a>(url: &Url) -> Value<'a> {
    let mut entries: Vec<(String, Vec<String>)> = Vec::new();
    let text = |part: &str| unescape(part, Part::Query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    for pair in url.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Ok(key), Ok(value)) = (text(key), text(value)) else { continue };
        match entries.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => entries.push((key, vec![value])),
        }
    }
    let mut made = Made::default();
    for (key, values) in entries {
        made.set(Value::text(key), Value::strings(values));
    }
    Value::Map(Map::Made(Arc::new(made)))
}

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (id, args.first()?) {
        ("string_to_url", Value::String(text)) => Some(match parse(text) {
            Ok(url) => Ok(Value::Opaque(Arc::new(Opaque::Url(url)))),
            Err(error) => fault(format!("URL parse error during conversion from string: {error}")),
        }),
        ("is_url_string", Value::String(text)) => Some(Ok(Value::Bool(Url::parse_request(text).is_ok()))),
        (_, Value::Opaque(opaque)) => {
            let Opaque::Url(url) = &**opaque else { return None };
            Some(Ok(match id {
                "url_get_scheme" => Value::text(url.scheme.as_str()),
                "url_get_host" => Value::text(url.host.as_str()),
                "url_get_hostname" => Value::text(url.split_host().0),
                "url_get_port" => Value::text(url.split_host().1),
                "url_get_escaped_path" => Value::text(url.escaped_path()),
                "url_get_query" => query(url),
                _ => return None,
            }))
        }
        _ => None,
    }
}
