//! How server-side apply sees a place in an object: as a scalar, a list or a map, as one or in parts.

use serde_json::Value;
use smol_str::SmolStr;

use super::Kind;
use super::custom::Node;
use super::element::{Element, Scalar};
use crate::facts::{Codec, Field, ListType, Shape, Ty, Type};
use rolewright_core::quote::Quoted;

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// Of a known type.
    Typed {
        /// The type.
        ty: Ty,
        /// How a list is seen.
        list: ListType,
        /// Whether a map or object is owned as a whole; `None` leaves it to the type.
        atomic: Option<bool>,
    },
    /// Where the schema of a custom resource says what there is.
    Custom(Node<'a>),
    /// Anything; maps are owned by key.
    Deduced,
    /// Anything; owned as a whole.
    Untyped,
}

/// What may stand in the place of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Number,
    Text,
    Bool,
    Any,
}

/// How the value in a place is treated.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'a> {
    Scalar(Sort),
    List(Items<'a>),
    Map(Members<'a>),
}

/// The items of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items<'a> {
    pub(super) place: Place<'a>,
    pub(super) list: List<'a>,
}

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum List<'a> {
    /// Not at all: the list is one value.
    Atomic,
    /// By their values.
    Set,
    /// By these members.
    Map(Keys<'a>),
}

/// Names of members.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keys<'a> {
    BuiltIn(&'static [&'static str]),
    Custom(&'a [SmolStr]),
}

impl Keys<'_> {
    fn names(self) -> impl ExactSizeIterator<Item = SmolStr> {
        let count = match self {
            Self::BuiltIn(names) => names.len(),
            Self::Custom(names) => names.len(),
        };
        (0..count).map(move |at| match self {
            Self::BuiltIn(names) => names.get(at).copied().map(SmolStr::new_static).unwrap_or_default(),
            Self::Custom(names) => names.get(at).cloned().unwrap_or_default(),
        })
    }
}

impl From<ListType> for List<'_> {
    fn from(list: ListType) -> Self {
        match list {
            ListType::Atomic => Self::Atomic,
            ListType::Set => Self::Set,
            ListType::Map(keys) => Self::Map(Keys::BuiltIn(keys)),
        }
    }
}

