//! What the parser tells about text that is no expression, and where it goes on.
//!
//! The texts are on the wire and depend on how the generated parser of cel-go recovers: what it expects at a place, whether one
//! token too many or too few explains the error, and up to which token it skips. This is that strategy, for our own descent.
use std::sync::Arc;

use crate::lexer::{NAMES, T, Token, plain};
use crate::source::{Issues, Source};

/// So many times the parser tries to go on.
const MOST_RECOVERIES: usize = 30;
/// So many tokens one recovery may skip.
const MOST_SKIPPED: usize = 256;
/// So many errors are told before the parser gives up.
const MOST_ERRORS: usize = 100;
/// So deep each rule of the grammar may nest.
const DEEPEST: u16 = 250;

/// A set of kinds of tokens; `end` when the rule may be over, so that what follows its caller counts too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) set: u64,
    pub(super) end: bool,
}

/// The set of some kinds.
pub(super) const fn set(kinds: &[T]) -> u64 {
    let mut set = 0;
    let mut rest = kinds;
    while let [first, tail @ ..] = rest {
        set |= 1 << (*first as u8);
        rest = tail;
    }
    set
}

pub(super) const fn only(kinds: &[T]) -> Next {
    Next { set: set(kinds), end: false }
}

pub(super) const fn or_end(kinds: &[T]) -> Next {
    Next { set: set(kinds), end: true }
}

/// The rules whose nesting is bounded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Expr,
    Relation,
    Calc,
    Member,
    ExprList,
}

const RULES: usize = 5;

/// Why a rule stops before its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// The token is none of the expected ones.
    Mismatch { site: u16, expecting: u64 },
    /// No alternative goes on; told from the token at `start` to the one at `end`.
    NoViable { site: u16, start: usize, end: usize },
    /// Parsing ends here.
    Fatal,
}

/// The tokens, the place among them, and the state of recovery.
pub(super) struct Stream {
    source: Arc<Source>,
    tokens: Vec<Token>,
    /// Where text was left out that is no token.
    dropped: Vec<(usize, usize)>,
    at: usize,
    callers: Vec<Next>,
    depth: [u16; RULES],
    recovering: bool,
    last_error: Option<(usize, Vec<u16>)>,
    recoveries: usize,
    errors: usize,
    pub(super) issues: Issues,
}

impl Stream {
    pub(super) fn new(source: Arc<Source>) -> Self {
        let mut found = Vec::new();
        let tokens = crate::lexer::tokens(&source, &mut found);
        let mut issues = Issues::default();
        let errors = found.len();
        crate::lexer::report(found.get(..errors.min(MOST_ERRORS + 1)).unwrap_or_default(), &source, &mut issues);
        let dropped = found.iter().map(|none| (none.start, none.end)).collect();
        Self {
            source,
            tokens,
            dropped,
            at: 0,
            callers: Vec::new(),
            depth: [0; RULES],
            recovering: false,
            last_error: None,
            recoveries: 0,
            errors,
            issues,
        }
    }

    pub(super) fn token(&self, ahead: usize) -> Token {
        let end = Token { kind: T::Eof, start: self.source.chars().len(), end: self.source.chars().len() };
        self.tokens.get(self.at + ahead).or(self.tokens.last()).copied().unwrap_or(end)
    }

    pub(super) fn peek(&self, ahead: usize) -> T {
        self.token(ahead).kind
    }

    pub(super) fn is_in(&self, set: u64) -> bool {
        contains(set, self.peek(0))
    }

