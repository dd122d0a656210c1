//! A schema as a whole, and each schema in it: what OpenAPI has and Kubernetes does not, and how the extensions of
//! Kubernetes go together.

use rolewright_core::validate::{BadValue, Path};
use serde_json::Value;

use super::faults::Faults;
use super::internal::schema_of;
use super::props::{Additional, Items, Props};
use super::read::Object;
use super::rules::{Budget, Scope};
use super::shown;
use super::strictness::Strictness;
use super::{defaults, lists, rules, structural};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// The fields that the root may have if status is a subresource.
const AT_ROOT: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// Whether the type is none of OpenAPI's.
pub(super) fn has_unknown_type(schema: Props<'_>) -> bool {
    !schema.kind().is_empty() && !TYPES.contains(&schema.kind())
}

/// Checks the `schema` of a version, or of all. `has_status`: status is a subresource.
pub(super) fn check(
    faults: &mut Faults,
    validation: Option<&Object>,
    has_status: bool,
    (strict, any_cost): (&Strictness<'_>, bool),
    at: Path<'_>,
) {
    let Some(schema) = schema_of(validation) else { return };
    let at = at.child("openAPIV3Schema");
    let before = faults.count();
    if has_status {
        check_root(faults, schema, at);
    }
    if schema.flag("nullable") {
        faults.forbidden(with_suffix(at, &mut String::new(), "nullable"), "nullable cannot be true at the root");
    }
    let mut unreadable = None;
    let mut judges_rules = false;
    if strict.structural {
        unreadable = structural::unreadable(schema);
        if unreadable.is_none() {
            let mut wrong = structural::faults(schema, at);
            if wrong.is_empty() {
                wrong = defaults::faults(schema, strict.pruned_defaults, strict.meta, at);
            }
            judges_rules = wrong.is_empty();
            faults.extend(wrong);
        }
    }
    let mut walk = Walk { faults, rule_faults: Faults::new(), budget: Budget::new(any_cost), strict };
    let place = Place { defaults: None, inside_metadata: false, uncorrelatable: None, is_root: true };
    walk.check(schema, place, judges_rules.then(|| Scope::root(schema)), at);
    let Walk { rule_faults, budget, .. } = walk;
    faults.extend(rule_faults.into_vec());
    if faults.count() == before
        && let Some(why) = unreadable
    {
        faults.invalid(at, "", why);
    }
    if judges_rules {
        budget.tell(faults, at);
    }
}

/// A path whose last two names are one text, as some errors have it.
fn with_suffix<'a>(at: Path<'a>, room: &'a mut String, suffix: &str) -> Path<'a> {
    match at {
        Path::Field(parent, name) => {
            *room = format!("{name}.{suffix}");
            parent.child(room)
        }
        at => at,
    }
}

/// Only what still holds when the schema of the status stands alone is allowed beside it.
fn check_root(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    for (go, key) in shown::FIELDS {
        let is_set = match schema.0.get(*key) {
            None => false,
            Some(Value::Null) => *key == "items",
            Some(Value::Bool(flag)) => {
                *flag
                    || matches!(
                        *key,
                        "additionalProperties" | "additionalItems" | "x-kubernetes-preserve-unknown-fields"
                    )
            }
            Some(Value::String(text)) => {
                !text.is_empty()
                    || matches!(
                        *key,
                        "$ref" | "default" | "example" | "x-kubernetes-list-type" | "x-kubernetes-map-type"
                    )
            }
            Some(_) => true,
        };
        if !is_set {
            continue;
        }
        if *go == "Type" {
            if schema.kind() != "object" {
                let why = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
                return faults.invalid(with_suffix(at, &mut String::new(), "type"), schema.kind(), why);
            }
        } else if !AT_ROOT.contains(go) {
            let known = AT_ROOT.join(" ");
            let why = format!(
                "only [{known}] fields are allowed at the root of the schema if the status subresource is enabled"
            );
            return faults.invalid(at, shown::schema(schema), why);
        }
    }
}

/// Where a schema stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Why there may be no defaults.
    defaults: Option<&'static str>,
    /// Inside of what every object has.
    inside_metadata: bool,
    /// The list or map above whose old and new items cannot be told apart.
    uncorrelatable: Option<Path<'a>>,
    is_root: bool,
}

impl<'a> Place<'a> {
    fn uncorrelated(self, at: Path<'a>) -> Self {
        Self { uncorrelatable: self.uncorrelatable.or(Some(at)), ..self }
    }
}

struct Walk<'f> {
    faults: &'f mut Faults,
    /// Errors in rules come after all others.
    rule_faults: Faults,
    budget: Budget,
    strict: &'f Strictness<'f>,
}

