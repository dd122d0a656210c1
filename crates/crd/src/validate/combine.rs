//! `anyOf`, `oneOf`, `allOf` and `not`.

use rolewright_core::quote::Quoted;

use super::Check;
use super::fault::Fault;
use super::place::Place;
use crate::go::Data;
use crate::schema::{Facet, Schema};

impl Check {
    /// The number is as for [`Check::value`].
    pub(super) fn combinations(&mut self, schema: &Schema, data: Data<'_>, at: &Place<'_>) -> usize {
        let (mut any, mut one, mut all, mut not) = (None, None, None, None);
        for facet in schema.facets() {
            match facet {
                Facet::AnyOf(schemas) => any = Some(schemas),
                Facet::OneOf(schemas) => one = Some(schemas),
                Facet::AllOf(schemas) => all = Some(schemas),
                Facet::Not(schema) => not = Some(schema),
                _ => {}
            }
        }
        let mut matched = 1;
        matched += any.map_or(0, |schemas| self.any_of(schemas, data, at));
        matched += one.map_or(0, |schemas| self.one_of(schemas, data, at));
        matched += all.map_or(0, |schemas| self.all_of(schemas, data, at));
        if not.is_some_and(|schema| attempt(schema, data, at).is_ok()) {
            self.fault(|base| {
                Fault::general(base, format!("{} must not validate the schema (not)", Quoted(&at.to_string())))
            });
        }
        matched
    }

    fn any_of(&mut self, schemas: &[Schema], data: Data<'_>, at: &Place<'_>) -> usize {
        let mut nearest = Nearest::default();
        for schema in schemas {
            match attempt(schema, data, at) {
                Ok(matched) => return matched,
                Err(matched) => nearest.offer(schema, matched),
            }
        }
        self.fault(|base| {
            Fault::general(base, format!("{} must validate at least one schema (anyOf)", Quoted(&at.to_string())))
        });
        self.tell(&nearest, data, at)
    }

    fn one_of(&mut self, schemas: &[Schema], data: Data<'_>, at: &Place<'_>) -> usize {
        let mut nearest = Nearest::default();
        let (mut valid, mut first) = (0usize, 0);
        for schema in schemas {
            match attempt(schema, data, at) {
                Ok(matched) => {
                    if valid == 0 {
                        first = matched;
                    }
                    valid += 1;
                }
                Err(matched) => nearest.offer(schema, matched),
            }
        }
        if valid == 1 {
            return first;
        }
        self.fault(|base| {
            let found = match valid {
                0 => "Found none valid".to_owned(),
                several => format!("Found {several} valid alternatives"),
            };
            let place = at.to_string();
            Fault::general(base, format!("{} must validate one and only one schema (oneOf). {found}", Quoted(&place)))
        });
        if valid == 0 { self.tell(&nearest, data, at) } else { 0 }
    }

    fn all_of(&mut self, schemas: &[Schema], data: Data<'_>, at: &Place<'_>) -> usize {
        let (mut matched, mut valid) = (0, 0);
        for schema in schemas {
            let failures = self.failures;
            matched += self.value(schema, data, at);
            valid += usize::from(self.failures == failures);
        }
        if valid != schemas.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            self.fault(|base| {
                let place = at.to_string();
                Fault::general(base, format!("{} must validate all the schemas (allOf){none}", Quoted(&place)))
            });
        }
        matched
    }

    /// Of the alternatives that failed, the one that came nearest says why.
    fn tell(&mut self, nearest: &Nearest<'_>, data: Data<'_>, at: &Place<'_>) -> usize {
        match nearest.schema {
            // WHY: what only counts faults knows already that there are some.
            Some(_) if self.faults.is_none() => nearest.matched,
            Some(schema) => self.value(schema, data, at),
            None => 0,
        }
    }
}

#[derive(Default)]
struct Nearest<'a> {
    schema: Option<&'a Schema>,
    matched: usize,
}

impl<'a> Nearest<'a> {
    fn offer(&mut self, schema: &'a Schema, matched: usize) {
        if self.schema.is_none() || matched > self.matched {
            *self = Self { schema: Some(schema), matched };
        }
    }
}

/// How much of the value is right, and whether all is.
fn attempt(schema: &Schema, data: Data<'_>, at: &Place<'_>) -> Result<usize, usize> {
    let mut check = Check::quiet();
    let matched = check.value(schema, data, at);
    if check.failures == 0 { Ok(matched) } else { Err(matched) }
}