/// The members of a map or object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members<'a> {
    pub(super) of: MembersOf<'a>,
    pub(super) atomic: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MembersOf<'a> {
    Struct(&'static Type),
    Map(Place<'a>),
    Custom(Node<'a>),
}

impl<'a> Place<'a> {
    /// A whole object.
    pub(super) fn root(kind: Kind<'a>) -> Self {
        match kind {
            Kind::BuiltIn(ty) => Self::of(ty),
            Kind::Custom(schema) => Self::Custom(Node::root(schema)),
            Kind::Deduced => Self::Deduced,
        }
    }

    /// A text.
    pub(super) fn text() -> Self {
        Self::plain(Ty::String)
    }

    pub(super) fn of(ty: &'static Type) -> Self {
        Self::plain(Ty::Ref(ty))
    }

    fn plain(ty: Ty) -> Self {
        Self::Typed { ty, list: ListType::Atomic, atomic: None }
    }

    fn field(of: &'static Type, field: &'static Field) -> Self {
        // The only field that gives back to its type what the type says it owns as a whole.
        let granular = field.name == "claimRef" && of.name == "io.k8s.api.core.v1.PersistentVolumeSpec";
        let atomic = if granular { Some(false) } else { field.atomic.then_some(true) };
        Self::Typed { ty: field.ty, list: field.list, atomic }
    }

    /// How this value is treated here. Where a place takes values of several forms, null counts as a map.
    pub(super) fn form(self, value: Option<&Value>) -> Form<'a> {
        let (ty, list, atomic) = match self {
            Self::Typed { ty, list, atomic } => (ty, list, atomic),
            Self::Custom(node) => return node.form(value),
            Self::Deduced | Self::Untyped => return self.form_of_any(value),
        };
        match ty {
            Ty::Bool => Form::Scalar(Sort::Bool),
            Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64 => Form::Scalar(Sort::Number),
            Ty::String | Ty::Bytes => Form::Scalar(Sort::Text),
            Ty::Any => Self::Deduced.form(value),
            Ty::List(item) => Form::List(Items { place: Self::plain(*item), list: list.into() }),
            Ty::Map(item) => {
                let of = MembersOf::Map(Self::plain(*item));
                Form::Map(Members { of, atomic: atomic.unwrap_or(false) })
            }
            Ty::Ref(ty) => match ty.shape {
                Shape::Struct([]) => Form::Map(Members { of: MembersOf::Map(Self::Deduced), atomic: false }),
                Shape::Struct(_) => {
                    Form::Map(Members { of: MembersOf::Struct(ty), atomic: atomic.unwrap_or(ty.atomic) })
                }
                Shape::List(item) => Form::List(Items { place: Self::plain(item), list: List::Atomic }),
                Shape::Codec(codec, _) => match codec {
                    Codec::Time | Codec::MicroTime | Codec::Quantity => Form::Scalar(Sort::Any),
                    Codec::RawExtension | Codec::Unknown => Self::Untyped.form(value),
                    Codec::FieldsV1 => Form::Map(Members { of: MembersOf::Map(Self::Deduced), atomic: false }),
                    Codec::IntOrString
                    | Codec::Json
                    | Codec::JsonSchemaPropsOrArray
                    | Codec::JsonSchemaPropsOrBool
                    | Codec::JsonSchemaPropsOrStringArray => Self::Deduced.form(value),
                },
            },
        }
    }

    fn form_of_any(self, value: Option<&Value>) -> Form<'a> {
        match value {
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Form::Scalar(Sort::Any),
            Some(Value::Array(_)) => Form::List(Items { place: Self::Untyped, list: List::Atomic }),
            Some(Value::Object(_) | Value::Null) | None => {
                Form::Map(Members { of: MembersOf::Map(self), atomic: matches!(self, Self::Untyped) })
            }
        }
    }

    /// Whether values of several forms may stand here.
    pub(super) fn takes_any(self) -> bool {
        match self {
            Self::Deduced | Self::Untyped | Self::Typed { ty: Ty::Any, .. } => true,
            Self::Custom(node) => node.takes_any(),
            Self::Typed { ty: Ty::Ref(ty), .. } => !matches!(
                ty.shape,
                Shape::Struct(_)
                    | Shape::List(_)
                    | Shape::Codec(Codec::Time | Codec::MicroTime | Codec::Quantity | Codec::FieldsV1, _)
            ),
            Self::Typed { .. } => false,
        }
    }
}

impl<'a> Members<'a> {
    /// The place of a member, and whether it is a field that the type names.
    pub(super) fn get(self, name: &str) -> Option<(Place<'a>, bool)> {
        match self.of {
            MembersOf::Map(place) => Some((place, false)),
            MembersOf::Struct(ty) => find(ty, name).map(|place| (place, true)),
            MembersOf::Custom(node) => node.get(name),
        }
    }

    /// The place of members that the type does not name, if there may be any.
    pub(super) fn rest(self) -> Option<Place<'a>> {
        match self.of {
            MembersOf::Map(place) => Some(place),
            MembersOf::Struct(_) => None,
            MembersOf::Custom(node) => node.rest(),
        }
    }

    /// Whether this is a map of anything.
    pub(super) fn is_deduced(self) -> bool {
        match self.of {
            MembersOf::Map(place) => matches!(place, Place::Deduced),
            MembersOf::Struct(_) => false,
            MembersOf::Custom(node) => node.is_deduced(),
        }
    }
}

/// As [`Type::field`], in the hot path.
fn find<'a>(ty: &'static Type, name: &str) -> Option<Place<'a>> {
    ty.own_fields().iter().find_map(|field| match field.ty {
        Ty::Ref(inner) if field.inline => find(inner, name),
        _ if field.name == name => Some(Place::field(ty, field)),
        _ => None,
    })
}

