//! What the facts say about a field, found the way Kubernetes' patches look for it.

use rolewright_core::validate::BadValue;

use crate::facts::{Field, Shape, Ty, Type};
use crate::patch::Fault;

/// The type of what is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Schema {
    Of {
        ty: Ty,
        pointer: bool,
    },
    /// The item of a byte string.
    Byte,
}

impl Schema {
    pub(super) fn of(ty: &'static Type) -> Self {
        Self::Of { ty: Ty::Ref(ty), pointer: false }
    }

    /// A field by its name; the case matters only if several differ in nothing else.
    pub(super) fn field(self, name: &str) -> Result<(Self, &'static Field), Fault> {
        let Self::Of { ty: Ty::Ref(ty), .. } = self else { return Err(self.not_a_struct()) };
        if matches!(ty.shape, Shape::List(_)) {
            return Err(self.not_a_struct());
        }
        let known = matches!(ty.shape, Shape::Struct(_));
        let fields = || ty.fields().filter(|_| known);
        let found = fields()
            .find(|field| field.name == name)
            .or_else(|| fields().find(|field| field.name.eq_ignore_ascii_case(name)));
        let Some(field) = found else {
            let ty = ty.name.rsplit('.').next().unwrap_or_default();
            return Err(Fault::Failed(format!(
                "unable to find api field in struct {ty} for the json field {}",
                BadValue::from(name)
            )));
        };
        Ok((Self::Of { ty: field.ty, pointer: field.pointer }, field))
    }

    /// A field that is a list, with the type of its items.
    pub(super) fn items(self, name: &str) -> Result<(Self, &'static Field), Fault> {
        let (list, field) = self.field(name)?;
        let Self::Of { ty, pointer } = list else { return Ok((list, field)) };
        let item = match ty {
            Ty::List(item) | Ty::Ref(Type { shape: Shape::List(item), .. }) => Some(*item),
            _ => None,
        };
        let items = match (ty, item) {
            (Ty::Bytes, _) => Self::Byte,
            (_, Some(Ty::Bytes | Ty::List(_))) if !pointer => {
                return Err(Fault::Failed("unexpected slice of slice".to_owned()));
            }
            (_, Some(item)) => Self::Of { ty: item, pointer: false },
            (_, None) if pointer => Self::Of { ty, pointer: false },
            (_, None) => {
                let kind = self.kind();
                return Err(Fault::Failed(format!("expected slice or array type, but got: {kind}")));
            }
        };
        Ok((items, field))
    }

    /// Go's word for the sort of type.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Of { pointer: true, .. } => "ptr",
            other => other.kind_within(),
        }
    }

    fn kind_within(self) -> &'static str {
        match self {
            Self::Byte => "uint8",
            Self::Of { ty, .. } => match ty {
                Ty::Bool => "bool",
                Ty::Int32 => "int32",
                Ty::Int64 => "int64",
                Ty::Uint32 => "uint32",
                Ty::Float64 => "float64",
                Ty::String => "string",
                Ty::Any => "interface",
                Ty::Bytes | Ty::List(_) | Ty::Ref(Type { shape: Shape::List(_), .. }) => "slice",
                Ty::Map(_) => "map",
                Ty::Ref(_) => "struct",
            },
        }
    }

    fn not_a_struct(self) -> Fault {
        let kind = self.kind_within();
        Fault::Failed(format!("merging an object in json but data type is not struct, instead is: {kind}"))
    }
}
