//! What is refused although its types fit: literals that no function takes, and literals of mixed types.
use super::Checked;
use super::format;
use crate::ast::{Expr, Kind, Literal, Places};
use crate::source::Issues;
use crate::types::Type;

pub(super) fn validate(root: &Expr, checked: &Checked, places: &Places, issues: &mut Issues) {
    let mut nodes = Nodes::default();
    nodes.collect(root, false);
    let all: Vec<&Expr> = nodes.all.iter().map(|(expr, _)| *expr).collect();
    let report = |issues: &mut Issues, expr: &Expr, message: String| issues.report(places.location(expr.id), message);
    for function in ["duration", "timestamp", "matches"] {
        for expr in &all {
            let Kind::Call { function: name, args, .. } = &expr.kind else { continue };
            let Some(arg) = args.first().filter(|_| name == function) else { continue };
            let Kind::Literal(literal) = &arg.kind else { continue };
            if !is_valid(function, literal) {
                report(issues, arg, format!("invalid {function} argument"));
            }
        }
    }
    for (expr, formatted) in &nodes.all {
        if let Kind::List { elements, optional } = &expr.kind
            && !formatted
        {
            check_list(elements, optional, checked, |expr, message| report(issues, expr, message));
        }
    }
    for (expr, formatted) in &nodes.all {
        if let Kind::Map { entries } = &expr.kind
            && !formatted
        {
            let types = entries.iter().map(|entry| {
                let value = element_type(&entry.value, entry.optional, checked);
                (&entry.key, checked.type_of(entry.key.id).clone(), &entry.value, value)
            });
            let mut first: Option<(Type, Type)> = None;
            for (key, key_type, value, value_type) in types {
                let Some((keys, values)) = &first else {
                    first = Some((key_type, value_type));
                    continue;
                };
                for (expr, expected, found) in [(key, keys, &key_type), (value, values, &value_type)] {
                    if !expected.is_equivalent(found) {
                        report(issues, expr, format!("expected type '{expected}' but found '{found}'"));
                    }
                }
            }
        }
    }
    for expr in &all {
        format::check(expr, checked, |id, message| issues.report(places.location(id), message));
    }
}

/// All nodes, and whether they stand in the arguments of `format`, which takes lists of mixed types.
#[derive(Default)]
struct Nodes<'a> {
    all: Vec<(&'a Expr, bool)>,
}

impl<'a> Nodes<'a> {
    fn collect(&mut self, expr: &'a Expr, formatted: bool) {
        self.all.push((expr, formatted));
        let below = formatted || matches!(&expr.kind, Kind::Call { function, .. } if function == "format");
        expr.for_children(|child| self.collect(child, below));
    }
}

fn is_valid(function: &str, literal: &Literal) -> bool {
    match (function, literal) {
        ("matches", Literal::String(pattern)) => crate::library::regex::compile(pattern).is_ok(),
        ("duration", Literal::String(text)) => crate::value::time::parse_duration(text).is_ok(),
        ("timestamp", Literal::String(text)) => crate::value::time::parse_timestamp(text).is_ok(),
        ("timestamp", Literal::Int(seconds)) => crate::value::time::timestamp_of_seconds(*seconds).is_ok(),
        ("duration", Literal::Int(_)) => false,
        _ => true,
    }
}

fn element_type(expr: &Expr, optional: bool, checked: &Checked) -> Type {
    let t = checked.type_of(expr.id);
    if optional { t.unwrap_optional().unwrap_or(&Type::Dyn).clone() } else { t.clone() }
}

fn check_list(elements: &[Expr], optional: &[bool], checked: &Checked, mut report: impl FnMut(&Expr, String)) {
    let mut first: Option<Type> = None;
    for (element, optional) in elements.iter().zip(optional) {
        let t = element_type(element, *optional, checked);
        match &first {
            None => first = Some(t),
            Some(expected) if expected.is_equivalent(&t) => {}
            Some(expected) => return report(element, format!("expected type '{expected}' but found '{t}'")),
        }
    }
}
