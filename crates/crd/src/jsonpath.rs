//! JSONPath as Kubernetes' clients have it, as far as columns of tables need it.
//!
//! Where Kubernetes walks over a map its order is random; here it is the order of keys. `range` and `end`, which make no
//! sense in a column, find nothing.

mod eval;
mod parse;

use serde_json::{Map, Value};

/// A path.
#[derive(Clone, Debug)]
pub struct JsonPath {
    /// What stands in braces; only the first of several finds something, but all must be fine.
    lists: Vec<List>,
}

/// Steps, one after the other.
type List = Vec<Node>;

#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Field(String),
    Wildcard,
    Recursive,
    Slice(Slice),
    Union(Vec<List>),
    Filter {
        left: List,
        operator: String,
        right: List,
    },
    /// `range`, `end`, or a word that means nothing.
    Word,
}

/// An index, or a range with a step.
#[derive(Clone, Copy, Debug)]
struct Slice {
    start: Option<i64>,
    end: End,
    step: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// To the end of the list.
    Open,
    /// Up to here; negative from the end.
    At(i64),
    /// One behind the start, which was given alone.
    Next(i64),
}

/// What a path finds: a part of the object, or what the path says itself.
#[derive(Clone, Debug)]
pub enum Found<'a> {
    /// The object.
    Object(&'a Map<String, Value>),
    /// A part of the object.
    Value(&'a Value),
    /// A text in the path.
    Text(&'a str),
    /// An integer in the path, or a byte of a text.
    Int(i64),
    /// Another number in the path.
    Float(f64),
    /// A truth value in the path.
    Bool(bool),
}

impl JsonPath {
    /// Reads a path such as `.spec.items[0].name`; none if it is none.
    pub fn parse(path: &str) -> Option<Self> {
        parse::template(&format!("{{{path}}}")).map(|lists| Self { lists })
    }

    /// The first thing that the path finds; none also if it cannot be followed.
    pub fn first<'a>(&'a self, object: &'a Map<String, Value>) -> Option<Found<'a>> {
        let mut all = self.lists.iter().map(|list| eval::run(list, object));
        let first = all.next()??.into_iter().next();
        if all.all(|found| found.is_some()) { first } else { None }
    }
}
