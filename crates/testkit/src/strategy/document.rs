//! Request bodies for any kind: mostly valid, and then wrong in one of the ways that clients are wrong.
//!
//! A document is drawn from a string of random bytes. Without bytes left every choice is the plainest one, so that
//! shrinking the bytes shrinks the document.

#![expect(clippy::indexing_slicing, reason = "every index is taken modulo the length of its list")]

mod literals;

use proptest::prelude::*;
use rolewright_server::facts::{self, Codec, Field, Shape, Ty, Type};
use serde::{Deserialize, Serialize};

use self::literals::{
    ANYTHING, BAD_BYTES, BAD_NUMBERS, BAD_QUANTITIES, BAD_TIMES, BYTES, FLOATS, INTEGERS, KEYS, MICRO_TIMES,
    QUANTITIES, TIMES, WIDE, WORDS,
};

/// A body and the kind that it should be of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Document {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// JSON, more or less.
    pub body: String,
}

/// A document of any kind that is a resource. `flawed` ones have unknown fields, wrong types and bad values among them.
pub fn document(flawed: bool) -> impl Strategy<Value = Document> {
    (any::<usize>(), bytes()).prop_map(move |(at, bytes)| drawn(at, bytes, flawed))
}

/// Two valid documents of the same kind.
pub fn pair() -> impl Strategy<Value = (Document, Document)> {
    (any::<usize>(), bytes(), bytes()).prop_map(|(at, one, other)| (drawn(at, one, false), drawn(at, other, false)))
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..400)
}

fn drawn(at: usize, bytes: Vec<u8>, flawed: bool) -> Document {
    let resources = facts::resources();
    let resource = &resources[at % resources.len()];
    let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("every resource has a type");
    let mut writer = Writer { bytes: bytes.into_iter(), out: String::new(), flawed, budget: 40 };
    writer.object(ty, 0);
    Document {
        group: resource.group.to_owned(),
        version: resource.version.to_owned(),
        kind: resource.kind.to_owned(),
        body: writer.out,
    }
}

struct Writer {
    bytes: std::vec::IntoIter<u8>,
    out: String,
    flawed: bool,
    /// How many more members may be written.
    budget: usize,
}

impl Writer {
    fn byte(&mut self) -> u8 {
        self.bytes.next().unwrap_or(0)
    }

