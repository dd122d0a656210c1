//! Random expressions: mostly of fitting types, sometimes not, over one schema with everything in it.
mod templates;

use proptest::test_runner::{Config, RngSeed};

use super::compare::Case;
use super::table;

/// What an expression shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Time,
    Span,
    Strings,
    Ints,
    Labels,
    OptString,
    Dyn,
}

const KINDS: [Kind; 13] = [
    Kind::Bool,
    Kind::Int,
    Kind::Uint,
    Kind::Double,
    Kind::String,
    Kind::Bytes,
    Kind::Time,
    Kind::Span,
    Kind::Strings,
    Kind::Ints,
    Kind::Labels,
    Kind::OptString,
    Kind::Dyn,
];

struct Generator {
    state: u64,
    /// The variables of the loops around.
    vars: Vec<(String, Kind)>,
}

pub(crate) fn cases(count: usize) -> Vec<Case> {
    let seed = match Config::default().rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => 0,
    };
    let mut generator = Generator { state: seed ^ 0x9e37_79b9_7f4a_7c15, vars: Vec::new() };
    (0..count).map(|_| generator.case()).collect()
}

/// Go walks maps in any order: one entry has only one.
fn ordered(mut value: serde_json::Value) -> serde_json::Value {
    value["labels"] = serde_json::json!({"app": "web"});
    value
}

impl Generator {
    fn below(&mut self, count: usize) -> usize {
        // Splitmix: what was found with a seed is found again.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(count).unwrap()).unwrap()
    }

    fn one_of(&mut self, texts: &[&str]) -> String {
        let at = self.below(texts.len());
        texts[at].to_owned()
    }

    fn case(&mut self) -> Case {
        self.vars.clear();
        let kind = if self.below(3) == 0 { KINDS[self.below(KINDS.len())] } else { Kind::Bool };
        let depth = 1 + self.below(4);
        let mut expression = self.expr(kind, depth);
        if self.below(12) == 0 {
            expression = self.broken(&expression);
        }
        let optional = self.below(6) == 0;
        if optional {
            expression = expression.replace("oldSelf.", "oldSelf.?");
        }
        Case {
            schema: table::schema(),
            root: true,
            expression,
            value: ordered(table::value()),
            old: (self.below(5) > 0 || !optional).then(|| ordered(table::old())),
            optional,
        }
    }

    /// Leaves something out, doubles it, or puts something in.
    fn broken(&mut self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let at = self.below(chars.len().max(1));
        let (before, after): (String, String) = (chars[..at].iter().collect(), chars[at..].iter().collect());
        match self.below(3) {
            0 => format!("{before}{}", after.chars().skip(1).collect::<String>()),
            1 => format!("{before}{}{after}", chars.get(at).copied().unwrap_or('x')),
            _ => {
                let piece = self.one_of(&[
                    "(", ")", "[", "]", "{", "}", ",", ".", "?", ":", "!", "-", " in ", "'", " x ", "&&", "||", "1",
                    "=", "\\", "@", "\n",
                ]);
                format!("{before}{piece}{after}")
            }
        }
    }

    fn expr(&mut self, kind: Kind, depth: usize) -> String {
        // A wrong type now and then.
        let kind = if self.below(60) == 0 { KINDS[self.below(KINDS.len())] } else { kind };
        let fitting: Vec<String> =
            self.vars.iter().filter(|(_, known)| *known == kind).map(|(name, _)| name.clone()).collect();
        if !fitting.is_empty() && self.below(3) == 0 {
            return fitting[self.below(fitting.len())].clone();
        }
        if depth == 0 || self.below(6) == 0 {
            return self.leaf(kind);
        }
        if self.below(12) == 0 {
            let (a, b, c) = (self.expr(Kind::Bool, depth - 1), self.expr(kind, depth - 1), self.expr(kind, depth - 1));
            return format!("({a} ? {b} : {c})");
        }
        let depth = depth - 1;
        match kind {
            Kind::Bool => self.bool(depth),
            Kind::Int => self.int(depth),
            Kind::Uint => self.uint(depth),
            Kind::Double => self.double(depth),
            Kind::String => self.string(depth),
            Kind::Bytes => self.template(depth, &["bytes(S)", "(X + X)", "self.data"]),
            Kind::Time => self.template(
                depth,
                &["(T + D)", "(T - D)", "timestamp(I)", "timestamp('2024-01-01T00:00:00Z')", "[T, T].max()"],
            ),
            Kind::Span => self.template(
                depth,
                &["(D + D)", "(D - D)", "(T - T)", "duration('1h')", "[D, D].sum()", "-dyn(D)", "[D].min()"],
            ),
            Kind::Strings => self.strings(depth),
            Kind::Ints => self.ints(depth),
            Kind::Labels => self.template(
                depth,
                &[
                    "{S: S}",
                    "M.transformMap(k, v, v + k)",
                    "M.transformMap(k, v, B, k)",
                    "L.transformMapEntry(i, v, {v: string(i)})",
                ],
            ),
            Kind::OptString => self.template(
                depth,
                &[
                    "optional.of(S)",
                    "self.?name",
                    "M[?S]",
                    "L[?I]",
                    "O.or(O)",
                    "L.first()",
                    "L.last()",
                    "O.optMap(o, o + 'x')",
                    "O.optFlatMap(o, optional.of(S))",
                    "optional.ofNonZeroValue(S)",
                    "oldSelf.?name",
                ],
            ),
            Kind::Dyn => {
                let kind = KINDS[self.below(KINDS.len())];
                let inner = self.expr(kind, depth);
                format!("dyn({inner})")
            }
        }
    }

    /// Letters stand for kinds: B I U F S X T D L N M O Y.
    fn template(&mut self, depth: usize, templates: &[&str]) -> String {
        let template = self.one_of(templates);
        let mut text = String::new();
        let mut quoted = false;
        let chars: Vec<char> = template.chars().collect();
        for (at, char) in chars.iter().enumerate() {
            quoted ^= *char == '\'';
            let word = |index: Option<usize>| {
                index.and_then(|index| chars.get(index)).is_some_and(|char| char.is_alphanumeric() || *char == '_')
            };
            let alone = !quoted && !word(at.checked_sub(1)) && !word(Some(at + 1));
            let kind = match char {
                'B' => Kind::Bool,
                'I' => Kind::Int,
                'U' => Kind::Uint,
                'F' => Kind::Double,
                'S' => Kind::String,
                'X' => Kind::Bytes,
                'T' => Kind::Time,
                'D' => Kind::Span,
                'L' => Kind::Strings,
                'N' => Kind::Ints,
                'M' => Kind::Labels,
                'O' => Kind::OptString,
                'Y' => Kind::Dyn,
                _ => {
                    text.push(*char);
                    continue;
                }
            };
            if alone {
                text.push_str(&self.expr(kind, depth));
            } else {
                text.push(*char);
            }
        }
        text
    }

    /// A loop over some kind of range, with its variable known inside.
    fn fold(&mut self, depth: usize, body: Kind) -> (String, String, String) {
        let (range, kind) = match self.below(4) {
            0 => (self.expr(Kind::Ints, depth), Kind::Int),
            1 => (self.expr(Kind::Labels, depth), Kind::String),
            _ => (self.expr(Kind::Strings, depth), Kind::String),
        };
        let var = self.one_of(&["x", "y", "z"]);
        self.vars.push((var.clone(), kind));
        let body = self.expr(body, depth);
        self.vars.pop();
        (range, var, body)
    }
}
