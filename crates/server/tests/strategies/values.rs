//! Random JSON. `bad` is how likely a single value is to be taken from the list of bad ones.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

pub(crate) type Values = BoxedStrategy<Value>;

/// A text from one of two lists.
pub(crate) fn text(good: &'static [&'static str], bad: &'static [&'static str], chance: f64) -> Values {
    let (good, bad) = (select(good), select(bad));
    (prop::bool::weighted(chance), good, bad).prop_map(|(pick, good, bad)| if pick { bad } else { good }.into()).boxed()
}

/// One of these values.
pub(crate) fn one<T: Clone + std::fmt::Debug + Into<Value> + 'static>(values: &'static [T]) -> Values {
    select(values).prop_map(Into::into).boxed()
}

/// An object with some of these fields, each with its chance to be there.
pub(crate) fn object(fields: Vec<(&'static str, f64, Values)>) -> Values {
    let fields = fields.into_iter().map(|(name, chance, value)| {
        let here = prop::bool::weighted(chance);
        (here, value).prop_map(move |(here, value)| here.then(|| (name.to_owned(), value))).boxed()
    });
    let fields: Vec<_> = fields.collect();
    fields.prop_map(|fields| fields.into_iter().flatten().collect::<Map<_, _>>().into()).boxed()
}

/// A list of a few.
pub(crate) fn list(value: Values, most: usize) -> Values {
    prop::collection::vec(value, 0..=most).prop_map(Value::from).boxed()
}

/// A map with a few entries.
pub(crate) fn map(keys: Values, values: Values, most: usize) -> Values {
    let entries = prop::collection::vec((keys, values), 0..=most);
    entries
        .prop_map(|entries| {
            let key = |key: Value| key.as_str().unwrap().to_owned();
            entries.into_iter().map(|(name, value)| (key(name), value)).collect::<Map<_, _>>().into()
        })
        .boxed()
}

/// Now and then a text of that length.
pub(crate) fn sometimes_long(value: Values, length: usize, chance: f64) -> Values {
    let long = Just(Value::from("x".repeat(length)));
    (prop::bool::weighted(chance), value, long).prop_map(|(pick, value, long)| if pick { long } else { value }).boxed()
}
