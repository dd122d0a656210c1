//! Kinds that are asked and not kept: reviews of access and of tokens, and tokens themselves.

use axum::http::StatusCode;
use rolewright_core::validate::{BadValue, FieldError, Path};
use rolewright_core::{Request, Rule, User};
use serde_json::{Value, json};

use crate::authn;
use crate::codec;
use crate::http::auditing::Issued;
use crate::http::negotiate::{ACCEPTED, Form};
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::query::WriteOptions;
use crate::registry::{Call, meta};
use crate::status::Failure;
use crate::strategy::Object;

/// The answer to a review; nothing if the resource is no review.
pub(crate) fn answer(call: &Call<'_>) -> Option<Result<Answer, Failure>> {
    let review = match (call.served.group.as_str(), call.served.plural.as_str()) {
        ("authorization.k8s.io", "subjectaccessreviews") => subject_access,
        ("authorization.k8s.io", "selfsubjectaccessreviews") => self_subject_access,
        ("authorization.k8s.io", "localsubjectaccessreviews") => local_subject_access,
        ("authorization.k8s.io", "selfsubjectrulesreviews") => self_subject_rules,
        ("authentication.k8s.io", "tokenreviews") => token_review,
        ("authentication.k8s.io", "selfsubjectreviews") => self_subject,
        _ => return None,
    };
    Some(created(call, review))
}

fn created(call: &Call<'_>, review: fn(&Call<'_>, Object) -> Result<Object, Failure>) -> Result<Answer, Failure> {
    if call.form()? != Form::Object {
        return Err(Failure::not_acceptable(&ACCEPTED));
    }
    let options = WriteOptions::create(&call.query)?;
    let expected = codec::Gvk { group: &call.served.group, version: &call.served.version, kind: &call.served.kind };
    let decoded = codec::decode(call.content_type, &call.body, expected, options.field_validation)?;
    call.warn(decoded.warnings);
    let mut object = decoded.object;
    call.note(&object);
    let given = meta(&object, "namespace");
    if call.served.namespaced && !given.is_empty() && given != call.info.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if !call.served.namespaced
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.remove("namespace");
    }
    if call.served.namespaced {
        crate::registry::set_meta(&mut object, "namespace", call.info.namespace.as_str());
    }
    let manager = crate::managed::manager(&options.field_manager, call.user_agent);
    crate::ownership::track(call.served, None, &mut object, &manager, "");
    let reviewed = review(call, object)?;
    Ok(respond::value(StatusCode::CREATED, &conformed(call.served, reviewed)))
}

fn conformed(served: &crate::catalog::Served, object: Object) -> Value {
    let fallback = Value::Object(object.clone());
    let Some(built_in) = served.built_in() else { return fallback };
    codec::conform(built_in.ty, Value::Object(object)).map_or(fallback, |conformed| conformed.value)
}

