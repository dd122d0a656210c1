//! Following the steps of a path.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::{End, Found, List, Node, Slice};

/// The most things that are looked at on the way. Steps can multiply, and definitions come from clients.
const STEPS_MAX: usize = 100_000;

/// What a list of steps finds; none if it cannot be followed.
pub(super) fn run<'a>(list: &'a List, object: &'a Map<String, Value>) -> Option<Vec<Found<'a>>> {
    Walk { left: STEPS_MAX }.list(list, vec![Found::Object(object)]).ok()
}

/// What was found until a step failed; a filter counts that as something.
struct Stopped<'a>(Vec<Found<'a>>);

type Step<'a> = Result<Vec<Found<'a>>, Stopped<'a>>;

struct Walk {
    left: usize,
}

impl Walk {
    fn list<'a>(&mut self, list: &'a List, input: Vec<Found<'a>>) -> Step<'a> {
        list.iter().try_fold(input, |input, node| {
            let found = self.node(node, input)?;
            self.left = self.left.checked_sub(found.len() + 1).ok_or(Stopped(Vec::new()))?;
            Ok(found)
        })
    }

    fn node<'a>(&mut self, node: &'a Node, input: Vec<Found<'a>>) -> Step<'a> {
        let each = |found: Found<'a>| Ok(input.iter().map(|_| found.clone()).collect());
        match node {
            Node::Text(text) => Ok(vec![Found::Text(text)]),
            Node::Int(int) => each(Found::Int(*int)),
            Node::Float(float) => each(Found::Float(*float)),
            Node::Bool(flag) => each(Found::Bool(*flag)),
            Node::Field(name) => {
                let field = |found: Found<'a>| match found {
                    Found::Object(object) | Found::Value(Value::Object(object)) => object.get(name).map(Found::Value),
                    _ => None,
                };
                Ok(input.into_iter().filter_map(field).collect())
            }
            Node::Wildcard => Ok(input.iter().flat_map(inside).collect()),
            Node::Recursive => {
                let mut found = Vec::new();
                for value in input {
                    self.descend(value, &mut found)?;
                }
                Ok(found)
            }
            Node::Slice(slice) => sliced(*slice, input),
            Node::Union(lists) => {
                let mut found = Vec::new();
                for list in lists {
                    match self.list(list, input.clone()) {
                        Ok(some) => found.extend(some),
                        Err(_) => return Err(Stopped(input)),
                    }
                }
                Ok(found)
            }
            Node::Filter { left, operator, right } => self.filtered((left, operator, right), input),
            Node::Word => Err(Stopped(input)),
        }
    }

    /// A value that has something inside, and all such values in it.
    fn descend<'a>(&mut self, value: Found<'a>, found: &mut Vec<Found<'a>>) -> Result<(), Stopped<'a>> {
        let parts = inside(&value);
        self.left = self.left.checked_sub(parts.len() + 1).ok_or(Stopped(Vec::new()))?;
        if !parts.is_empty() {
            found.push(value);
            for part in parts {
                self.descend(part, found)?;
            }
        }
        Ok(())
    }

    fn filtered<'a>(&mut self, (left, operator, right): (&'a List, &str, &'a List), input: Vec<Found<'a>>) -> Step<'a> {
        let mut found = Vec::new();
        for value in &input {
            let Found::Value(Value::Array(items)) = value else { return Err(Stopped(input)) };
            for item in items {
                self.left = self.left.checked_sub(1).ok_or(Stopped(Vec::new()))?;
                let here = || vec![Found::Value(item)];
                let lefts = self.list(left, here());
                if operator == "exists" {
                    let (Ok(lefts) | Err(Stopped(lefts))) = lefts;
                    found.extend((!lefts.is_empty()).then_some(Found::Value(item)));
                    continue;
                }
                let Ok(lefts) = lefts else { return Err(Stopped(input)) };
                let left = match lefts.as_slice() {
                    [] => continue,
                    [one] => one,
                    _ => return Err(Stopped(input)),
                };
                let Ok(rights) = self.list(right, here()) else { return Err(Stopped(input)) };
                let right = match rights.as_slice() {
                    [] => continue,
                    [one] => one,
                    _ => return Err(Stopped(input)),
                };
                match compare(left, operator, right) {
                    Some(true) => found.push(Found::Value(item)),
                    Some(false) => {}
                    None => return Err(Stopped(found)),
                }
            }
        }
        Ok(found)
    }
}

