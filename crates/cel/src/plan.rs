//! Checked expressions made ready to evaluate: names resolved, constants computed, sets and patterns prepared.
//!
//! What is computed beforehand costs nothing later, and what cannot be computed is an error before anything is evaluated. Both are
//! on the wire, so the preparation is that of cel-go with Kubernetes' options, step by step.
mod build;

use std::collections::HashSet;

use smol_str::SmolStr;

use crate::ast::Id;
use crate::functions::Function;
use crate::library::regex::Pattern;
use crate::value::Value;

pub(crate) use build::plan;

/// A step of evaluation.
#[derive(Debug)]
pub(crate) enum Step {
    Const(Id, Value<'static>),
    Attribute(Box<Attribute>),
    /// `has(...)`: the identity of the test, and what is tested.
    Test(Id, Box<Attribute>),
    And(Id, Vec<Step>),
    Or(Id, Vec<Step>),
    Equal {
        id: Id,
        args: [Box<Step>; 2],
        negated: bool,
    },
    Call(Box<Call>),
    List {
        id: Id,
        elements: Vec<Step>,
        optional: Vec<bool>,
    },
    Map {
        id: Id,
        entries: Vec<(Step, Step, bool)>,
    },
    Member {
        id: Id,
        arg: Box<Step>,
        set: Box<Members>,
    },
    /// `a.or(b)` and `a.orValue(b)`.
    OptionalOr {
        id: Id,
        args: [Box<Step>; 2],
        unwrap: bool,
    },
    Fold(Box<Fold>),
}

/// The constants of `x in [...]`.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub(crate) bools: HashSet<bool>,
    pub(crate) ints: HashSet<i64>,
    pub(crate) uints: HashSet<u64>,
    pub(crate) doubles: HashSet<u64>,
    pub(crate) texts: HashSet<SmolStr>,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Id,
    pub(crate) function: &'static Function,
    /// The overload, when the types leave one.
    pub(crate) overload: Option<&'static str>,
    pub(crate) args: Vec<Step>,
    /// A constant pattern, compiled.
    pub(crate) pattern: Option<Pattern>,
    /// Whether the first argument is the accumulator of the loop around: it is added to in place.
    pub(crate) accumulates: bool,
}

#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) id: Id,
    pub(crate) accu: SmolStr,
    pub(crate) var: SmolStr,
    pub(crate) var2: SmolStr,
    pub(crate) init: Step,
    pub(crate) range: Step,
    pub(crate) condition: Step,
    pub(crate) step: Step,
    pub(crate) result: Step,
}

/// A place to look at, and the way from there.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) root: Root,
    pub(crate) qualifiers: Vec<Qualifier>,
}

#[derive(Debug)]
pub(crate) enum Root {
    Name(Id, SmolStr),
    Value(Id, Step),
    /// The way on is added to both branches.
    Choice {
        id: Id,
        condition: Step,
        truthy: Box<Attribute>,
        falsy: Box<Attribute>,
    },
}

#[derive(Debug)]
pub(crate) struct Qualifier {
    pub(crate) id: Id,
    pub(crate) by: By,
    pub(crate) optional: bool,
    /// Whether only the presence is asked for.
    pub(crate) test: bool,
}

#[derive(Debug)]
pub(crate) enum By {
    Const(Value<'static>),
    Attribute(std::sync::Arc<Attribute>),
    /// The value of a step that is no attribute.
    Step(std::sync::Arc<Step>),
}

impl Clone for Qualifier {
    fn clone(&self) -> Self {
        let by = match &self.by {
            By::Const(value) => By::Const(value.clone()),
            By::Attribute(attribute) => By::Attribute(attribute.clone()),
            By::Step(step) => By::Step(step.clone()),
        };
        Self { id: self.id, by, optional: self.optional, test: self.test }
    }
}

impl Attribute {
    pub(crate) fn add(&mut self, qualifier: Qualifier) {
        if let Root::Choice { truthy, falsy, .. } = &mut self.root {
            truthy.add(qualifier.clone());
            falsy.add(qualifier);
        } else {
            self.qualifiers.push(qualifier);
        }
    }

    /// Whether it is the step of a loop that adds to the accumulator, or leaves it as it is.
    pub(crate) fn accumulates(&self) -> bool {
        let Root::Choice { truthy, .. } = &self.root else { return false };
        matches!(&truthy.root, Root::Value(_, Step::Call(call)) if call.accumulates)
    }

    fn depth(&self) -> usize {
        let root = match &self.root {
            Root::Name(..) => 0,
            Root::Value(_, step) => step.depth(),
            Root::Choice { condition, truthy, falsy, .. } => condition.depth().max(truthy.depth()).max(falsy.depth()),
        };
        let by = self.qualifiers.iter().map(|qualifier| match &qualifier.by {
            By::Const(_) => 0,
            By::Attribute(attribute) => attribute.depth(),
            By::Step(step) => step.depth(),
        });
        1 + by.max().unwrap_or(0).max(root)
    }

    pub(crate) fn id(&self) -> Id {
        if let Some(last) = self.qualifiers.last() {
            return last.id;
        }
        match &self.root {
            Root::Name(id, _) | Root::Value(id, _) => *id,
            Root::Choice { id, truthy, falsy, .. } => {
                let branch = truthy.id();
                if branch == falsy.id() { branch } else { *id }
            }
        }
    }
}

impl Step {
    pub(crate) fn id(&self) -> Id {
        match self {
            Self::Const(id, _)
            | Self::Test(id, _)
            | Self::And(id, _)
            | Self::Or(id, _)
            | Self::Equal { id, .. }
            | Self::List { id, .. }
            | Self::Map { id, .. }
            | Self::Member { id, .. }
            | Self::OptionalOr { id, .. } => *id,
            Self::Attribute(attribute) => attribute.id(),
            Self::Call(call) => call.id,
            Self::Fold(fold) => fold.id,
        }
    }

    /// How many steps are inside each other.
    pub(crate) fn depth(&self) -> usize {
        let deepest = |steps: &[Step]| steps.iter().map(Step::depth).max().unwrap_or(0);
        1 + match self {
            Self::Const(..) => 0,
            Self::Attribute(attribute) | Self::Test(_, attribute) => attribute.depth(),
            Self::And(_, terms) | Self::Or(_, terms) => deepest(terms),
            Self::Equal { args: [one, two], .. } | Self::OptionalOr { args: [one, two], .. } => {
                one.depth().max(two.depth())
            }
            Self::Call(call) => deepest(&call.args),
            Self::List { elements, .. } => deepest(elements),
            Self::Map { entries, .. } => {
                entries.iter().map(|(key, value, _)| key.depth().max(value.depth())).max().unwrap_or(0)
            }
            Self::Member { arg, .. } => arg.depth(),
            Self::Fold(fold) => [&fold.init, &fold.range, &fold.condition, &fold.step, &fold.result]
                .into_iter()
                .map(Step::depth)
                .max()
                .unwrap_or(0),
        }
    }

    pub(crate) fn as_const(&self) -> Option<&Value<'static>> {
        if let Self::Const(_, value) = self { Some(value) } else { None }
    }
}
