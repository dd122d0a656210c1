//! What is asked: a verb on a resource or on a URL.

/// One question to the authorizer. Borrowed throughout, so that asking costs no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The verb, case-sensitive: `get`, `list`, `create`, or any custom verb.
    pub verb: &'a str,
    /// What the verb is applied to.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// An object or a collection of the resource API.
    Resource(ResourceRequest<'a>),
    /// A path outside the resource API, such as `/healthz`.
    Url(&'a str),
}

/// A request to the resource API. Every field may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceRequest<'a> {
    /// API group, `""` for core.
    pub group: &'a str,
    /// Plural resource name.
    pub resource: &'a str,
    /// Subresource, or `""`.
    pub subresource: &'a str,
    /// Namespace, or `""` at cluster scope.
    pub namespace: &'a str,
    /// Object name, or `""` where the request names none (create, list, watch, deletecollection).
    pub name: &'a str,
}

impl<'a> Request<'a> {
    /// A request on a collection at cluster scope; narrow it with the methods below.
    pub fn resource(verb: &'a str, group: &'a str, resource: &'a str) -> Self {
        Self { verb, target: Target::Resource(ResourceRequest { group, resource, ..ResourceRequest::default() }) }
    }

    /// A request on a path outside the resource API.
    pub fn url(verb: &'a str, path: &'a str) -> Self {
        Self { verb, target: Target::Url(path) }
    }

    /// The same request, in a namespace.
    pub fn in_namespace(self, namespace: &'a str) -> Self {
        self.on(|r| r.namespace = namespace)
    }

    /// The same request, on a subresource.
    pub fn subresource(self, subresource: &'a str) -> Self {
        self.on(|r| r.subresource = subresource)
    }

    /// The same request, on one object.
    pub fn named(self, name: &'a str) -> Self {
        self.on(|r| r.name = name)
    }

    /// The namespace, `""` at cluster scope and for URLs.
    pub fn namespace(&self) -> &'a str {
        match self.target {
            Target::Resource(r) => r.namespace,
            Target::Url(_) => "",
        }
    }

    fn on(mut self, change: impl FnOnce(&mut ResourceRequest<'a>)) -> Self {
        if let Target::Resource(r) = &mut self.target {
            change(r);
        }
        self
    }
}