/// Who is asked about.
fn subject(spec: &Value) -> User {
    let groups = spec.get("groups").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    User::new(text(spec, "user"), groups)
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn subject_access(call: &Call<'_>, review: Object) -> Result<Object, Failure> {
    let spec = spec(&review);
    let mut errors = attribute_errors(&spec);
    errors.extend(subject_errors(&spec));
    errors.extend(selector_errors(&spec));
    errors.extend(metadata_errors(&review, &[], "must be empty"));
    checked(call, &errors)?;
    Ok(decided(call, review, &subject(&spec)))
}

fn self_subject_access(call: &Call<'_>, review: Object) -> Result<Object, Failure> {
    let spec = spec(&review);
    let mut errors = attribute_errors(&spec);
    errors.extend(selector_errors(&spec));
    errors.extend(metadata_errors(&review, &[], "must be empty"));
    checked(call, &errors)?;
    Ok(decided(call, review, &call.identity.user.clone()))
}

fn local_subject_access(call: &Call<'_>, review: Object) -> Result<Object, Failure> {
    let spec = spec(&review);
    let mut errors = attribute_errors(&spec);
    errors.extend(subject_errors(&spec));
    errors.extend(selector_errors(&spec));
    errors.extend(metadata_errors(&review, &["namespace"], "must be empty except for namespace"));
    if let Some(attributes) = spec.get("resourceAttributes").filter(|attributes| !attributes.is_null()) {
        let namespace = text(attributes, "namespace");
        if namespace != call.info.namespace {
            let at = Path::field("spec.resourceAttributes.namespace");
            errors.push(FieldError::invalid(at, namespace, "must match metadata.namespace"));
        }
    }
    if let Some(attributes) = spec.get("nonResourceAttributes").filter(|attributes| !attributes.is_null()) {
        let at = Path::field("spec.nonResourceAttributes");
        errors.push(FieldError::invalid(at, go_value(attributes), "disallowed on this kind of request"));
    }
    checked(call, &errors)?;
    Ok(decided(call, review, &subject(&spec)))
}

fn spec(review: &Object) -> Value {
    review.get("spec").cloned().unwrap_or_else(|| json!({}))
}

fn checked(call: &Call<'_>, errors: &[FieldError]) -> Result<(), Failure> {
    if errors.is_empty() {
        return Ok(());
    }
    // Kubernetes takes the kind from an object that has lost it by then.
    Err(Failure::invalid(&call.served.group, "", "", errors))
}

fn attribute_errors(spec: &Value) -> Vec<FieldError> {
    let given = |member: &str| spec.get(member).filter(|value| !value.is_null());
    let at = Path::field("spec");
    match (given("resourceAttributes"), given("nonResourceAttributes")) {
        (Some(_), Some(url)) => vec![FieldError::invalid(
            at.child("nonResourceAttributes"),
            go_value(url),
            "cannot be specified in combination with resourceAttributes",
        )],
        (None, None) => vec![FieldError::invalid(
            at.child("resourceAttributes"),
            BadValue::null(),
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )],
        _ => Vec::new(),
    }
}

/// Non-resource attributes as Go shows its struct.
fn go_value(attributes: &Value) -> BadValue {
    BadValue::fields([("Path", text(attributes, "path")), ("Verb", text(attributes, "verb"))])
}

fn subject_errors(spec: &Value) -> Vec<FieldError> {
    let groups = spec.get("groups").and_then(Value::as_array).is_some_and(|groups| !groups.is_empty());
    if groups || !text(spec, "user").is_empty() {
        return Vec::new();
    }
    vec![FieldError::invalid(Path::field("spec").child("user"), "", "at least one of user or group must be specified")]
}

fn selector_errors(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for member in ["fieldSelector", "labelSelector"] {
        let selector = spec.get("resourceAttributes").and_then(|attributes| attributes.get(member));
        let Some(selector) = selector.filter(|selector| !selector.is_null()) else { continue };
        let base = Path::field("spec.resourceAttributes");
        let at = base.child(member);
        let raw = text(selector, "rawSelector");
        let requirements = selector.get("requirements").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        if !raw.is_empty() && requirements {
            let why = "may not specified at the same time as requirements";
            errors.push(FieldError::invalid(at.child("rawSelector"), raw, why));
        }
        if raw.is_empty() && !requirements {
            let why =
                format!("when spec.resourceAttributes.{member} is specified, requirements or rawSelector is required");
            errors.push(FieldError::required(at.child("requirements"), why));
        }
    }
    errors
}

/// Reviews have no metadata of their own.
fn metadata_errors(review: &Object, except: &[&str], why: &str) -> Vec<FieldError> {
    let metadata = review.get("metadata").and_then(Value::as_object);
    let filled =
        |(key, value): (&String, &Value)| !except.contains(&key.as_str()) && key != "managedFields" && !value.is_null();
    let Some(metadata) = metadata.filter(|metadata| metadata.iter().any(filled)) else { return Vec::new() };
    let value = Value::Object(metadata.clone());
    let shown =
        match crate::facts::type_of("meta.k8s.io", "v1", "PartialObjectMetadata").and_then(|ty| ty.field("metadata")) {
            Some(crate::facts::Field { ty: crate::facts::Ty::Ref(ty), .. }) => codec::ordered(ty, &value),
            _ => value.to_string(),
        };
    let value = BadValue::Json(shown);
    vec![FieldError::invalid(Path::field("metadata"), value, why)]
}

fn decided(call: &Call<'_>, mut review: Object, user: &User) -> Object {
    let spec = spec(&review);
    let state = call.server.cluster().read();
    let attributes = spec.get("resourceAttributes").filter(|attributes| !attributes.is_null());
    let url = spec.get("nonResourceAttributes").unwrap_or(&Value::Null);
    let request = match attributes {
        Some(on) => Request::resource(text(on, "verb"), text(on, "group"), text(on, "resource"))
            .subresource(text(on, "subresource"))
            .in_namespace(text(on, "namespace"))
            .named(text(on, "name")),
        None => Request::url(text(url, "verb"), text(url, "path")),
    };
    let decision = state.rights.authorizer.explain(user, &request);
    let mut status = json!({"allowed": decision.allowed});
    let reason = decision.text();
    if !reason.is_empty() {
        put(&mut status, "reason", reason);
    }
    review.insert("status".into(), status);
    review
}

#[expect(clippy::needless_pass_by_value, reason = "reviews are all called alike")]
fn self_subject_rules(call: &Call<'_>, review: Object) -> Result<Object, Failure> {
    let namespace = spec(&review).get("namespace").and_then(Value::as_str).unwrap_or_default().to_owned();
    if namespace.is_empty() {
        return Err(Failure::bad_request("no namespace on request"));
    }
    let state = call.server.cluster().read();
    let effective = state.rights.authorizer.rules_for(&call.identity.user, &namespace);
    let rules: Vec<&Rule> = effective.rules().collect();
    let resources: Vec<Value> =
        rules.iter().filter(|rule| !rule.resources.is_empty()).map(|rule| resource_rule(rule)).collect();
    let urls: Vec<Value> = rules
        .iter()
        .filter(|rule| !rule.non_resource_urls.is_empty())
        .map(|rule| json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls}))
        .collect();
    let mut status = json!({"resourceRules": resources, "nonResourceRules": urls, "incomplete": false});
    if !effective.unresolved.is_empty() {
        put(&mut status, "evaluationError", rolewright_core::authorize::Unresolved::list(&effective.unresolved));
    }
    let mut answer = Object::new();
    for member in ["apiVersion", "kind"] {
        answer.insert(member.into(), review.get(member).cloned().unwrap_or_default());
    }
    answer.insert("metadata".into(), json!({}));
    answer.insert("spec".into(), json!({}));
    answer.insert("status".into(), status);
    Ok(answer)
}

