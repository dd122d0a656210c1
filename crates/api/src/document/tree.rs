//! Documents as trees of whatever their readers work with.

use std::borrow::Cow;

use super::json::{self, Form, Listener, Scalar};
use super::node::MAX_DEPTH;

/// A document, or a part of one.
pub trait Tree<'a>: Sized {
    /// What has no parts.
    fn scalar(scalar: Scalar<'a>) -> Self;

    /// A list.
    fn list(items: Vec<Self>) -> Self;

    /// An object. In the order of the text, duplicates included.
    fn object(members: Vec<(String, Self)>) -> Self;
}

/// Reads a whole document.
pub fn parse<'a, T: Tree<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    let mut builder = Builder { open: Vec::new(), whole: None };
    json::read(bytes, &mut builder)?;
    // WHY: a document that was read is a value; who reads it cannot know, and need not fear.
    builder.whole.ok_or_else(|| "unexpected end of JSON input".to_owned())
}

struct Builder<T> {
    open: Vec<Open<T>>,
    whole: Option<T>,
}

enum Open<T> {
    List(Vec<T>),
    /// The members, and the name of the next one.
    Object(Vec<(String, T)>, String),
}

impl<T> Builder<T> {
    fn push(&mut self, value: T) {
        match self.open.last_mut() {
            None => self.whole = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Object(members, name)) => members.push((std::mem::take(name), value)),
        }
    }
}

impl<'a, T: Tree<'a>> Listener<'a> for Builder<T> {
    const MAX_DEPTH: usize = MAX_DEPTH;

    fn open(&mut self, form: Form) {
        self.open.push(match form {
            Form::List => Open::List(Vec::new()),
            Form::Object => Open::Object(Vec::new(), String::new()),
        });
    }

    fn key(&mut self, name: Cow<'a, str>) {
        if let Some(Open::Object(_, next)) = self.open.last_mut() {
            *next = name.into_owned();
        }
    }

    fn scalar(&mut self, scalar: Scalar<'a>) {
        self.push(T::scalar(scalar));
    }

    fn close(&mut self) {
        let value = match self.open.pop() {
            None => return,
            Some(Open::List(items)) => T::list(items),
            Some(Open::Object(members, _)) => T::object(members),
        };
        self.push(value);
    }
}
