//! How many bytes the rules of a ClusterRole take, counted exactly and without writing them.
//!
//! Two limits stop a large union: the API server reads only so much of a request body, and etcd stores only so much.
//! Kubernetes' controller learns this from a failing request, again and again; here it is known beforehand.

use std::fmt::Write;

use crate::Rule;
use crate::quote::JsonText;

/// What etcd takes in one request unless told otherwise (`--max-request-bytes`), so about what an object may have.
pub const MAX_STORED: usize = 1_572_864;

/// What the API server reads of a request body.
pub const MAX_BODY: usize = 3_145_728;

/// What [`Limits`] reserves by default for the parts of a stored object that are not rules.
///
/// Names, labels, selectors, `f:rules` in managedFields and etcd's envelope take one or two KiB; annotations may take
/// more, and grow without us. 64 KiB leaves room for what people really write there and costs 4 % of the space. It does
/// not cover the 256 KiB that annotations may have at most: whoever knows the object can reserve what it really takes.
pub const OVERHEAD: usize = 65_536;

const EMPTY_BODY: &str =
    r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":""},"rules":[]}"#;

/// Bytes of a ClusterRole's rules in Kubernetes' protobuf, as etcd stores them: field 2 of ClusterRole.
pub fn stored<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> usize {
    rules.into_iter().map(stored_rule).sum()
}

/// Bytes of the compact JSON that applies `rules` to the ClusterRole `name`, as Go writes it: field after field, empty
/// lists left out except for verbs, and `<`, `>` and `&` escaped.
pub fn body<'a>(name: &str, rules: impl IntoIterator<Item = &'a Rule>) -> usize {
    Meter::of(name, rules).body
}

/// How large an aggregated role may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the request body.
    pub body: usize,
    /// Bytes of the stored object.
    pub stored: usize,
    /// The part of `stored` that is not for rules.
    pub overhead: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: MAX_BODY, stored: MAX_STORED, overhead: OVERHEAD }
    }
}

impl Limits {
    /// Whether the ClusterRole `name` can hold these rules.
    pub fn allow<'a>(&self, name: &str, rules: impl IntoIterator<Item = &'a Rule>) -> bool {
        Meter::of(name, rules).within(self)
    }

    /// The same, of rules whose sizes are known.
    pub(super) fn allow_sizes(&self, name: &str, sizes: impl IntoIterator<Item = RuleSize>) -> bool {
        let mut meter = Meter::of(name, []);
        sizes.into_iter().for_each(|size| meter.grow(size));
        meter.within(self)
    }
}

/// Both sizes of one rule, for whoever asks for them again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleSize {
    stored: u32,
    body: u32,
}

impl RuleSize {
    pub(super) fn of(rule: &Rule) -> Self {
        // What is larger than that is too large anyway.
        let bounded = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        Self { stored: bounded(stored_rule(rule)), body: bounded(body_rule(rule)) }
    }
}

/// Both sizes of a growing list of rules.
#[derive(Clone, Copy)]
pub(super) struct Meter {
    stored: usize,
    body: usize,
    first: bool,
}

impl Meter {
    pub(super) fn of<'a>(name: &str, rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let mut meter = Self { stored: 0, body: EMPTY_BODY.len() + escaped(name), first: true };
        for rule in rules {
            meter.add(rule);
        }
        meter
    }

    pub(super) fn add(&mut self, rule: &Rule) {
        self.grow(RuleSize::of(rule));
    }

    fn grow(&mut self, rule: RuleSize) {
        self.stored += rule.stored as usize;
        self.body += rule.body as usize + usize::from(!self.first);
        self.first = false;
    }

    pub(super) fn within(&self, limits: &Limits) -> bool {
        self.stored.saturating_add(limits.overhead) <= limits.stored && self.body <= limits.body
    }
}

fn stored_rule(rule: &Rule) -> usize {
    let lists = [&rule.verbs, &rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls];
    delimited(lists.into_iter().flatten().map(|text| delimited(text.len())).sum())
}

/// A field of variable length: its tag of one byte, its length, its bytes.
fn delimited(length: usize) -> usize {
    // WHY: a varint carries seven bits a byte, and zero takes one byte as well.
    let varint = (usize::BITS - (length | 1).leading_zeros()).div_ceil(7);
    1 + varint as usize + length
}

fn body_rule(rule: &Rule) -> usize {
    let optional = [
        ("apiGroups", &rule.api_groups),
        ("resources", &rule.resources),
        ("resourceNames", &rule.resource_names),
        ("nonResourceURLs", &rule.non_resource_urls),
    ];
    let optional = optional.into_iter().filter(|(_, texts)| !texts.is_empty());
    let fields = optional.map(|(name, texts)| r#","":"#.len() + name.len() + json_list(texts)).sum::<usize>();
    r#"{"verbs":}"#.len() + json_list(&rule.verbs) + fields
}

fn json_list(texts: &[crate::Name]) -> usize {
    let strings = texts.iter().map(|text| escaped(text) + r#""""#.len()).sum::<usize>();
    "[]".len() + strings + texts.len().saturating_sub(1)
}

/// Bytes of a text inside JSON quotes as Go's `encoding/json` writes it.
fn escaped(text: &str) -> usize {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
    if text.bytes().all(plain) {
        return text.len();
    }
    let mut bytes = Bytes(0);
    // Counting cannot fail.
    let _ = write!(bytes, "{}", JsonText(text));
    bytes.0 - r#""""#.len()
}

/// Counts what is written instead of keeping it.
struct Bytes(usize);

impl Write for Bytes {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
