//! From a call to the code of its overload.
use std::sync::Arc;

use super::{format, ip, lists, operators, quantity, regex, semver, stringformat, strings, times, url};
use crate::functions::{Function, Overload};
use crate::plan::Call;
use crate::value::collection::{Made, Map};
use crate::value::convert;
use crate::value::{Fault, Outcome, Value, fault, no_such_overload};

/// Functions of one code for all their types: it looks at the values itself.
const SHARED: [&str; 23] = [
    "!_",
    "@not_strictly_false",
    "_+_",
    "_-_",
    "_*_",
    "_/_",
    "_%_",
    "-_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "@in",
    "size",
    "type",
    "dyn",
    "matches",
    "sort",
    "@sortByAssociatedKeys",
    "_==_",
    "_!=_",
    "_&&_",
    "_||_",
];

/// Functions that are called whatever the types of their arguments.
const UNGUARDED: [&str; 4] = ["contains", "startsWith", "endsWith", "flatten"];

/// Whether the second of two arguments is evaluated even when the first is at fault.
pub(crate) fn evaluates_all(call: &Call) -> bool {
    let name = call.function.name;
    call.args.len() == 2
        && call.pattern.is_none()
        && name != "format"
        && (SHARED.contains(&name) || call.overload.is_some() || call.function.overloads.len() == 1)
}

/// Calls a function.
pub(crate) fn call<'a>(call: &Call, args: Vec<Value<'a>>) -> Outcome<'a> {
    if let (Some(pattern), Some(Value::String(text))) = (&call.pattern, args.first()) {
        return regex::call(call.function.name, pattern, text, args.get(2));
    }
    dispatch(call.function, call.overload, args)
}

/// A conversion of a constant, computed before evaluation.
pub(crate) fn convert<'a>(function: &Function, overload: Option<&str>, value: Value<'a>) -> Outcome<'a> {
    dispatch(function, overload, vec![value])
}

fn dispatch<'a>(function: &Function, overload: Option<&str>, args: Vec<Value<'a>>) -> Outcome<'a> {
    let name = function.name;
    if SHARED.contains(&name) {
        return operators::call(name, args);
    }
    let unguarded = UNGUARDED.contains(&name);
    let chosen: Option<&Overload> = match (overload, function.overloads.as_slice()) {
        (Some(id), overloads) => overloads.iter().find(|overload| overload.id == id),
        (None, [only]) => Some(only),
        (None, overloads) => overloads.iter().find(|overload| fits(overload, &args, unguarded)),
    };
    match chosen {
        Some(overload) if fits(overload, &args, unguarded) => run(name, overload.id, args),
        _ => {
            let types: Vec<String> = args.iter().map(|arg| arg.type_name().to_string()).collect();
            fault(format!("no such overload: {name}({})", types.join(", ")))
        }
    }
}

fn fits(overload: &Overload, args: &[Value<'_>], unguarded: bool) -> bool {
    overload.args.len() == args.len()
        && (unguarded || overload.args.iter().zip(args).all(|(wanted, arg)| arg.is_of(wanted)))
}

/// Functions that belong together: the answer of an overload, if it is one of them.
type Family = for<'v> fn(&str, &[Value<'v>]) -> Option<Outcome<'v>>;

fn run<'a>(name: &str, id: &str, args: Vec<Value<'a>>) -> Outcome<'a> {
    match name {
        "bool" | "bytes" | "double" | "duration" | "int" | "string" | "timestamp" | "uint" => {
            let [value] = one(args)?;
            return match value {
                Value::Opaque(opaque) => Ok(Value::text(opaque.to_string())),
                value => convert::convert(value, name),
            };
        }
        "format" => return stringformat::call(&args),
        "cel.@mapInsert" => return map_insert(args),
        _ => {}
    }
    let families: [Family; 10] = [
        strings::call,
        lists::call,
        optional,
        times::call,
        regex::dynamic,
        url::call,
        ip::call,
        quantity::call,
        semver::call,
        format::call,
    ];
    families.into_iter().find_map(|family| family(id, &args)).unwrap_or_else(no_such_overload)
}

fn one<'a, const N: usize>(args: Vec<Value<'a>>) -> Result<[Value<'a>; N], Fault> {
    <[Value<'a>; N]>::try_from(args).map_err(|_| "no such overload".into())
}

fn optional<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    Some(Ok(match (id, args) {
        ("optional_ofNonZeroValue", [value]) if value.is_zero() => Value::Optional(None),
        ("optional_of" | "optional_ofNonZeroValue", [value]) => Value::some(value.clone()),
        ("optional_none", _) => Value::Optional(None),
        ("optional_value", [Value::Optional(inner)]) => match inner {
            Some(inner) => (**inner).clone(),
            None => return Some(fault("optional.none() dereference")),
        },
        ("optional_hasValue", [Value::Optional(inner)]) => Value::Bool(inner.is_some()),
        ("list_first" | "list_last", [Value::List(list)]) => {
            let at = if id == "list_first" { Some(0) } else { list.len().checked_sub(1) };
            match at.and_then(|at| list.get(at)) {
                Some(Ok(value)) => Value::some(value),
                Some(Err(fault)) => return Some(Err(fault)),
                None => Value::Optional(None),
            }
        }
        ("optional_unwrap" | "optional_unwrapOpt", [Value::List(list)]) => {
            let mut items = Vec::new();
            for item in list.iter() {
                match item {
                    Ok(Value::Optional(inner)) => items.extend(inner.map(|inner| (*inner).clone())),
                    Ok(other) => return Some(fault(format!("value {other} is not optional"))),
                    Err(fault) => return Some(Err(fault)),
                }
            }
            Value::list(items)
        }
        _ => return None,
    }))
}

/// Puts a new entry into a map that is being made.
pub(crate) fn insert<'a>(map: &mut Arc<Made<'a>>, key: Value<'a>, value: Value<'a>) -> Result<(), Fault> {
    if map.find(&key).is_some() {
        return fault(format!("insert failed: key {key} already exists"));
    }
    Arc::make_mut(map).set(key, value);
    Ok(())
}

/// Puts all entries of another map into one that is being made.
pub(crate) fn insert_all<'a>(map: &mut Arc<Made<'a>>, more: &Map<'a>) -> Result<(), Fault> {
    for (key, found) in more.found() {
        if let Some(value) = found? {
            insert(map, key, value)?;
        }
    }
    Ok(())
}

fn map_insert(args: Vec<Value<'_>>) -> Outcome<'_> {
    let mut args = args.into_iter();
    let (Some(Value::Map(target)), Some(second)) = (args.next(), args.next()) else { return no_such_overload() };
    let mut made = Arc::new(Made::default());
    insert_all(&mut made, &target)?;
    match (second, args.next()) {
        (key, Some(value)) => insert(&mut made, key, value)?,
        (Value::Map(more), None) => insert_all(&mut made, &more)?,
        _ => return no_such_overload(),
    }
    Ok(Value::Map(Map::Made(made)))
}
