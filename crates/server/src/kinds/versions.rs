//! Objects of one built-in kind in its several versions.

use serde_json::Value;

use super::conversion;
use crate::codec::conform;
use crate::facts::{self, Resource};
use crate::managed::{Converted, Kind, Unconverted, Version, Versions};
use crate::strategy::Object;

/// The versions of a built-in resource. The same objects may be in two groups, but each group knows only its own kinds.
#[derive(Debug)]
pub struct BuiltInVersions<'a> {
    /// The resource in any of its versions.
    pub resource: &'static Resource,
    /// The subresource that a client writes to, or nothing.
    pub subresource: &'a str,
}

impl BuiltInVersions<'_> {
    fn find(&self, api_version: &str) -> Result<&'static Resource, Unconverted> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is = |other: &&Resource| {
            (other.group, other.version, other.plural) == (group, version, self.resource.plural)
                && group == self.resource.group
        };
        facts::resources().iter().find(is).ok_or(Unconverted::Missing)
    }
}

impl Versions for BuiltInVersions<'_> {
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted> {
        let (from, to) = (self.find(from)?, self.find(to)?);
        let ty = |of: &Resource| facts::type_of(of.group, of.version, of.kind).ok_or(Unconverted::Missing);
        let conformed = conform(ty(from)?, Value::Object(object.clone())).map_err(Unconverted::Failed)?;
        let Value::Object(mut object) = conformed.value else { return Err(Unconverted::Missing) };
        if let Some(conversion) = conversion(from.group, from.version, from.plural) {
            object = (conversion.to_stored)(&object);
        }
        if let Some(conversion) = conversion(to.group, to.version, to.plural) {
            object = (conversion.from_stored)(&object);
        }
        object.insert("apiVersion".to_owned(), crate::catalog::api_version(to.group, to.version).into());
        let (kind, reset_fields) = (Kind::BuiltIn(ty(to)?), reset_fields(to, self.subresource));
        Ok(Converted { version: Version { kind, reset_fields }, object })
    }
}

/// Paths that writers of a resource or subresource do not come to own.
pub fn reset_fields(resource: &'static Resource, subresource: &str) -> &'static [&'static str] {
    let sub = resource.subresources.iter().find(|sub| sub.name == subresource);
    sub.map_or(resource.handling.reset_fields, |sub| sub.handling.reset_fields)
}