impl Walk<'_> {
    fn check(&mut self, schema: Props<'_>, place: Place<'_>, scope: Option<Scope>, at: Path<'_>) {
        if self.faults.is_full() {
            return;
        }
        let before = self.faults.count();
        self.check_own(schema, place, at);
        if schema.flag("uniqueItems") {
            let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.faults.forbidden(at.child("uniqueItems"), why);
        }
        let below = Place { is_root: false, ..place };
        self.check_properties(schema, place, scope, at);
        if let Some(not) = schema.schema("not") {
            self.check(not, below, None, at.child("not"));
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            let at = at.child(key);
            for (i, clause) in schema.schemas(key) {
                self.check(clause, below, None, at.index(i));
            }
        }
        let definitions = at.child("definitions");
        for (name, definition) in schema.entries("definitions") {
            self.check(definition, below, None, definitions.key(name));
        }
        self.check_items(schema, below, scope, at);
        let dependencies = at.child("dependencies");
        for (name, dependency) in schema.entries("dependencies") {
            self.check(dependency, below, None, dependencies.key(name));
        }
        if schema.preserves() == Some(false) {
            let no = BadValue::Json("false".to_owned());
            self.faults.invalid(at.child("x-kubernetes-preserve-unknown-fields"), no, "must be true or undefined");
        }
        lists::check(self.faults, schema, self.strict, at);
        if schema.has_rules() {
            rules::check_texts(self.faults, schema, at);
            if self.faults.count() == before
                && let Some(scope) = scope
            {
                let rules = rules::Rules {
                    schema,
                    is_resource: place.is_root || schema.flag("x-kubernetes-embedded-resource"),
                    uncorrelatable: place.uncorrelatable,
                };
                rules.check(&mut self.rule_faults, &mut self.budget, scope, at);
            }
        }
    }

    /// What a schema may not have, wherever it stands.
    fn check_own(&mut self, schema: Props<'_>, place: Place<'_>, at: Path<'_>) {
        let kind = schema.kind();
        if self.strict.types && !kind.is_empty() && !TYPES.contains(&kind) {
            self.faults.not_supported(at.child("type"), kind, &TYPES);
        }
        if schema.has("default")
            && let Some(why) = place.defaults
        {
            self.faults.forbidden(at.child("default"), format!("must not be set {why}"));
        }
        if !schema.text("id").is_empty() {
            self.faults.forbidden(at.child("id"), "id is not supported");
        }
        let filled = |key| schema.filled(key);
        for (is_there, key) in [
            (schema.has("additionalItems"), "additionalItems"),
            (filled("patternProperties"), "patternProperties"),
            (filled("definitions"), "definitions"),
            (schema.has("dependencies"), "dependencies"),
            (schema.has("$ref"), "$ref"),
        ] {
            if is_there {
                self.faults.forbidden(at.child(key), format!("{key} is not supported"));
            }
        }
        if kind == "null" {
            self.faults.forbidden(at.child("type"), "type cannot be set to null, use nullable as an alternative");
        }
        if let Some(Items::List(_)) = schema.items() {
            self.faults.forbidden(at.child("items"), "items must be a schema object and not an array");
        }
        if place.inside_metadata && schema.flag("x-kubernetes-embedded-resource") {
            let why = "must not be used inside of resource meta";
            self.faults.forbidden(at.child("x-kubernetes-embedded-resource"), why);
        }
    }

    fn check_properties(&mut self, schema: Props<'_>, place: Place<'_>, scope: Option<Scope>, at: Path<'_>) {
        let mut below = Place { is_root: false, ..place };
        if let Some(additional) = schema.additional() {
            if schema.filled("properties") && !matches!(additional, Additional::Flag(true)) {
                let why = "additionalProperties and properties are mutual exclusive";
                self.faults.forbidden(at.child("additionalProperties"), why);
            }
            if let Additional::Schema(additional) = additional {
                let why = place.inside_metadata.then_some("inside additionalProperties applying to object metadata");
                let place = Place { defaults: why.or(place.defaults), ..below };
                let scope = scope.map(|scope| scope.child(schema, additional));
                self.check(additional, place, scope, at.child("additionalProperties"));
            }
        }
        if schema.map_type().is_some_and(|map| !["atomic", "granular"].contains(&map)) {
            below = below.uncorrelated(at);
        }
        let properties = at.child("properties");
        let at_root = place.is_root;
        let is_object = at_root || schema.flag("x-kubernetes-embedded-resource");
        for (name, property) in schema.entries("properties") {
            let mut place = below;
            let top = match name.as_str() {
                "metadata" => "in top-level metadata",
                "kind" => "in top-level kind",
                "apiVersion" => "in top-level apiVersion",
                _ => "",
            };
            if is_object && !top.is_empty() {
                place.inside_metadata = true;
                if at_root {
                    place.defaults = Some(top);
                }
            }
            let scope = scope.map(|scope| scope.child(schema, property));
            self.check(property, place, scope, properties.key(name));
        }
    }

    fn check_items(&mut self, schema: Props<'_>, below: Place<'_>, scope: Option<Scope>, at: Path<'_>) {
        let Some(items) = schema.items() else { return };
        let place = if schema.list_type() == Some("map") { below } else { below.uncorrelated(at) };
        let at = at.child("items");
        match items {
            Items::Schema(item) => self.check(item, place, scope.map(|scope| scope.child(schema, item)), at),
            Items::List(list) => {
                let each = list.iter().enumerate().filter_map(|(i, item)| Some((i, Props::of(Some(item))?)));
                for (i, item) in each {
                    self.check(item, place, scope.map(|scope| scope.child(schema, item)), at.index(i));
                }
            }
            Items::Nothing => {}
        }
    }
}
