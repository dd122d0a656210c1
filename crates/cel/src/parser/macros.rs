//! Macros: calls that are loops.
use smol_str::SmolStr;

use super::Builder;
use crate::ast::{ACCUMULATOR, Comprehension, Expr, Id, Kind, Literal, OLD_ACCUMULATOR};

/// The variable of a loop that never turns: such a loop only names a value.
const UNUSED: &str = "#unused";
/// What `sortBy` calls its list.
const SORTED: &str = "@__sortBy_input__";

/// What a call becomes: an expression, an error at a node, or the call it looks like.
pub(super) enum Expansion {
    Expr(Expr),
    Error(Id, String),
    /// The arguments, given back.
    Call(Option<Expr>, Vec<Expr>),
}

/// Expands a call that is a macro.
pub(super) fn expand(
    builder: &mut Builder,
    at: Id,
    function: &str,
    target: Option<Expr>,
    args: Vec<Expr>,
) -> Expansion {
    let mut make = Make { at: builder.offset(at), builder };
    let Some(target) = target else {
        return match <[Expr; 1]>::try_from(args) {
            Ok([arg]) if function == "has" => make.has(arg),
            Ok(args) => Expansion::Call(None, args.into()),
            Err(args) => Expansion::Call(None, args),
        };
    };
    let result = match (function, args.len()) {
        ("all", 2 | 3) => make.quantifier(Quantifier::All, target, args),
        ("exists", 2 | 3) => make.quantifier(Quantifier::Exists, target, args),
        ("exists_one", 2) | ("exists_one" | "existsOne", 3) => make.quantifier(Quantifier::ExistsOne, target, args),
        ("map", 2 | 3) => make.map(target, args),
        ("filter", 2) => make.filter(target, args),
        ("transformList", 3 | 4) => make.transform(Transform::List, target, args),
        ("transformMap", 3 | 4) => make.transform(Transform::Map, target, args),
        ("transformMapEntry", 3 | 4) => make.transform(Transform::Entry, target, args),
        ("optMap", 2) => make.opt_map(target, args, true),
        ("optFlatMap", 2) => make.opt_map(target, args, false),
        ("sortBy", 2) => make.sort_by(target, args),
        _ => return Expansion::Call(Some(target), args),
    };
    match result {
        Ok(expr) => Expansion::Expr(expr),
        Err((id, message)) => Expansion::Error(id, message),
    }
}

type Made = Result<Expr, (Id, String)>;

#[derive(Clone, Copy)]
enum Quantifier {
    All,
    Exists,
    ExistsOne,
}

#[derive(Clone, Copy)]
enum Transform {
    List,
    Map,
    Entry,
}

/// Builds nodes that stand where the macro stands.
struct Make<'b> {
    at: Option<u32>,
    builder: &'b mut Builder,
}

fn fail<R>(expr: &Expr, message: impl Into<String>) -> Result<R, (Id, String)> {
    Err((expr.id, message.into()))
}

/// The parts of a loop besides its range and variables.
struct Loop {
    init: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

impl Make<'_> {
    fn node(&mut self, kind: Kind) -> Expr {
        Expr { id: self.builder.node_at(self.at), kind }
    }

    fn literal(&mut self, value: Literal) -> Expr {
        self.node(Kind::Literal(value))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(Kind::Ident(name.into()))
    }

    fn accu(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.node(Kind::Call { target: None, function: function.into(), args })
    }

    fn member(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.node(Kind::Call { target: Some(Box::new(target)), function: function.into(), args })
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        let optional = vec![false; elements.len()];
        self.node(Kind::List { elements, optional })
    }

    fn fold(&mut self, range: Expr, vars: (SmolStr, SmolStr), accu: &str, parts: Loop) -> Expr {
        let Loop { init, condition, step, result } = parts;
        let (var, var2) = vars;
        let fold = Comprehension { range, var, var2, accu: accu.into(), init, condition, step, result };
        self.node(Kind::Comprehension(Box::new(fold)))
    }

    fn has(&mut self, arg: Expr) -> Expansion {
        match arg.kind {
            Kind::Select { operand, field, .. } => {
                Expansion::Expr(self.node(Kind::Select { operand, field, test: true }))
            }
            _ => Expansion::Error(arg.id, "invalid argument to has() macro".to_owned()),
        }
    }

    fn quantifier(&mut self, kind: Quantifier, range: Expr, mut args: Vec<Expr>) -> Made {
        let predicate = args.pop().expect("macros are chosen by their number of arguments");
        let vars = match args.as_slice() {
            [first, second] => two_variables(first, second)?,
            [first] => (variable(first, "argument must be a simple name")?, SmolStr::default()),
            _ => (SmolStr::default(), SmolStr::default()),
        };
        let parts = match kind {
            Quantifier::All => {
                let init = self.literal(Literal::Bool(true));
                let accu = self.accu();
                let condition = self.call("@not_strictly_false", vec![accu]);
                let accu = self.accu();
                let step = self.call("_&&_", vec![accu, predicate]);
                Loop { init, condition, step, result: self.accu() }
            }
            Quantifier::Exists => {
                let init = self.literal(Literal::Bool(false));
                let accu = self.accu();
                let not = self.call("!_", vec![accu]);
                let condition = self.call("@not_strictly_false", vec![not]);
                let accu = self.accu();
                let step = self.call("_||_", vec![accu, predicate]);
                Loop { init, condition, step, result: self.accu() }
            }
            Quantifier::ExistsOne => {
                let init = self.literal(Literal::Int(0));
                let condition = self.literal(Literal::Bool(true));
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                let add = self.call("_+_", vec![accu, one]);
                let accu = self.accu();
                let step = self.call("_?_:_", vec![predicate, add, accu]);
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                let result = self.call("_==_", vec![accu, one]);
                Loop { init, condition, step, result }
            }
        };
        Ok(self.fold(range, vars, ACCUMULATOR, parts))
    }

