//! How server-side apply sees a place in an object: as a scalar, a list or a map, as one or in parts.

use serde_json::Value;
use smol_str::SmolStr;

use super::element::{Element, Scalar};
use super::quote::quoted;
use crate::facts::{Codec, Field, ListType, Shape, Ty, Type};

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Of a known type.
    Typed {
        /// The type.
        ty: Ty,
        /// How a list is seen.
        list: ListType,
        /// Whether a map or object is owned as a whole; `None` leaves it to the type.
        atomic: Option<bool>,
    },
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
pub(super) enum Form {
    Scalar(Sort),
    List(Items),
    Map(Members),
}

/// The items of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items {
    pub(super) place: Place,
    pub(super) list: ListType,
}

/// The members of a map or object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members {
    pub(super) of: MembersOf,
    pub(super) atomic: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MembersOf {
    Struct(&'static Type),
    Map(Place),
}

impl Place {
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
    pub(super) fn form(self, value: Option<&Value>) -> Form {
        let (ty, list, atomic) = match self {
            Self::Typed { ty, list, atomic } => (ty, list, atomic),
            Self::Deduced | Self::Untyped => return self.form_of_any(value),
        };
        match ty {
            Ty::Bool => Form::Scalar(Sort::Bool),
            Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64 => Form::Scalar(Sort::Number),
            Ty::String | Ty::Bytes => Form::Scalar(Sort::Text),
            Ty::Any => Self::Deduced.form(value),
            Ty::List(item) => Form::List(Items { place: Self::plain(*item), list }),
            Ty::Map(item) => {
                let of = MembersOf::Map(Self::plain(*item));
                Form::Map(Members { of, atomic: atomic.unwrap_or(false) })
            }
            Ty::Ref(ty) => match ty.shape {
                Shape::Struct([]) => Form::Map(Members { of: MembersOf::Map(Self::Deduced), atomic: false }),
                Shape::Struct(_) => {
                    Form::Map(Members { of: MembersOf::Struct(ty), atomic: atomic.unwrap_or(ty.atomic) })
                }
                Shape::List(item) => Form::List(Items { place: Self::plain(item), list: ListType::Atomic }),
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

    fn form_of_any(self, value: Option<&Value>) -> Form {
        match value {
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Form::Scalar(Sort::Any),
            Some(Value::Array(_)) => Form::List(Items { place: Self::Untyped, list: ListType::Atomic }),
            Some(Value::Object(_) | Value::Null) | None => {
                Form::Map(Members { of: MembersOf::Map(self), atomic: matches!(self, Self::Untyped) })
            }
        }
    }

    /// Whether values of several forms may stand here.
    pub(super) fn takes_any(self) -> bool {
        match self {
            Self::Deduced | Self::Untyped | Self::Typed { ty: Ty::Any, .. } => true,
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

impl Members {
    /// The place of a member, and whether it is a field that the type names.
    pub(super) fn get(self, name: &str) -> Option<(Place, bool)> {
        match self.of {
            MembersOf::Map(place) => Some((place, false)),
            MembersOf::Struct(ty) => find(ty, name).map(|place| (place, true)),
        }
    }
}

/// As [`Type::field`], in the hot path.
fn find(ty: &'static Type, name: &str) -> Option<Place> {
    ty.own_fields().iter().find_map(|field| match field.ty {
        Ty::Ref(inner) if field.inline => find(inner, name),
        _ if field.name == name => Some(Place::field(ty, field)),
        _ => None,
    })
}

impl Items {
    pub(super) fn atomic(self) -> bool {
        matches!(self.list, ListType::Atomic)
    }

    /// What tells an item from the others, in a list that is not owned as a whole.
    pub(super) fn element(self, item: &Value) -> Result<Element, String> {
        match self.list {
            ListType::Map(keys) => self.key(keys, item),
            ListType::Set => match item {
                Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
                scalar => Ok(Element::Value(Scalar::from(scalar))),
            },
            ListType::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    fn key(self, keys: &[&'static str], item: &Value) -> Result<Element, String> {
        let members = match item {
            Value::Object(members) => members,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let mut fields: Vec<(SmolStr, Scalar)> = Vec::with_capacity(keys.len());
        for &key in keys {
            let value = members.get(key).map(Scalar::from).or_else(|| self.default_of(key));
            fields.extend(value.map(|value| (SmolStr::new_static(key), value)));
        }
        if fields.is_empty() {
            let keys: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
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
        let Place::Typed { ty: Ty::Ref(item), .. } = self.place else { return None };
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
        let text = |items: Items, item: &Value| items.element(item).map(|element| element.to_text());
        assert_eq!(text(containers, &json!({})), Ok(r#"k:{"name":""}"#.to_owned()));
        let port = r#"k:{"containerPort":80,"protocol":"TCP"}"#;
        assert_eq!(text(ports, &json!({"containerPort": 80})), Ok(port.to_owned()));
        text(ports, &json!(null)).unwrap_err();
    }
}
