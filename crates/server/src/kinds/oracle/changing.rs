//! Good objects with a few random changes.

use serde_json::Value;

use super::random::Random;
use crate::facts::{Shape, Ty, Type};
use crate::strategy::Object;

/// Changes something somewhere: follows a random way into the object.
fn change(random: &mut Random, ty: &'static Type, object: &mut Object) {
    let fields: Vec<_> = ty.fields().filter(|field| !matches!(field.name, "apiVersion" | "kind")).collect();
    if fields.is_empty() {
        return;
    }
    let present: Vec<_> = fields.iter().copied().filter(|field| object.contains_key(field.name)).collect();
    if !present.is_empty() && random.chance(80) {
        let field = random.pick(&present);
        let value = object.get_mut(field.name).unwrap();
        match (field.ty, value) {
            (Ty::Ref(inner), Value::Object(below)) if matches!(inner.shape, Shape::Struct(_)) && random.chance(95) => {
                change(random, inner, below);
            }
            (Ty::List(Ty::Ref(inner)), Value::Array(items)) if !items.is_empty() && random.chance(90) => {
                let at = usize::try_from(random.number(items.len() as u64)).unwrap();
                if random.chance(8) {
                    items.push(items[at].clone());
                } else if let Value::Object(below) = &mut items[at]
                    && matches!(inner.shape, Shape::Struct(_))
                {
                    change(random, inner, below);
                }
            }
            (_, value) if random.chance(70) => *value = random.value(field, field.ty, 6, 1),
            _ => {
                object.remove(field.name);
            }
        }
    } else {
        let field = random.pick(&fields);
        let value = random.value(field, field.ty, 6, 1);
        object.insert(field.name.to_owned(), value);
    }
}

pub(super) fn changed(base: &Object, ty: &'static Type, seed: u64) -> Object {
    let mut random = Random::hostile(seed);
    let mut object = base.clone();
    let changes = random.pick(&[0, 1, 1, 1, 2]);
    (0..changes).for_each(|_| change(&mut random, ty, &mut object));
    object
}
