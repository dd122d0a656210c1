//! Repetitions.

use super::weight::{REPEATS_MAX, Weight};
use super::{Fault, Parser, taken};

const NESTED: &str = "invalid nested repetition operator";
const COUNT: &str = "invalid repeat count";
const ARGUMENT: &str = "missing argument to repetition operator";

impl<'a> Parser<'a> {
    /// At `{`: whether counts of a repetition follow; if not, it stands for itself.
    pub(super) fn counted(&mut self, last_repeat: Option<&'a str>) -> Result<bool, Fault> {
        let at = self.rest;
        let Some((least, most, after)) = counts(at) else {
            self.skip(1);
            return self.literal('{').map(|()| false);
        };
        self.rest = after;
        let too_many = |count: Count| count.is_none_or(|count| count > REPEATS_MAX);
        let is_bad = too_many(least)
            || most.is_some_and(too_many)
            || least.zip(most.flatten()).is_some_and(|(least, most)| least > most);
        if is_bad {
            return Err((COUNT, taken(at, after)));
        }
        self.repeat(at, last_repeat, Some((least.unwrap_or_default(), most.flatten())))?;
        Ok(true)
    }

    /// After `*`, `+`, `?` or counts were taken. `before` is where they began.
    pub(super) fn repeat(
        &mut self,
        before: &'a str,
        last_repeat: Option<&'a str>,
        counts: Option<(u64, Option<u64>)>,
    ) -> Result<(), Fault> {
        let operator = taken(before, self.rest);
        let lazy = self.rest.starts_with('?');
        if lazy {
            self.skip(1);
        }
        if let Some(last) = last_repeat {
            return Err((NESTED, taken(last, self.rest)));
        }
        let Some(weight) = self.group().last.take() else { return Err((ARGUMENT, taken(before, self.rest))) };
        let weight = match (operator.as_str(), counts) {
            ("*", _) | (_, Some((0, None))) => weight.within(2),
            (_, None) => weight.within(1),
            (_, Some((least, None))) => Weight {
                size: weight.size.saturating_mul(least).saturating_add(1),
                repeats: weight.repeats.saturating_mul(least.max(1)),
                height: weight.height + 1,
            },
            (_, Some((least, Some(most)))) => Weight {
                size: weight.size.saturating_mul(most).saturating_add(most.saturating_sub(least)).max(1),
                repeats: if most == 0 { 1 } else { weight.repeats.saturating_mul(most) },
                height: weight.height + 1,
            },
        };
        self.group().last = Some(weight);
        self.check(weight)?;
        let counted = counts.is_some_and(|(least, most)| least >= 2 || most.is_some_and(|most| most >= 2));
        if counted && weight.repeats > REPEATS_MAX {
            return Err((COUNT, taken(before, self.rest)));
        }
        self.put(&operator);
        if lazy {
            self.put("?");
        }
        Ok(())
    }
}

type Count = Option<u64>;

/// The counts of a repetition, and what follows; counts that are too large are `None`, and so is no upper one.
fn counts(text: &str) -> Option<(Count, Option<Count>, &str)> {
    let (least, rest) = number(text.strip_prefix('{')?)?;
    let Some(rest) = rest.strip_prefix(',') else {
        return Some((least, Some(least), rest.strip_prefix('}')?));
    };
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((least, None, rest));
    }
    let (most, rest) = number(rest)?;
    Some((least, Some(most), rest.strip_prefix('}')?))
}

fn number(text: &str) -> Option<(Count, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().ok(), rest))
}
