//! Formats that nobody checks are accepted with a warning.

use std::collections::HashSet;

use rolewright_core::quote::Quoted;

use super::internal::Spec;
use super::props::Props;
use super::read::Object;

const FORMATS: [&str; 26] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Warnings about a definition. Those that its old form gave are not repeated.
pub fn warnings(definition: &Object, old: Option<&Object>) -> Vec<String> {
    let mut known: HashSet<String> = old.map(|old| unknown_formats(old).into_iter().collect()).unwrap_or_default();
    let mut formats = unknown_formats(definition);
    formats.retain(|format| known.insert(format.clone()));
    formats.into_iter().map(|format| format!("unrecognized format {}", Quoted(&format))).collect()
}

fn unknown_formats(definition: &Object) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for schema in Spec::of(definition).schemas() {
        schema.any(&mut |schema| {
            let format = schema.text("format");
            if !format.is_empty() && !is_known(schema) && seen.insert(format) {
                found.push(format.to_owned());
            }
            false
        });
    }
    found
}

fn is_known(schema: Props<'_>) -> bool {
    let format = schema.text("format");
    match schema.kind() {
        "" | "string" => FORMATS.binary_search(&format.replace('-', "").as_str()).is_ok(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}