    /// True for `share` of 256 bytes, and not for a byte that is not there.
    fn chance(&mut self, share: u8) -> bool {
        let byte = self.byte();
        byte != 0 && byte <= share
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    fn raw(&mut self, from: &[&str]) {
        let text = self.pick(from);
        self.out.push_str(text);
    }

    fn quoted(&mut self, from: &[&str]) {
        self.out.push('"');
        self.raw(from);
        self.out.push('"');
    }

    fn separated(&mut self, count: usize) {
        if count > 0 {
            let comma = if self.chance(20) { " ,\n " } else { "," };
            self.out.push_str(comma);
        }
    }

    fn object(&mut self, ty: &'static Type, depth: usize) {
        let fields: Vec<&'static Field> = ty.fields().filter(|field| !is_type_meta(ty, field)).collect();
        let mut wanted = usize::from(self.byte() % if depth == 0 { 6 } else { 4 });
        let mut written = 0;
        let mut used: Vec<usize> = Vec::new();
        self.out.push('{');
        while wanted > 0 && !fields.is_empty() && self.budget > 0 {
            wanted -= 1;
            self.budget -= 1;
            if self.flawed && self.chance(12) {
                self.separated(written);
                self.quoted(&["bogus", "x.y", "\\\"", "ü", "\\u0000", "Name", "a\\u00a0b", ""]);
                self.out.push(':');
                self.raw(ANYTHING);
                written += 1;
                continue;
            }
            let at = usize::from(self.byte()) % fields.len();
            if used.contains(&at) && !(self.flawed && is_plain(fields[at].ty) && self.chance(60)) {
                continue;
            }
            used.push(at);
            let field = fields[at];
            self.separated(written);
            self.out.push('"');
            self.out.push_str(field.name);
            self.out.push_str("\":");
            self.value(field.ty, depth + 1);
            written += 1;
        }
        self.out.push('}');
    }

    fn value(&mut self, ty: Ty, depth: usize) {
        if self.chance(12) {
            self.out.push_str("null");
            return;
        }
        if self.flawed && self.chance(5) {
            self.raw(ANYTHING);
            return;
        }
        match ty {
            Ty::Bool => self.raw(&["false", "true"]),
            Ty::String => self.quoted(WORDS),
            Ty::Float64 if self.flawed && self.chance(10) => self.raw(&["1e400", "-1e999"]),
            Ty::Float64 => self.raw(FLOATS),
            Ty::Int32 | Ty::Int64 | Ty::Uint32 => self.integer(ty),
            Ty::Bytes => self.good_or_bad(BYTES, BAD_BYTES),
            Ty::Any => self.raw(ANYTHING),
            Ty::List(item) => self.list(*item, depth),
            Ty::Map(item) => self.map(*item, depth),
            Ty::Ref(ty) => match ty.shape {
                Shape::Struct(_) if depth < 14 => self.object(ty, depth),
                Shape::Struct(_) => self.out.push_str("{}"),
                Shape::List(item) => self.list(item, depth),
                Shape::Codec(codec, fields) => self.special(codec, fields, depth),
            },
        }
    }

    fn integer(&mut self, ty: Ty) {
        if self.flawed && self.chance(10) {
            self.raw(BAD_NUMBERS);
        } else if matches!(ty, Ty::Int64) && self.chance(60) {
            self.raw(WIDE);
        } else {
            self.raw(INTEGERS);
        }
    }

    fn good_or_bad(&mut self, good: &[&str], bad: &[&str]) {
        if self.flawed && self.chance(25) {
            self.raw(bad);
        } else {
            self.raw(good);
        }
    }

    fn list(&mut self, item: Ty, depth: usize) {
        self.out.push('[');
        for written in 0..self.byte() % 3 {
            self.separated(usize::from(written));
            self.value(item, depth + 1);
        }
        self.out.push(']');
    }

    fn map(&mut self, item: Ty, depth: usize) {
        let count = usize::from(self.byte() % 4);
        let first = usize::from(self.byte());
        self.out.push('{');
        for written in 0..count {
            self.separated(written);
            let again = self.flawed && is_plain(item) && self.chance(12);
            let key = KEYS[(first + if again { 0 } else { written }) % KEYS.len()];
            self.out.extend(["\"", key, "\":"]);
            self.value(item, depth + 1);
        }
        self.out.push('}');
    }

    fn special(&mut self, codec: Codec, fields: &'static [Field], depth: usize) {
        let of = |wanted: fn(Ty) -> bool| fields.iter().map(|field| field.ty).find(|ty| wanted(*ty));
        match codec {
            Codec::Time | Codec::MicroTime if self.flawed && self.chance(20) => self.quoted(BAD_TIMES),
            Codec::Time => self.quoted(TIMES),
            Codec::MicroTime => self.quoted(MICRO_TIMES),
            Codec::Quantity => self.good_or_bad(QUANTITIES, BAD_QUANTITIES),
            Codec::IntOrString => self.good_or_bad(
                &["80", "\"http\"", "\"50%\"", "0", "\"\"", "-1"],
                &["1.5", "{}", "[]", "true", "2147483648"],
            ),
            Codec::RawExtension | Codec::FieldsV1 | Codec::Json | Codec::Unknown => self.raw(ANYTHING),
            Codec::JsonSchemaPropsOrArray | Codec::JsonSchemaPropsOrStringArray | Codec::JsonSchemaPropsOrBool => {
                let schema = of(|ty| matches!(ty, Ty::Ref(_)));
                let list = of(|ty| matches!(ty, Ty::List(_)));
                match (self.byte() % 4, schema, list) {
                    (0, ..) if codec == Codec::JsonSchemaPropsOrBool => self.raw(&["true", "false"]),
                    (1, _, Some(list)) => self.value(list, depth + 1),
                    (_, Some(schema), _) => self.value(schema, depth + 1),
                    _ => self.out.push_str("{}"),
                }
            }
        }
    }
}

/// Kind and version are not part of the game; they decide what the document is.
fn is_type_meta(ty: &'static Type, field: &Field) -> bool {
    matches!(field.name, "kind" | "apiVersion") && ty.own_fields().iter().any(|field| field.inline)
}

/// Given twice, other values are merged in Go, field by field.
fn is_plain(ty: Ty) -> bool {
    matches!(ty, Ty::Bool | Ty::Int32 | Ty::Int64 | Ty::String | Ty::Float64)
}