impl Items<'_> {
    pub(super) fn atomic(self) -> bool {
        matches!(self.list, List::Atomic)
    }

    /// What tells an item from the others, in a list that is not owned as a whole.
    pub(super) fn element(self, item: &Value) -> Result<Element, String> {
        match self.list {
            List::Map(keys) => self.key(keys, item),
            List::Set => match item {
                Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
                scalar => Ok(Element::Value(Scalar::from(scalar))),
            },
            List::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    /// The same of an item that may have nothing to be told by: an item that lost all of its fields is null while an
    /// apply takes fields out. All of those are one element, and no list that is well formed has it.
    pub(super) fn element_or_nameless(self, item: &Value) -> Element {
        self.element(item).unwrap_or(Element::Value(Scalar::Null))
    }

    fn key(self, keys: Keys<'_>, item: &Value) -> Result<Element, String> {
        let members = match item {
            Value::Object(members) => members,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let names = keys.names();
        let mut fields: Vec<(SmolStr, Scalar)> = Vec::with_capacity(names.len());
        for name in names {
            let value = members.get(name.as_str()).map(Scalar::from).or_else(|| self.default_of(&name));
            fields.extend(value.map(|value| (name, value)));
        }
        if fields.is_empty() {
            let keys: Vec<String> = keys.names().map(|key| Quoted(&key).to_string()).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                keys.join(" ")
            ));
        }
        fields.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Element::Key(fields.into()))
    }

    /// What a key is where an item does not say. OpenAPI has a zero default for fields that are always written, and
    /// these tables do not have the two others.
    fn default_of(self, key: &str) -> Option<Scalar> {
        let item = match self.place {
            Place::Typed { ty: Ty::Ref(item), .. } => item,
            Place::Custom(node) => return node.default_of(key),
            _ => return None,
        };
        let field = item.field(key)?;
        match field.ty {
            Ty::String if key == "protocol" => Some(Scalar::Text(SmolStr::new_static("TCP"))),
            Ty::String if item.name == "io.k8s.api.core.v1.LocalObjectReference" => {
                Some(Scalar::Text(SmolStr::default()))
            }
            _ if field.pointer || field.omitempty => None,
            Ty::String => Some(Scalar::Text(SmolStr::default())),
            Ty::Bool => Some(Scalar::Bool(false)),
            Ty::Int32 | Ty::Int64 | Ty::Uint32 => Some(Scalar::from(&Value::from(0))),
            _ => None,
        }
    }
}

/// The members of a value that is a map.
pub(super) fn as_map(value: Option<&Value>) -> Option<&serde_json::Map<String, Value>> {
    value.and_then(Value::as_object)
}

/// The items of a value that is a list.
pub(super) fn as_list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::{type_of, types};

    /// The rules for defaults of keys, against every list that there is.
    #[test]
    fn keys_are_scalars() {
        let mut lists = 0;
        for ty in types() {
            for field in ty.fields() {
                let (ListType::Map(keys), Ty::List(Ty::Ref(item))) = (field.list, field.ty) else { continue };
                lists += 1;
                for key in keys {
                    let key = item.field(key).unwrap_or_else(|| panic!("{}.{}: {key}", ty.name, field.name));
                    assert!(matches!(key.ty, Ty::String | Ty::Int32), "{}.{}", ty.name, field.name);
                }
            }
        }
        assert!(lists > 40, "{lists}");
    }

    #[test]
    fn items_are_told_apart() {
        let pod = type_of("", "v1", "Pod").unwrap();
        let Form::Map(pod) = Place::of(pod).form(None) else { panic!() };
        let Form::Map(spec) = pod.get("spec").unwrap().0.form(None) else { panic!() };
        let Form::List(containers) = spec.get("containers").unwrap().0.form(None) else { panic!() };
        let Form::Map(container) = containers.place.form(None) else { panic!() };
        let Form::List(ports) = container.get("ports").unwrap().0.form(None) else { panic!() };
        let text = |items: Items<'_>, item: &Value| items.element(item).map(|element| element.to_text());
        assert_eq!(text(containers, &json!({})), Ok(r#"k:{"name":""}"#.to_owned()));
        let port = r#"k:{"containerPort":80,"protocol":"TCP"}"#;
        assert_eq!(text(ports, &json!({"containerPort": 80})), Ok(port.to_owned()));
        text(ports, &json!(null)).unwrap_err();
    }
}
