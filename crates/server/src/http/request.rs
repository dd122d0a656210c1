//! What a request asks for, read from its method and URL as Kubernetes reads them.

use axum::http::Method;

use crate::selector::field::FieldSelector;

/// A request, taken apart. Everything but the verb comes from the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a URL")]
pub(crate) struct RequestInfo {
    /// `get`, `list`, ..; the method in lower case for URLs that are no resource.
    pub(crate) verb: String,
    /// The decoded path.
    pub(crate) path: String,
    /// It is about a resource.
    pub(crate) is_resource: bool,
    /// Under `/apis`, not `/api`.
    pub(crate) named_group: bool,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: String,
    pub(crate) resource: String,
    pub(crate) name: String,
    pub(crate) subresource: String,
    /// What is left of the path after the subresource.
    pub(crate) rest: Vec<String>,
    /// The name is not in the path: a field selector narrows the list to it.
    pub(crate) selected: bool,
    /// The path starts with the old `watch/` form.
    pub(crate) old_watch: bool,
}

/// Subresources that a namespace has; anything else after its name is a resource in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl RequestInfo {
    /// Takes a request apart.
    pub(crate) fn read(method: &Method, path: &str, query: &str) -> Self {
        let path = decode(path);
        let verb = method.as_str().to_ascii_lowercase();
        let mut info = Self { verb, ..Self::default() };
        let parts: Vec<String> = path.trim_matches('/').split('/').map(str::to_owned).collect();
        let used = match parts.first().map(String::as_str) {
            Some("api") => 2,
            Some("apis") => 3,
            _ => usize::MAX,
        };
        info.path = path;
        if parts.len() <= used || parts.iter().skip(used).all(String::is_empty) {
            return info;
        }
        let mut parts = parts.into_iter();
        info.named_group = parts.next().as_deref() == Some("apis");
        if info.named_group {
            info.group = parts.next().unwrap_or_default();
        }
        info.version = parts.next().unwrap_or_default();
        info.is_resource = true;
        let verb = match *method {
            Method::POST => "create",
            Method::GET | Method::HEAD => "get",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => "",
        };
        verb.clone_into(&mut info.verb);
        let mut parts = parts.peekable();
        if parts.peek().is_some_and(|part| part == "watch") {
            parts.next();
            "watch".clone_into(&mut info.verb);
            info.old_watch = true;
        }
        let mut rest: Vec<String> = parts.collect();
        if rest.first().is_some_and(|part| part == "namespaces")
            && let Some(namespace) = rest.get(1)
        {
            info.namespace.clone_from(namespace);
            if rest.get(2).is_some_and(|part| !NAMESPACE_SUBRESOURCES.contains(&part.as_str())) {
                rest.drain(..2);
            }
        }
        let mut rest = rest.into_iter();
        info.resource = rest.next().unwrap_or_default();
        info.name = rest.next().unwrap_or_default();
        info.subresource = rest.next().unwrap_or_default();
        info.rest = rest.collect();
        if info.name.is_empty() {
            info.widen(query);
        }
        info
    }

    /// Without a name, reading is listing or watching, and deleting is deleting all.
    fn widen(&mut self, query: &str) {
        match self.verb.as_str() {
            "get" => {
                let watch = parameters(query).find(|(key, _)| key == "watch").map(|(_, value)| truth(&value));
                let verb = if watch == Some(true) { "watch" } else { "list" };
                verb.clone_into(&mut self.verb);
                let selected =
                    parameters(query).find(|(key, _)| key == "fieldSelector").and_then(|(_, text)| only_name(&text));
                self.selected = selected.is_some();
                self.name = selected.unwrap_or_default();
            }
            "delete" => "deletecollection".clone_into(&mut self.verb),
            _ => {}
        }
    }
}

/// The name that a field selector narrows a list to. Authorization by resourceNames sees it, but not when many are
/// deleted.
fn only_name(selector: &str) -> Option<String> {
    let selector = FieldSelector::parse(selector).ok()?;
    let name = selector.exact("metadata.name")?;
    let is_segment = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%']);
    is_segment.then(|| name.to_owned())
}

/// Kubernetes' booleans in queries: everything but `false` and `0` is true.
fn truth(text: &str) -> bool {
    !(text.eq_ignore_ascii_case("false") || text == "0")
}

/// The parameters of a query, decoded; `?&a=b` is tolerated.
pub(crate) fn parameters(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(&key.replace('+', " ")), decode(&value.replace('+', " ")))
    })
}

/// Percent-decoding; what is no escape stays as it is.
fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_kubernetes_reads_them() {
        #[rustfmt::skip]
        let cases = [
            // method, path, query, verb, group, version, namespace, resource, name, subresource
            ("GET", "/api/v1/pods", "", "list", "", "v1", "", "pods", "", ""),
            ("GET", "/api/v1/namespaces/a/pods", "watch=1", "watch", "", "v1", "a", "pods", "", ""),
            ("GET", "/api/v1/namespaces/a/pods", "watch=false", "list", "", "v1", "a", "pods", "", ""),
            ("GET", "/api/v1/namespaces/a/pods/p", "watch=1", "get", "", "v1", "a", "pods", "p", ""),
            ("GET", "/api/v1/namespaces", "", "list", "", "v1", "", "namespaces", "", ""),
            ("GET", "/api/v1/namespaces/a", "", "get", "", "v1", "a", "namespaces", "a", ""),
            ("PUT", "/api/v1/namespaces/a/finalize", "", "update", "", "v1", "a", "namespaces", "a", "finalize"),
            ("DELETE", "/api/v1/namespaces/a/configmaps", "", "deletecollection", "", "v1", "a", "configmaps", "", ""),
            ("PATCH", "/apis/apps/v1/namespaces/a/deployments/d/status", "", "patch", "apps", "v1", "a", "deployments", "d", "status"),
            ("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", "", "get", "rbac.authorization.k8s.io", "v1", "", "clusterroles", "system:node", ""),
            ("GET", "/api/v1/watch/namespaces/a/pods", "", "watch", "", "v1", "a", "pods", "", ""),
            ("GET", "/api/v1/namespaces/a/secrets", "&fieldSelector=metadata.name%3Dx&watch=true", "watch", "", "v1", "a", "secrets", "x", ""),
            ("DELETE", "/api/v1/namespaces/a/secrets", "&fieldSelector=metadata.name%3Dx", "deletecollection", "", "v1", "a", "secrets", "", ""),
            ("GET", "/api/v1/", "", "get", "", "", "", "", "", ""),
            ("GET", "/apis/apps", "", "get", "", "", "", "", "", ""),
            ("HEAD", "/healthz", "", "head", "", "", "", "", "", ""),
        ];
        for (method, path, query, verb, group, version, namespace, resource, name, subresource) in cases {
            let info = RequestInfo::read(&method.parse().unwrap(), path, query);
            let read = [
                &info.verb,
                &info.group,
                &info.version,
                &info.namespace,
                &info.resource,
                &info.name,
                &info.subresource,
            ];
            assert_eq!(read, [verb, group, version, namespace, resource, name, subresource], "{method} {path}?{query}");
            assert_eq!(info.is_resource, !resource.is_empty());
        }
    }
}
