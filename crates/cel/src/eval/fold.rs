//! Loops.
use super::{Evaluated, Evaluator, Stop};
use crate::plan::Fold;
use crate::value::{Outcome, Value};

/// A loop that is being evaluated.
pub(super) struct Frame<'p, 'a> {
    fold: &'p Fold,
    var: Option<Outcome<'a>>,
    var2: Option<Outcome<'a>>,
    /// None until it is first asked for.
    accu: Option<Evaluated<'a>>,
    /// Whether the turns are over and only the result is left.
    ended: bool,
}

impl<'p, 'a> Evaluator<'p, 'a> {
    pub(super) fn fold(&mut self, fold: &'p Fold) -> Evaluated<'a> {
        let result = self.fold_result(fold);
        if super::is_final(&result) {
            return result;
        }
        self.tracker.drop_each([fold.range.id()]);
        self.observed(fold.id, result)
    }

    fn fold_result(&mut self, fold: &'p Fold) -> Evaluated<'a> {
        let range = self.eval(&fold.range)?;
        let two = !fold.var2.is_empty();
        self.loops.push(Frame { fold, var: None, var2: None, accu: None, ended: false });
        let turned = match &range {
            Value::List(list) => {
                let count = list.len();
                (0..count).try_fold(true, |goes_on, index| {
                    if !goes_on {
                        return Ok(false);
                    }
                    let number = i64::try_from(index).unwrap_or(i64::MAX);
                    match list.get(index) {
                        Some(item) if two => self.turn(Ok(Value::Int(number)), Some(item)),
                        Some(item) => self.turn(item, None),
                        None => Ok(false),
                    }
                })
            }
            Value::Map(map) if two => map.found().into_iter().try_fold(true, |goes_on, (key, found)| {
                if goes_on { self.turn(Ok(key), found.transpose()) } else { Ok(false) }
            }),
            Value::Map(map) => map
                .keys()
                .into_iter()
                .try_fold(true, |goes_on, key| if goes_on { self.turn(Ok(key), None) } else { Ok(false) }),
            other if two => super::fault(format!("unsupported comprehension range type: {}", other.native_name())),
            other => super::fault(format!("got '{}', expected iterable type", other.native_name())),
        };
        let result = turned.and_then(|_| {
            if let Some(frame) = self.loops.last_mut() {
                frame.ended = true;
            }
            self.eval(&fold.result)
        });
        self.loops.pop();
        result
    }

    /// One turn; whether there may be another.
    fn turn(&mut self, var: Outcome<'a>, var2: Option<Outcome<'a>>) -> Result<bool, Stop> {
        let Some(frame) = self.loops.last_mut() else { return Ok(false) };
        let fold = frame.fold;
        frame.var = Some(var);
        frame.var2 = var2;
        match self.eval(&fold.condition) {
            Ok(Value::Bool(false)) => return Ok(false),
            Err(stop) if stop.is_final() => return Err(stop),
            _ => {}
        }
        let accu = self.eval(&fold.step);
        if super::is_final(&accu) {
            return accu.map(|_| false);
        }
        if let Some(frame) = self.loops.last_mut() {
            frame.accu = Some(accu);
        }
        Ok(true)
    }

    /// The value of a name: of the innermost loop that has it, else of the environment.
    pub(super) fn lookup(&mut self, name: &str) -> Evaluated<'a> {
        for at in (0..self.loops.len()).rev() {
            let Some(frame) = self.loops.get(at) else { continue };
            if frame.fold.accu == name {
                return self.accumulator(at);
            }
            if frame.ended {
                continue;
            }
            if frame.fold.var == name
                && let Some(value) = &frame.var
            {
                return Ok(value.clone()?);
            }
            if frame.fold.var2 == name
                && let Some(value) = &frame.var2
            {
                return Ok(value.clone()?);
            }
        }
        match self.globals.iter().find(|binding| binding.name == name) {
            Some(binding) => Ok(binding.value.clone()?),
            None => super::fault(format!("no such attribute(s): {name}")),
        }
    }

    fn accumulator(&mut self, at: usize) -> Evaluated<'a> {
        let Some(frame) = self.loops.get(at) else { return super::fault("no such attribute(s)") };
        if let Some(accu) = &frame.accu {
            return accu.clone();
        }
        let init = &frame.fold.init;
        // The first value belongs to what is around the loop.
        let inner = self.loops.split_off(at);
        let value = self.eval(init);
        self.loops.extend(inner);
        if super::is_final(&value) {
            return value;
        }
        if let Some(frame) = self.loops.get_mut(at) {
            frame.accu = Some(value.clone());
        }
        value
    }

    /// Whether the accumulator of the innermost loop is a list or map that may be added to in place.
    pub(super) fn accumulates_collection(&mut self) -> bool {
        let Some(last) = self.loops.len().checked_sub(1) else { return false };
        let value = self.accumulator(last);
        match value {
            Ok(Value::List(list)) => list.is_made(),
            Ok(Value::Map(map)) => map.is_made(),
            _ => false,
        }
    }

    /// Takes the accumulator out of its loop; the turn's result takes its place.
    pub(super) fn take_accumulated(&mut self) -> Evaluated<'a> {
        match self.loops.last_mut().and_then(|frame| frame.accu.take()) {
            Some(accu) => accu,
            None => super::fault("no such attribute(s)"),
        }
    }
}