    pub(super) fn text(&self, token: Token) -> String {
        if token.kind == T::Eof { "<EOF>".to_owned() } else { self.source.slice(token.start, token.end) }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn skip(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Takes a token that is known to fit.
    pub(super) fn take(&mut self) -> Token {
        let token = self.token(0);
        self.matched();
        self.skip();
        token
    }

    fn matched(&mut self) {
        self.recovering = false;
        self.last_error = None;
    }

    fn depth_of(&mut self, rule: Rule) -> &mut u16 {
        self.depth.get_mut(rule as usize).expect("every rule has its count")
    }

    /// Enters a rule.
    pub(super) fn enter(&mut self, rule: Rule) -> Result<(), Stop> {
        let depth = self.depth_of(rule);
        *depth += 1;
        if *depth > DEEPEST {
            self.give_up(&format!("expression recursion limit exceeded: {DEEPEST}"));
            return Err(Stop::Fatal);
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, rule: Rule) {
        let depth = self.depth_of(rule);
        *depth = depth.saturating_sub(1);
    }

    pub(super) fn call(&mut self, next: Next) {
        self.callers.push(next);
    }

    /// Ends a call: an error within the rule is told, and the parser goes on after it.
    pub(super) fn called<R>(&mut self, result: Result<R, Stop>) -> Result<Option<R>, Stop> {
        let answer = match result {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Fatal) => Err(Stop::Fatal),
            Err(stop) => self.tell(&stop).and_then(|()| self.recover(&stop)).map(|()| None),
        };
        self.callers.pop();
        answer
    }

    pub(super) fn give_up(&mut self, message: &str) {
        self.issues.report(crate::source::Location::NONE, message);
    }

    fn syntax_error(&mut self, token: Token, message: &str) -> Result<(), Stop> {
        let at = self.source.location(u32::try_from(token.start).unwrap_or(u32::MAX));
        self.errors += 1;
        if self.errors > MOST_ERRORS {
            self.issues.report(at, format!("Syntax error: More than {MOST_ERRORS} syntax errors"));
            return Err(Stop::Fatal);
        }
        self.issues.report(at, format!("Syntax error: {message}"));
        Ok(())
    }

    /// Everything that may stand at a place, with what may follow the callers when the rule may be over.
    fn expected(&self, next: Next) -> u64 {
        let mut expected = next.set;
        let mut end = next.end;
        for caller in self.callers.iter().rev() {
            if !end {
                return expected;
            }
            expected |= caller.set;
            end = caller.end;
        }
        if end { expected | set(&[T::Eof]) } else { expected }
    }

    fn shown(&self, token: Token) -> String {
        format!("'{}'", plain(&self.text(token)))
    }

    fn tell(&mut self, stop: &Stop) -> Result<(), Stop> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        match *stop {
            Stop::Mismatch { expecting, .. } => {
                let token = self.token(0);
                let message = format!("mismatched input {} expecting {}", self.shown(token), names(expecting));
                self.syntax_error(token, &message)
            }
            Stop::NoViable { start, end, .. } => self.tell_no_viable(start, end),
            Stop::Fatal => Err(Stop::Fatal),
        }
    }

    fn tell_no_viable(&mut self, start: usize, end: usize) -> Result<(), Stop> {
        let (Some(first), Some(last)) = (self.tokens.get(start).copied(), self.tokens.get(end).copied()) else {
            return Ok(());
        };
        let text = if first.kind == T::Eof { self.text(first) } else { self.between(first.start, last.end) };
        let mut rest = text.chars();
        rest.next();
        let message = if matches!(rest.as_str(), "true" | "false" | "null") {
            format!("mismatched input '{}' expecting IDENTIFIER", rest.as_str())
        } else {
            format!("no viable alternative at input '{}'", plain(&text))
        };
        self.syntax_error(last, &message)
    }

    /// The text of the tokens and of the white space between two places.
    fn between(&self, start: usize, end: usize) -> String {
        let mut text = String::new();
        let mut from = start;
        for (dropped, next) in self.dropped.iter().filter(|(at, _)| (start..end).contains(at)) {
            text.push_str(&self.source.slice(from, *dropped));
            from = *next;
        }
        text.push_str(&self.source.slice(from, end));
        text
    }

    fn attempt(&mut self) -> Result<(), Stop> {
        self.recoveries += 1;
        if self.recoveries > MOST_RECOVERIES {
            let token = self.token(0);
            self.syntax_error(token, &format!("error recovery attempt limit exceeded: {MOST_RECOVERIES}"))?;
            return Err(Stop::Fatal);
        }
        Ok(())
    }

    fn recover(&mut self, stop: &Stop) -> Result<(), Stop> {
        let (Stop::Mismatch { site, .. } | Stop::NoViable { site, .. }) = *stop else { return Err(Stop::Fatal) };
        self.attempt()?;
        let mut states = match self.last_error.take() {
            Some((at, states)) => {
                if at == self.at && states.contains(&site) {
                    self.skip();
                }
                states
            }
            None => Vec::new(),
        };
        states.push(site);
        self.last_error = Some((self.at, states));
        let follow = self.callers.iter().fold(0, |follow, caller| follow | caller.set);
        self.skip_until(follow)
    }

    fn skip_until(&mut self, set: u64) -> Result<(), Stop> {
        let mut skipped = 0;
        while self.peek(0) != T::Eof && !self.is_in(set) {
            if skipped == MOST_SKIPPED {
                self.give_up(&format!("error recovery token lookahead limit exceeded: {MOST_SKIPPED}"));
                return Err(Stop::Fatal);
            }
            skipped += 1;
            self.skip();
        }
        Ok(())
    }

    /// At the start of a choice: leaves out one token too many, or stops the rule.
    pub(super) fn sync(&mut self, site: u16, next: Next) -> Result<(), Stop> {
        if self.recovering || next.end || self.is_in(next.set) {
            return Ok(());
        }
        if self.leave_out(next)? { Ok(()) } else { Err(Stop::Mismatch { site, expecting: self.expected(next) }) }
    }

    /// At the end of a turn of a repetition that may go on.
    pub(super) fn sync_loop(&mut self, next: Next) -> Result<(), Stop> {
        if self.recovering || next.end || self.is_in(next.set) {
            return Ok(());
        }
        self.tell_unwanted(next)?;
        let follow = self.callers.iter().fold(self.expected(next), |follow, caller| follow | caller.set);
        self.skip_until(follow)
    }

    fn tell_unwanted(&mut self, next: Next) -> Result<(), Stop> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        let token = self.token(0);
        let message = format!("extraneous input {} expecting {}", self.shown(token), names(self.expected(next)));
        self.syntax_error(token, &message)
    }

