//! Managers name their fields as they are in the version that they used, which need not be that of a request.

use std::borrow::Cow;
use std::fmt;

use smol_str::SmolStr;

use super::compare::{Comparison, compare};
use super::entries::Entry;
use super::schema::Place;
use super::set::Set;
use super::validate::validate;
use super::{Kind, Request, names};
use crate::strategy::Object;

/// The versions of a kind.
pub trait Versions: fmt::Debug {
    /// An object in another version. `from` and `to` differ, and have at most one slash.
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted>;
}

/// An object in another version.
#[derive(Clone, Debug)]
pub struct Converted<'a> {
    /// The version.
    pub version: Version<'a>,
    /// The object.
    pub object: Object,
}

/// A version of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// What describes objects there.
    pub kind: Kind<'a>,
    /// Paths that writers do not come to own there.
    pub reset_fields: &'a [&'a str],
}

/// Why there is no object in another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unconverted {
    /// There is no such version. What was said of its fields is forgotten.
    Missing,
    /// It cannot be converted, and so nothing can be said of its fields.
    Failed(String),
}

/// A conversion between versions of a custom kind whose objects are the same in all of them, but for the version itself.
/// `find` knows a version by its name, for example `v1`.
pub fn unchanged<'a>(
    object: &Object,
    from: &str,
    to: &str,
    find: impl FnOnce(&str) -> Option<Version<'a>>,
) -> Result<Converted<'a>, Unconverted> {
    let (group, _) = split(from);
    let (other_group, version) = split(to);
    if group != other_group {
        let (from, to) = (super::group_version_kind(object), rolewright_core::quote::Quoted(to));
        return Err(Unconverted::Failed(format!("{from} is unstructured and is not suitable for converting to {to}")));
    }
    let invalid = || Unconverted::Failed(format!("request to convert CR to an invalid group/version: {to}"));
    let version = find(version).ok_or_else(invalid)?;
    let mut object = object.clone();
    object.insert("apiVersion".to_owned(), to.into());
    Ok(Converted { version, object })
}

/// Group and version: `apps/v1`, `v1`.
pub(super) fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// An object in a version.
#[derive(Clone, Debug)]
pub(super) struct Form<'a, 'o> {
    pub(super) version: SmolStr,
    pub(super) place: Place<'a>,
    pub(super) object: Cow<'o, Object>,
    reset_fields: &'a [&'a str],
}

impl<'a, 'o> Form<'a, 'o> {
    /// An object in the version of the request.
    pub(super) fn own(request: &Request<'a>, object: &'o Object) -> Self {
        Self {
            version: SmolStr::new(request.api_version),
            place: request.place(),
            object: Cow::Borrowed(object),
            reset_fields: request.reset_fields,
        }
    }

    /// The same object in a version, perhaps in its own.
    pub(super) fn at(&self, request: &Request<'a>, version: &str) -> Result<Form<'a, '_>, Unconverted> {
        if version == self.version {
            let Self { ref version, place, ref object, reset_fields } = *self;
            return Ok(Form { version: version.clone(), place, object: Cow::Borrowed(object), reset_fields });
        }
        if version.matches('/').count() > 1 {
            return Err(Unconverted::Failed(format!("unexpected GroupVersion string: {version}")));
        }
        let versions = request.versions.ok_or(Unconverted::Missing)?;
        let converted = versions.convert(&self.object, &self.version, version)?;
        let Converted { version: Version { kind, reset_fields }, object } = converted;
        let place = Place::root(kind);
        validate(place, &object, false).map_err(Unconverted::Failed)?;
        Ok(Form { version: SmolStr::new(version), place, object: Cow::Owned(object), reset_fields })
    }

    /// On its own.
    pub(super) fn into_owned(self) -> Form<'a, 'static> {
        Form {
            version: self.version,
            place: self.place,
            object: Cow::Owned(self.object.into_owned()),
            reset_fields: self.reset_fields,
        }
    }

