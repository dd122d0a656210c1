//! Random expressions: mostly of fitting types, sometimes not, over one schema with everything in it.
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

    fn bool(&mut self, depth: usize) -> String {
        match self.below(14) {
            0 => {
                let (range, var, body) = self.fold(depth, Kind::Bool);
                let name = self.one_of(&["all", "exists", "exists_one"]);
                format!("{range}.{name}({var}, {body})")
            }
            1 => {
                let range = self.expr(Kind::Labels, depth);
                self.vars.extend([("k".to_owned(), Kind::String), ("v".to_owned(), Kind::String)]);
                let body = self.expr(Kind::Bool, depth);
                self.vars.truncate(self.vars.len() - 2);
                let name = self.one_of(&["all", "exists", "existsOne"]);
                format!("{range}.{name}(k, v, {body})")
            }
            2 => {
                let body = self.expr(Kind::Bool, depth);
                let name = self.one_of(&["all", "exists"]);
                let inner = self.one_of(&[
                    "k.value > 1",
                    "has(k.more)",
                    "k.more.exists(m, m == k.key)",
                    "k.key == self.name",
                    "k.more.all(m, m.size() > k.value)",
                    "k == self.keyed[0]",
                    "k.value in self.ints",
                ]);
                format!("self.keyed.{name}(k, {inner} || {body})")
            }
            3..=5 => {
                self.template(depth, &["(B && B)", "(B || B)", "!B", "(B && B && B)", "(B || B || B || B)", "!(B)"])
            }
            6..=8 => self.template(
                depth,
                &[
                    "(I < I)", "(I == I)", "(I >= U)", "(F > I)", "(S == S)", "(S != S)", "(S < S)", "(X == X)",
                    "(T < T)", "(D >= D)", "(L == L)", "(N != N)", "(M == M)", "(U <= F)", "(Y == Y)", "(Y < Y)",
                    "(O == O)",
                ],
            ),
            9 => self.template(
                depth,
                &[
                    "(S in L)",
                    "(I in N)",
                    "(S in M)",
                    "(S in ['a', 'hello', 'x'])",
                    "(I in [1, 2, 5])",
                    "(Y in L)",
                    "(F in [1.0, 2.5])",
                    "(S in [S, 'a'])",
                ],
            ),
            10 => self.template(
                depth,
                &[
                    "S.contains(S)",
                    "S.startsWith(S)",
                    "S.endsWith(S)",
                    "S.matches('^[a-z]+$')",
                    "S.matches(S)",
                    "L.isSorted()",
                    "O.hasValue()",
                    "isIP(S)",
                    "isQuantity(S)",
                    "isURL(S)",
                    "isSemver(S)",
                    "format.dns1123Label().validate(S).hasValue()",
                ],
            ),
            11 => self.template(
                depth,
                &[
                    "sets.contains(L, L)",
                    "sets.intersects(N, N)",
                    "sets.equivalent(L, L)",
                    "(type(Y) == string)",
                    "bool(S)",
                ],
            ),
            12 => self.one_of(&[
                "has(self.maybe)",
                "has(self.name)",
                "has(self.deep.er)",
                "has(self.labels.app)",
                "has(oldSelf.name)",
                "has(self.metadata.generateName)",
                "self.on",
            ]),
            _ => self.template(
                depth,
                &[
                    "(quantity(S) == quantity('1'))",
                    "(ip(S) == ip('1.2.3.4'))",
                    "quantity('1Gi').isGreaterThan(quantity(S))",
                    "cidr('10.0.0.0/8').containsIP(S)",
                    "(self.set == L)",
                    "(self.keyed == oldSelf.keyed)",
                ],
            ),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        if self.below(8) == 0 {
            let (range, var, body) = self.fold(depth, Kind::Int);
            return format!("{range}.map({var}, {body}).sum()");
        }
        self.template(
            depth,
            &[
                "(I + I)",
                "(I - I)",
                "(I * I)",
                "(I / I)",
                "(I % I)",
                "-I",
                "size(S)",
                "L.size()",
                "size(M)",
                "S.indexOf(S)",
                "S.lastIndexOf(S)",
                "L.indexOf(S)",
                "N.max()",
                "N.min()",
                "N.sum()",
                "N[I]",
                "int(F)",
                "int(S)",
                "int(U)",
                "int(T)",
                "int(D)",
                "T.getFullYear()",
                "T.getHours('01:30')",
                "D.getMinutes()",
                "self.deep.er.est",
                "semver('1.2.3').minor()",
                "size(Y)",
                "self.keyed[I].value",
                "M.size()",
                "N.first().orValue(I)",
                "dyn(I)",
            ],
        )
    }

    fn uint(&mut self, depth: usize) -> String {
        self.template(depth, &["(U + U)", "(U * U)", "(U - U)", "uint(I)", "uint(F)", "uint(S)", "(U / U)"])
    }

    fn double(&mut self, depth: usize) -> String {
        self.template(
            depth,
            &[
                "(F + F)",
                "(F * F)",
                "(F - F)",
                "(F / F)",
                "double(I)",
                "double(S)",
                "-F",
                "quantity('1500m').asApproximateFloat()",
                "[F, F].max()",
            ],
        )
    }

    fn string(&mut self, depth: usize) -> String {
        self.template(
            depth,
            &[
                "(S + S)",
                "string(I)",
                "string(F)",
                "string(T)",
                "string(D)",
                "string(B)",
                "string(Y)",
                "S.charAt(I)",
                "S.lowerAscii()",
                "S.upperAscii()",
                "S.replace(S, S)",
                "S.replace(S, S, I)",
                "S.substring(I)",
                "S.substring(I, I)",
                "S.trim()",
                "L.join(S)",
                "L.join()",
                "L[I]",
                "M[S]",
                "O.orValue(S)",
                "O.value()",
                "'%s-%d'.format([S, I])",
                "'%s'.format([Y])",
                "S.find('[a-z]+')",
                "strings.quote(S)",
                "L.max()",
                "string(self.port)",
                "self.labels.app",
                "oldSelf.name",
                "S.split(S)[I]",
                "string(X)",
                "url('https://e.x:1/p?q=1').getHost()",
                "L.sort()[0]",
            ],
        )
    }

    fn strings(&mut self, depth: usize) -> String {
        if self.below(3) == 0 {
            let (range, var, body) = self.fold(depth, Kind::String);
            return format!("{range}.map({var}, {body})");
        }
        if self.below(5) == 0 {
            let range = self.expr(Kind::Strings, depth);
            self.vars.push(("x".to_owned(), Kind::String));
            let body = self.expr(Kind::Bool, depth);
            self.vars.pop();
            return format!("{range}.filter(x, {body})");
        }
        self.template(
            depth,
            &[
                "[S]",
                "[S, S]",
                "(L + L)",
                "S.split(S)",
                "S.findAll('[a-z]')",
                "L.slice(I, I)",
                "L.reverse()",
                "L.distinct()",
                "L.sort()",
                "[L, L].flatten()",
                "self.keyed.map(k, k.key)",
                "[?O, S]",
                "M.map(k, k)",
                "L.sortBy(s, s.size())",
                "self.set",
                "(self.set + L)",
                "optional.unwrap([O, O])",
            ],
        )
    }

    fn ints(&mut self, depth: usize) -> String {
        if self.below(3) == 0 {
            let (range, var, body) = self.fold(depth, Kind::Int);
            return format!("{range}.map({var}, {body})");
        }
        self.template(
            depth,
            &[
                "[I]",
                "[I, I, I]",
                "(N + N)",
                "lists.range(3)",
                "N.reverse()",
                "N.sort()",
                "N.distinct()",
                "self.keyed.map(k, k.value)",
                "L.transformList(i, v, i)",
                "N.filter(i, i > I)",
            ],
        )
    }

    fn leaf(&mut self, kind: Kind) -> String {
        let texts: &[&str] = match kind {
            Kind::Bool => &["true", "false", "self.on", "has(self.text)", "self.count > 3", "self.name == 'hello'"],
            Kind::Int => {
                &["0", "1", "2", "-1", "7", "self.count", "oldSelf.count", "9223372036854775807", "self.ints[0]"]
            }
            Kind::Uint => &["0u", "1u", "5u", "18446744073709551615u"],
            Kind::Double => &["0.0", "1.5", "-2.25", "1e10", "self.ratio"],
            Kind::String => &[
                "'a'",
                "''",
                "'hello'",
                "'1'",
                "self.name",
                "self.text",
                "self.mode",
                "oldSelf.name",
                "self.labels['app']",
                "'1.2.3.4'",
                "'é'",
                "self.__namespace__",
            ],
            Kind::Bytes => &["b'a'", "b''", "self.data", "b'\\xff'"],
            Kind::Time => &["self.when", "self.day", "timestamp('2024-03-01T00:00:00Z')", "oldSelf.when"],
            Kind::Span => &["self.span", "duration('90s')", "duration('-1h')"],
            Kind::Strings => &["self.list", "[]", "['a', 'b']", "self.set", "oldSelf.set", "['x']", "oldSelf.list"],
            Kind::Ints => &["self.ints", "[1, 2, 3]", "[]", "[5]"],
            Kind::Labels => &["self.labels", "{}", "{'a': 'b'}", "oldSelf.labels"],
            Kind::OptString => {
                &["optional.none()", "self.?maybe", "self.?name", "optional.of('q')", "self.labels[?'app']"]
            }
            Kind::Dyn => &[
                "dyn(1)",
                "dyn('a')",
                "self.port",
                "dyn([1])",
                "dyn(null)",
                "dyn(1.5)",
                "dyn({'a': 1})",
                "oldSelf.port",
            ],
        };
        self.one_of(texts)
    }
}