    fn leave_out(&mut self, next: Next) -> Result<bool, Stop> {
        if !contains(self.expected(next), self.peek(1)) || self.peek(0) == T::Eof {
            return Ok(false);
        }
        self.tell_unwanted(next)?;
        self.skip();
        self.matched();
        Ok(true)
    }

    /// Takes one kind of token; `after` is what may follow it within the rule. None when it was missing and thought there.
    pub(super) fn expect(&mut self, site: u16, kind: T, after: Next) -> Result<Option<Token>, Stop> {
        if self.peek(0) == kind {
            return Ok(Some(self.take()));
        }
        self.attempt()?;
        let next = only(&[kind]);
        if self.leave_out(next)? {
            let token = self.token(0);
            self.skip();
            return Ok(Some(token));
        }
        if contains(self.expected(after), self.peek(0)) {
            if !self.recovering {
                self.recovering = true;
                let token = self.token(0);
                let message = format!("missing {} at {}", names(next.set), self.shown(token));
                self.syntax_error(token, &message)?;
            }
            return Ok(None);
        }
        Err(Stop::Mismatch { site, expecting: next.set })
    }
}

pub(super) fn contains(set: u64, kind: T) -> bool {
    set & (1 << (kind as u8)) != 0
}

fn names(set: u64) -> String {
    let names: Vec<&str> = NAMES.iter().filter(|(kind, _)| contains(set, *kind)).map(|(_, name)| *name).collect();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        many => format!("{{{}}}", many.join(", ")),
    }
}
