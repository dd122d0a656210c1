//! The functions of the environment: their names, overloads and types.
mod table;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use smol_str::SmolStr;

use crate::types::Type;

/// One of a function's signatures.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    /// Whether it is called as `target.function(...)`; the target is the first argument.
    pub(crate) member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// How many of its types are parameters.
    pub(crate) params: Vec<SmolStr>,
}

/// A function and its signatures, in the order in which they are tried.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) overloads: Vec<Overload>,
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> = LazyLock::new(read);

/// A function by its name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.get(name.strip_prefix('.').unwrap_or(name))
}

fn read() -> HashMap<&'static str, Function> {
    let mut functions: HashMap<&'static str, Function> = HashMap::new();
    for line in table::FUNCTIONS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((name, overloads)) = line.split_once(" | ") else { continue };
        let function = functions.entry(name).or_insert_with(|| Function { name, overloads: Vec::new() });
        for text in overloads.split(" | ") {
            function.overloads.extend(overload(text));
        }
    }
    functions
}

/// Reads `id(args) result`, with a leading dot for members.
fn overload(text: &'static str) -> Option<Overload> {
    let (member, text) = text.strip_prefix('.').map_or((false, text), |rest| (true, rest));
    let (id, rest) = text.split_once('(')?;
    let (args, result) = rest.rsplit_once(") ")?;
    let args = if args.is_empty() { Vec::new() } else { parts(args).into_iter().map(read_type).collect() };
    let result = read_type(result);
    let mut params = Vec::new();
    collect(&result, &mut params);
    for arg in &args {
        collect(arg, &mut params);
    }
    Some(Overload { id, member, args, result, params })
}

fn collect(t: &Type, params: &mut Vec<SmolStr>) {
    if let Type::Param(name) = t
        && !params.contains(name)
    {
        params.push(name.clone());
    }
    for param in t.params() {
        collect(param, params);
    }
}

/// Splits at the commas that stand in no parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let split = text.split(|char: char| {
        depth += i32::from(char == '(') - i32::from(char == ')');
        char == ',' && depth == 0
    });
    split.map(str::trim).collect()
}

fn read_type(text: &str) -> Type {
    let (name, params) = match text.split_once('(') {
        Some((name, rest)) => (name, parts(rest.strip_suffix(')').unwrap_or(rest))),
        None => (text, Vec::new()),
    };
    let params: Vec<Type> = params.into_iter().map(read_type).collect();
    match (name, params.as_slice()) {
        ("dyn", _) => Type::Dyn,
        ("bool", _) => Type::Bool,
        ("int", _) => Type::Int,
        ("uint", _) => Type::Uint,
        ("double", _) => Type::Double,
        ("string", _) => Type::String,
        ("bytes", _) => Type::Bytes,
        ("timestamp", _) => Type::Timestamp,
        ("duration", _) => Type::Duration,
        ("list", [element]) => Type::list(element.clone()),
        ("map", [key, value]) => Type::map(key.clone(), value.clone()),
        ("opt", [inner]) => Type::optional(inner.clone()),
        ("type", [inner]) => Type::Type(Some(Arc::new(inner.clone()))),
        ("net.IP" | "net.CIDR", _) => Type::Opaque(name.into(), Arc::new([])),
        (param, _) if param.len() == 1 => Type::Param(param.into()),
        (object, _) => Type::Object(object.into()),
    }
}