/// What is directly inside of a value. A text holds its bytes.
fn inside<'a>(value: &Found<'a>) -> Vec<Found<'a>> {
    let bytes = |text: &str| text.bytes().map(|byte| Found::Int(byte.into())).collect();
    match value {
        Found::Object(object) => object.values().map(Found::Value).collect(),
        Found::Value(Value::Object(object)) => object.values().map(Found::Value).collect(),
        Found::Value(Value::Array(items)) => items.iter().map(Found::Value).collect(),
        Found::Value(Value::String(text)) => bytes(text),
        Found::Text(text) => bytes(text),
        _ => Vec::new(),
    }
}

fn sliced(slice: Slice, input: Vec<Found<'_>>) -> Step<'_> {
    let mut found = Vec::new();
    for value in &input {
        let items = match value {
            Found::Value(Value::Null) => continue,
            Found::Value(Value::Array(items)) => items,
            _ => return Err(Stopped(input)),
        };
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let from_end = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
        let start = from_end(slice.start.unwrap_or_default());
        let end = match slice.end {
            End::Open | End::Next(0) => length,
            End::At(end) | End::Next(end) => from_end(end),
        };
        if start == end {
            return Ok(found);
        }
        let step = slice.step.unwrap_or(1);
        let is_range = (0..length).contains(&start) && (0..=length).contains(&end) && start <= end && step > 0;
        let (Ok(from), Ok(to), Ok(step), true) =
            (usize::try_from(start), usize::try_from(end), usize::try_from(step), is_range)
        else {
            return Err(Stopped(input));
        };
        found.extend(items.get(from..to).unwrap_or_default().iter().step_by(step.max(1)).map(Found::Value));
    }
    Ok(found)
}

/// A value as comparisons see it.
enum Basic<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
}

fn basic<'a>(found: &Found<'a>) -> Option<Basic<'a>> {
    Some(match found {
        Found::Value(Value::Number(number)) => match number.as_i64() {
            Some(int) => Basic::Int(int),
            None => Basic::Float(number.as_f64()?),
        },
        Found::Value(Value::String(text)) => Basic::Text(text.as_str()),
        Found::Text(text) => Basic::Text(text),
        Found::Int(int) => Basic::Int(*int),
        Found::Float(float) => Basic::Float(*float),
        Found::Bool(flag) | Found::Value(Value::Bool(flag)) => Basic::Bool(*flag),
        Found::Object(_) | Found::Value(_) => return None,
    })
}

/// Whether two values compare so; none if they cannot be compared.
fn compare(left: &Found<'_>, operator: &str, right: &Found<'_>) -> Option<bool> {
    let order = match (basic(left)?, basic(right)?) {
        (Basic::Bool(left), Basic::Bool(right)) => {
            return match operator {
                "==" => Some(left == right),
                "!=" => Some(left != right),
                _ => None,
            };
        }
        (Basic::Int(left), Basic::Int(right)) => left.cmp(&right),
        (Basic::Float(left), Basic::Float(right)) => left.partial_cmp(&right)?,
        (Basic::Text(left), Basic::Text(right)) => left.cmp(right),
        _ => return None,
    };
    match operator {
        "==" => Some(order == Ordering::Equal),
        "!=" => Some(order != Ordering::Equal),
        "<" => Some(order == Ordering::Less),
        "<=" => Some(order != Ordering::Greater),
        ">" => Some(order == Ordering::Greater),
        ">=" => Some(order != Ordering::Less),
        _ => None,
    }
}
