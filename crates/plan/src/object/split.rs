//! An object in two: its metadata, which all kinds have, and the rest, which its kind knows. Both are read in one go.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

/// An object without its metadata, which is put aside as it comes by. Of two the last counts, as in any JSON.
pub(crate) struct Rest<'m, D, M> {
    pub(crate) object: D,
    pub(crate) metadata: &'m mut Option<M>,
}

impl<'de, D: Deserializer<'de>, M: Deserialize<'de>> Deserializer<'de> for Rest<'_, D, M> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.object.deserialize_map(Whole { visitor, metadata: self.metadata })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

struct Whole<'m, V, M> {
    visitor: V,
    metadata: &'m mut Option<M>,
}

impl<'de, V: Visitor<'de>, M: Deserialize<'de>> Visitor<'de> for Whole<'_, V, M> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Members { members, metadata: self.metadata })
    }
}

struct Members<'m, A, M> {
    members: A,
    metadata: &'m mut Option<M>,
}

impl<'de, A: MapAccess<'de>, M: Deserialize<'de>> MapAccess<'de> for Members<'_, A, M> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.members.next_key_seed(Key(seed, PhantomData))? {
                None => return Ok(None),
                Some(Known::Other(key)) => return Ok(Some(key)),
                Some(Known::Metadata(again)) => {
                    *self.metadata = Some(self.members.next_value()?);
                    seed = again;
                }
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.members.next_value_seed(seed)
    }
}

/// A key: of the metadata, or of what `K` asks for.
struct Key<K, T>(K, PhantomData<T>);

enum Known<K, T> {
    Metadata(K),
    Other(T),
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<K, K::Value> {
    type Value = Known<K, K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Key<K, K::Value> {
    type Value = Known<K, K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        if key == METADATA {
            return Ok(Known::Metadata(self.0));
        }
        self.0.deserialize(StrDeserializer::new(key)).map(Known::Other)
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        if key == METADATA {
            return Ok(Known::Metadata(self.0));
        }
        self.0.deserialize(BorrowedStrDeserializer::new(key)).map(Known::Other)
    }
}

const METADATA: &str = "metadata";
