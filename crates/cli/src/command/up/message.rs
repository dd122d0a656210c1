//! What the live view is told.

use rolewright_plan::{ObjectRef, Severity};
use serde_json::{Map, Value, json};

use super::summary::Summary;

/// Something to show.
#[derive(Debug)]
pub(super) enum Message {
    /// Everything is there, and nothing is left to write.
    Ready(Box<Summary>),
    /// Something happened.
    Deed(Deed),
    /// How things are now.
    State(State),
    /// The terminal has another width.
    Resized,
}

/// How things are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Roles and bindings that the manager keeps.
    pub(super) kept: usize,
    /// Keys that wait.
    pub(super) waiting: usize,
}

/// What happened, to what, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) what: What,
    /// Who did it; nobody's module if the server did.
    pub(super) module: &'static str,
    pub(super) object: ObjectRef,
    /// Why, in words.
    pub(super) cause: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// So many writes are on their way, on behalf of the object.
    Planned(usize),
    /// It was created, changed or deleted, and nobody has less than before.
    Wrote(Sign),
    /// Somebody else had changed or deleted it, and it is again as it was.
    Repaired(Sign),
    /// Somebody has less than before.
    Revoked(Sign),
    /// The server refused.
    Failed,
    /// A condition of the object says something else.
    Reported,
    /// Something is wrong with it.
    Problem(Severity),
    /// That is no longer so.
    Solved,
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Create,
    Update,
    Delete,
}

impl Sign {
    /// As plans show it.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Create => '+',
            Self::Update => '~',
            Self::Delete => '-',
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

impl What {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Planned(_) => "planned",
            Self::Wrote(_) => "wrote",
            Self::Repaired(_) => "repaired",
            Self::Revoked(_) => "revoked",
            Self::Failed => "failed",
            Self::Reported => "reported",
            Self::Problem(_) => "problem",
            Self::Solved => "solved",
        }
    }

    pub(super) fn sign(self) -> Option<Sign> {
        match self {
            Self::Wrote(sign) | Self::Repaired(sign) | Self::Revoked(sign) => Some(sign),
            _ => None,
        }
    }
}

impl Deed {
    /// For programs.
    pub(super) fn to_json(&self, time: &str) -> Value {
        let ObjectRef { kind, namespace, name } = &self.object;
        let mut object = json!({ "group": kind.group, "kind": kind.kind, "name": name });
        let mut deed = json!({
            "event": self.what.word(), "time": time, "cause": self.cause,
        });
        insert(&mut deed, "module", (!self.module.is_empty()).then(|| json!(self.module)));
        insert(&mut object, "namespace", (!namespace.is_empty()).then(|| json!(namespace)));
        insert(&mut deed, "verb", self.what.sign().map(|sign| json!(sign.word())));
        if let What::Planned(writes) = self.what {
            insert(&mut deed, "writes", Some(json!(writes)));
        }
        insert(&mut deed, "object", Some(object));
        deed
    }
}

fn insert(to: &mut Value, name: &str, value: Option<Value>) {
    let fields: Option<&mut Map<String, Value>> = to.as_object_mut();
    if let (Some(fields), Some(value)) = (fields, value) {
        fields.insert(name.to_owned(), value);
    }
}
