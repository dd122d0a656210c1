//! Kubernetes' dialect of the Common Expression Language: parsing, type checking, cost and evaluation.
//!
//! Pure: no I/O, no clock. Expressions and values come from clients, so every step is bounded.
//!
//! ```
//! use rolewright_cel::{Answer, Env, PER_CALL_LIMIT, Schema, Variable};
//!
//! let schema = serde_json::json!({"type": "object", "properties": {"replicas": {"type": "integer"}}});
//! let env = Env::new(vec![Variable::new("self", &Schema::structural(&schema, false))]);
//! let program = env.check("self.replicas < 3").unwrap().program().unwrap();
//! let object = serde_json::json!({"replicas": 2});
//! let answer = program.eval(&[Some((&object).into())], PER_CALL_LIMIT);
//! assert_eq!(answer.result, Ok(Answer::Bool(true)));
//! ```
mod ast;
mod checker;
mod cost;
mod env;
mod escape;
mod eval;
mod functions;
mod lexer;
mod library;
mod parser;
mod plan;
mod program;
pub mod regexp;
mod room;
mod schema;
mod source;
pub mod strfmt;
pub mod time;
mod types;
pub mod url;
mod value;

pub use env::{Env, Variable};
pub use escape::{escape, is_identifier, unescape};
pub use program::{Answer, BUDGET, Checking, EvalError, Evaluation, Input, PER_CALL_LIMIT, Program};
pub use schema::Schema;
pub use source::Issues;
pub use types::Type;