    /// With another object of the same version.
    pub(super) fn with(&self, object: Object) -> Form<'a, 'static> {
        let Self { ref version, place, reset_fields, .. } = *self;
        Form { version: version.clone(), place, object: Cow::Owned(object), reset_fields }
    }
}

/// What changes from one object to another, in every version that a manager has used.
pub(super) struct Changes<'e> {
    all: Vec<(&'e str, Comparison)>,
}

impl<'e> Changes<'e> {
    /// `own` is what changes in the version of the request.
    pub(super) fn new<'a>(
        request: &Request<'a>,
        own: Comparison,
        entries: &[Entry<'e>],
        old: &Object,
        new: &Object,
    ) -> Result<Self, String>
    where
        'a: 'e,
    {
        let mut all = vec![(request.api_version, own)];
        for entry in entries {
            if all.iter().any(|(version, _)| *version == entry.version) {
                continue;
            }
            let before = Form::own(request, old);
            let before = match before.at(request, entry.version) {
                Ok(form) => form,
                // Entries of versions that are no more are gone by now.
                Err(Unconverted::Missing) => continue,
                Err(Unconverted::Failed(why)) => return Err(format!("failed to convert old object: {why}")),
            };
            let after = Form::own(request, new);
            let after = match after.at(request, entry.version) {
                Ok(form) => form,
                Err(Unconverted::Missing) => continue,
                Err(Unconverted::Failed(why)) => return Err(format!("failed to convert new object: {why}")),
            };
            let mut changes = compare(before.place, &before.object, &after.object)
                .map_err(|_| "failed to compare objects".to_owned())?;
            changes.exclude(&names(before.reset_fields));
            all.push((entry.version, changes));
        }
        Ok(Self { all })
    }

    /// What changes in the version of the request.
    pub(super) fn into_own(self) -> Comparison {
        self.all.into_iter().next().map(|(_, own)| own).unwrap_or_default()
    }

    fn of(&self, entry: &Entry<'_>) -> Option<&Comparison> {
        self.all.iter().find(|(version, _)| *version == entry.version).map(|(_, changes)| changes)
    }

    /// What an entry owns of what changes or is new.
    pub(super) fn against(&self, entry: &Entry<'_>) -> Set {
        let Some(changes) = self.of(entry) else { return Set::default() };
        entry.set.intersection(&changes.modified).union(entry.set.intersection(&changes.added))
    }

    /// Takes what has changed from everybody.
    pub(super) fn release(&self, entries: &mut Vec<Entry<'_>>) {
        entries.retain_mut(|entry| {
            let Some(changes) = self.of(entry) else { return false };
            entry.set.subtract(&changes.modified);
            entry.set.subtract(&changes.added);
            entry.set.subtract(&changes.removed);
            !entry.set.is_empty()
        });
    }
}

/// Drops entries of versions that are no more, and brings the others in line with their types.
pub(super) fn reconcile<'e>(request: &Request<'_>, live: &Object, entries: &mut Vec<Entry<'e>>) -> Result<(), String> {
    let mut places: Vec<(&'e str, Option<Place<'_>>)> = Vec::new();
    let own = Form::own(request, live);
    for entry in entries.iter().filter(|entry| entry.version != request.api_version) {
        if places.iter().all(|(version, _)| *version != entry.version) {
            let place = match own.at(request, entry.version) {
                Ok(form) => Some(form.place),
                Err(Unconverted::Missing) => None,
                Err(Unconverted::Failed(why)) => return Err(why),
            };
            places.push((entry.version, place));
        }
    }
    entries.retain_mut(|entry| {
        let place = match places.iter().find(|(version, _)| *version == entry.version) {
            Some((_, place)) => *place,
            None => Some(own.place),
        };
        place.inspect(|place| super::reconcile::reconcile(*place, &mut entry.set)).is_some()
    });
    Ok(())
}