fn resource_rule(rule: &Rule) -> Value {
    let mut entry = json!({"verbs": rule.verbs, "apiGroups": rule.api_groups, "resources": rule.resources});
    if !rule.resource_names.is_empty() {
        put(&mut entry, "resourceNames", json!(rule.resource_names));
    }
    entry
}

fn token_review(call: &Call<'_>, review: Object) -> Result<Object, Failure> {
    authn::token_review(call.server.authenticator(), review, crate::time::now())
}

fn self_subject(call: &Call<'_>, _: Object) -> Result<Object, Failure> {
    let Value::Object(review) = authn::self_subject_review(call.identity, crate::time::now()) else {
        return Err(Failure::internal("a review is an object"));
    };
    Ok(review)
}

/// `POST ../serviceaccounts/NAME/token`
pub(crate) fn token(call: &Call<'_>) -> Result<Answer, Failure> {
    call.form()?;
    let options = WriteOptions::create(&call.query)?;
    let expected = codec::Gvk { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
    let decoded = codec::decode(call.content_type, &call.body, expected, options.field_validation)?;
    call.warn(decoded.warnings);
    let mut object = decoded.object;
    call.note(&object);
    let manager = crate::managed::manager(&options.field_manager, call.user_agent);
    let ty = crate::facts::type_of(expected.group, expected.version, expected.kind);
    let authenticator = call.server.authenticator();
    let (namespace, name) = (&call.info.namespace, &call.info.name);
    if let Some(ty) = ty {
        // Kubernetes fills in the default before it notes who wrote what.
        if let Some(spec) = object.entry("spec").or_insert_with(|| json!({})).as_object_mut()
            && spec.get("expirationSeconds").is_none_or(Value::is_null)
        {
            spec.insert("expirationSeconds".into(), 3600.into());
        }
        let request = crate::managed::Request {
            kind: crate::managed::Kind::BuiltIn(ty),
            name: expected.kind,
            api_version: "authentication.k8s.io/v1",
            manager: &manager,
            subresource: "token",
            reset_fields: &[],
            versions: None,
            now: &crate::time::seconds(crate::time::now()),
        };
        crate::managed::update(&request, None, &mut object);
    }
    let requested = authn::token_request(authenticator, namespace, name, &object, crate::time::now())?;
    let mut answer = respond::value(StatusCode::CREATED, &Value::Object(requested.object));
    answer.extensions_mut().insert(Issued(requested.credential_id));
    Ok(answer)
}
