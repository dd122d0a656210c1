//! Formats that are known before evaluation, with arguments whose types are.
use super::Checked;
use crate::ast::{Expr, Id, Kind, Literal};
use crate::library::stringformat::{Clause, parse};
use crate::types::Type;

/// Reports what a call of `format` will not be able to do.
pub(super) fn check(expr: &Expr, checked: &Checked, mut report: impl FnMut(Id, String)) {
    let Kind::Call { target: Some(target), function, args } = &expr.kind else { return };
    let (Kind::Literal(Literal::String(format)), [list]) = (&target.kind, args.as_slice()) else { return };
    let Kind::List { elements, .. } = &list.kind else { return };
    if function != "format" {
        return;
    }
    let mut requested = 0;
    let mut bad = None;
    let result = parse(
        format,
        |index| {
            requested += 1;
            elements.get(index).ok_or_else(|| format!("index {index} out of range"))
        },
        |piece| match piece {
            Err((clause, arg)) => match unfit(clause, arg, checked) {
                Some(id) => {
                    bad = Some(id);
                    let kind = checked.type_of(id).name();
                    Err(format!("error during formatting: {}", clause.refuse(&kind)))
                }
                None => Ok(()),
            },
            Ok(_) => Ok(()),
        },
    );
    match result {
        Err(message) => report(bad.unwrap_or(expr.id), message),
        Ok(()) if elements.len() > requested => {
            let count = elements.len();
            report(
                expr.id,
                format!("too many arguments supplied to string.format (expected {requested}, got {count})"),
            );
        }
        Ok(()) => {}
    }
}

/// The node whose type a clause does not take.
fn unfit(clause: Clause, arg: &Expr, checked: &Checked) -> Option<Id> {
    let t = checked.type_of(arg.id);
    let fits = match clause {
        Clause::Text => {
            let plain = matches!(
                t,
                Type::Dyn
                    | Type::List(_)
                    | Type::Map(_)
                    | Type::Int
                    | Type::Uint
                    | Type::Double
                    | Type::Bool
                    | Type::String
                    | Type::Timestamp
                    | Type::Bytes
                    | Type::Duration
                    | Type::Type(_)
                    | Type::Null
            );
            if !plain {
                return Some(arg.id);
            }
            return match &arg.kind {
                Kind::List { elements, .. } => elements.iter().find_map(|element| unfit(clause, element, checked)),
                Kind::Map { entries } => entries
                    .iter()
                    .flat_map(|entry| [&entry.key, &entry.value])
                    .find_map(|expr| unfit(clause, expr, checked)),
                _ => None,
            };
        }
        Clause::Decimal | Clause::Octal => matches!(t, Type::Int | Type::Uint),
        Clause::Fixed(_) | Clause::Scientific => matches!(t, Type::Double | Type::String),
        Clause::Binary => matches!(t, Type::Int | Type::Uint | Type::Bool),
        Clause::Hex { .. } => matches!(t, Type::Int | Type::Uint | Type::String | Type::Bytes),
    };
    (!fits && !t.is_dyn()).then_some(arg.id)
}