    fn collect(&mut self, range: Expr, vars: (SmolStr, SmolStr), filter: Option<Expr>, element: Expr) -> Expr {
        let init = self.list(Vec::new());
        let condition = self.literal(Literal::Bool(true));
        let accu = self.accu();
        let list = self.list(vec![element]);
        let step = self.call("_+_", vec![accu, list]);
        let step = self.filtered(filter, step);
        let result = self.accu();
        self.fold(range, vars, ACCUMULATOR, Loop { init, condition, step, result })
    }

    fn filtered(&mut self, filter: Option<Expr>, step: Expr) -> Expr {
        let Some(filter) = filter else { return step };
        let accu = self.accu();
        self.call("_?_:_", vec![filter, step, accu])
    }

    fn map(&mut self, range: Expr, mut args: Vec<Expr>) -> Made {
        let element = args.pop().expect("macros are chosen by their number of arguments");
        let filter = if args.len() == 2 { args.pop() } else { None };
        let var = match args.first() {
            Some(first) => variable(first, "argument is not an identifier")?,
            None => SmolStr::default(),
        };
        Ok(self.collect(range, (var, SmolStr::default()), filter, element))
    }

    fn filter(&mut self, range: Expr, mut args: Vec<Expr>) -> Made {
        let filter = args.pop();
        let element = args.pop().expect("macros are chosen by their number of arguments");
        let var = variable(&element, "argument is not an identifier")?;
        Ok(self.collect(range, (var, SmolStr::default()), filter, element))
    }

    fn transform(&mut self, kind: Transform, range: Expr, mut args: Vec<Expr>) -> Made {
        let element = args.pop().expect("macros are chosen by their number of arguments");
        let filter = if args.len() == 3 { args.pop() } else { None };
        let vars = match args.as_slice() {
            [first, second] => two_variables(first, second)?,
            _ => (SmolStr::default(), SmolStr::default()),
        };
        if let Transform::List = kind {
            return Ok(self.collect(range, vars, filter, element));
        }
        let init = self.node(Kind::Map { entries: Vec::new() });
        let condition = self.literal(Literal::Bool(true));
        let accu = self.accu();
        let args = match kind {
            Transform::Map => vec![accu, self.ident(&vars.0), element],
            Transform::List | Transform::Entry => vec![accu, element],
        };
        let step = self.call("cel.@mapInsert", args);
        let step = self.filtered(filter, step);
        let result = self.accu();
        Ok(self.fold(range, vars, ACCUMULATOR, Loop { init, condition, step, result }))
    }

    /// A loop without turns: `value` by the name `name` in `result`.
    fn named(&mut self, name: &str, value: Expr, step: Expr, result: Expr) -> Expr {
        let range = self.list(Vec::new());
        let condition = self.literal(Literal::Bool(false));
        self.fold(range, (UNUSED.into(), SmolStr::default()), name, Loop { init: value, condition, step, result })
    }

    fn opt_map(&mut self, target: Expr, mut args: Vec<Expr>, wrap: bool) -> Made {
        let element = args.pop().expect("macros are chosen by their number of arguments");
        let Some(name) = args.first().and_then(Expr::as_ident).cloned() else {
            let which = if wrap { "optMap" } else { "optFlatMap" };
            return fail(&element, format!("{which}() variable name must be a simple identifier"))
                .map_err(|(id, message)| (args.first().map_or(id, |first| first.id), message));
        };
        let copy = self.builder.copy(&target);
        let has = self.member("hasValue", target, Vec::new());
        let value = self.member("value", copy, Vec::new());
        let step = self.ident(&name);
        let mut result = self.named(&name, value, step, element);
        if wrap {
            result = self.call("optional.of", vec![result]);
        }
        let none = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![has, result, none]))
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Made {
        if matches!(target.kind, Kind::Literal(_) | Kind::Map { .. } | Kind::Struct { .. } | Kind::Unspecified) {
            return fail(
                &target,
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
            );
        }
        let range = self.ident(SORTED);
        let keys = self.map(range, args)?;
        let list = self.ident(SORTED);
        let sorted = self.member("@sortByAssociatedKeys", list, vec![keys]);
        let step = self.ident(SORTED);
        Ok(self.named(SORTED, target, step, sorted))
    }
}

fn variable(expr: &Expr, otherwise: &str) -> Result<SmolStr, (Id, String)> {
    let Some(name) = expr.as_ident() else { return fail(expr, otherwise) };
    if name == ACCUMULATOR || name == OLD_ACCUMULATOR {
        return fail(expr, "iteration variable overwrites accumulator variable");
    }
    Ok(name.clone())
}

fn two_variables(first: &Expr, second: &Expr) -> Result<(SmolStr, SmolStr), (Id, String)> {
    let simple = |expr: &Expr| expr.as_ident().cloned().ok_or((expr.id, "argument must be a simple name".to_owned()));
    let names = (simple(first)?, simple(second)?);
    if names.0 == names.1 {
        return fail(second, format!("duplicate variable name: {}", names.0));
    }
    variable(first, "")?;
    variable(second, "")?;
    Ok(names)
}
