//! Expressions that are mostly of fitting types: random text is almost never one.

use std::fmt;

use arbitrary::{Arbitrary, Result, Unstructured};

/// An expression over `self` and `oldSelf`.
#[derive(Clone)]
pub struct Expression(pub String);

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How deep expressions nest.
const DEPTH: usize = 5;

/// What may stand for a letter: first what needs nothing more, then what is made of others. A letter that stands alone is
/// an expression of its kind; `$` and a letter is a new variable of it, which all that follows may use.
struct Kind {
    letter: char,
    leaves: &'static [&'static str],
    forms: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        letter: 'B',
        leaves: &["true", "false", "self.on", "has(self.text)", "has(self.labels.app)", "oldSelf.?on.orValue(true)"],
        forms: &[
            "(B && B)",
            "(B || B)",
            "!B",
            "(B ? B : B)",
            "(I < I)",
            "(I == I)",
            "(I >= U)",
            "(F > I)",
            "(S == S)",
            "(S < S)",
            "(X == X)",
            "(T < T)",
            "(D >= D)",
            "(L == L)",
            "(M != M)",
            "(O == O)",
            "(Y == Y)",
            "(S in L)",
            "(S in M)",
            "(I in [I, 2, 5])",
            "L.all($S, B)",
            "L.exists($S, B)",
            "M.exists_one($S, B)",
            "M.all($S, $S, B)",
            "N.exists($I, $I, B)",
            "S.contains(S)",
            "S.startsWith(S)",
            "S.matches('^[a-z]+(b|c)*$')",
            "S.matches(S)",
            "L.isSorted()",
            "O.hasValue()",
            "isIP(S)",
            "isQuantity(S)",
            "isURL(S)",
            "isSemver(S)",
            "format.dns1123Label().validate(S).hasValue()",
            "sets.contains(L, L)",
            "sets.intersects(N, N)",
            "sets.equivalent(L, L)",
            "bool(S)",
            "(quantity(S) == quantity('1'))",
            "quantity('1Gi').isGreaterThan(quantity(S))",
            "cidr('10.0.0.0/8').containsIP(S)",
            "(self.set == L)",
            "self.keyed.all(k, k.value > I || B)",
            "(type(Y) == string)",
        ],
    },
    Kind {
        letter: 'I',
        leaves: &["0", "1", "2", "-1", "7", "self.count", "9223372036854775807", "size(self.list)"],
        forms: &[
            "(I + I)",
            "(I - I)",
            "(I * I)",
            "(I / I)",
            "(I % I)",
            "-I",
            "(B ? I : I)",
            "size(S)",
            "size(M)",
            "size(X)",
            "L.size()",
            "S.indexOf(S)",
            "S.lastIndexOf(S, I)",
            "L.indexOf(S)",
            "N.max()",
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
            "semver('1.2.3').compareTo(semver('2.0.0'))",
            "self.keyed[I].value",
            "L.map($S, I).sum()",
            "math.greatest(I, I)",
            "math.bitAnd(I, I)",
        ],
    },
    Kind { letter: 'U', leaves: &["0u", "5u", "18446744073709551615u"], forms: &["(U + U)", "(U * U)", "uint(I)", "uint(F)"] },
    Kind {
        letter: 'F',
        leaves: &["0.0", "1.5", "-2.25", "1e300", "self.ratio"],
        forms: &["(F + F)", "(F * F)", "(F / F)", "double(I)", "double(S)", "-F", "[F, F].max()", "math.sqrt(F)"],
    },
    Kind {
        letter: 'S',
        leaves: &["'a'", "''", "'hello'", "'1'", "self.name", "self.text", "self.mode", "'1.2.3.4'", "'\u{e9}'"],
        forms: &[
            "(S + S)",
            "(B ? S : S)",
            "string(I)",
            "string(F)",
            "string(T)",
            "string(D)",
            "string(B)",
            "string(Y)",
            "string(X)",
            "S.charAt(I)",
            "S.lowerAscii()",
            "S.upperAscii()",
            "S.reverse()",
            "S.replace(S, S)",
            "S.replace(S, S, I)",
            "S.substring(I)",
            "S.substring(I, I)",
            "S.trim()",
            "L.join(S)",
            "L[I]",
            "M[S]",
            "O.orValue(S)",
            "O.value()",
            "'%s-%d %x %.3f %e %b %o'.format([S, I, S, F, F, I, U])",
            "'%s'.format([Y])",
            "S.find('[a-z]+')",
            "strings.quote(S)",
            "L.max()",
            "url('https://e.x:1/p?q=1').getHost()",
            "base64.encode(X)",
            "self.keyed[I].key",
        ],
    },
    Kind {
        letter: 'X',
        leaves: &["b'a'", "b''", "self.data", "b'\\xff'"],
        forms: &["bytes(S)", "(X + X)", "base64.decode(S)"],
    },
    Kind {
        letter: 'T',
        leaves: &["self.when", "timestamp('2024-03-01T00:00:00Z')", "timestamp('9999-12-31T23:59:59Z')"],
        forms: &["(T + D)", "(T - D)", "timestamp(I)", "timestamp(S)", "[T, T].min()"],
    },
    Kind {
        letter: 'D',
        leaves: &["self.span", "duration('90s')", "duration('-1h')"],
        forms: &["(D + D)", "(D - D)", "(T - T)", "duration(S)", "[D, D].sum()"],
    },
    Kind {
        letter: 'L',
        leaves: &["self.list", "self.set", "['a', 'b']", "['x']", "[S]"],
        forms: &[
            "[S, S]",
            "(L + L)",
            "(B ? L : L)",
            "S.split(S)",
            "S.split(S, I)",
            "S.findAll('[a-z]')",
            "L.slice(I, I)",
            "L.reverse()",
            "L.distinct()",
            "L.sort()",
            "[L, L].flatten()",
            "L.map($S, S)",
            "L.map($S, B, S)",
            "L.filter($S, B)",
            "L.sortBy($S, I)",
            "N.transformList($I, $I, S)",
            "M.map($S, S)",
            "[?O, S]",
            "self.keyed.map(k, k.key)",
            "optional.unwrap([O, O])",
            "L.transformList($I, $S, B, S)",
        ],
    },
    Kind {
        letter: 'N',
        leaves: &["self.ints", "[1, 2, 3]", "[I]", "lists.range(3)"],
        forms: &["[I, I]", "(N + N)", "lists.range(I)", "N.sort()", "N.distinct()", "N.map($I, I)", "L.map($S, I)", "N.slice(I, I)"],
    },
    Kind {
        letter: 'M',
        leaves: &["self.labels", "{'a': 'b'}"],
        forms: &[
            "{S: S}",
            "{S: S, S: S}",
            "M.transformMap($S, $S, S)",
            "M.transformMap($S, $S, B, S)",
            "L.transformMapEntry($I, $S, {S: S})",
        ],
    },
    Kind {
        letter: 'O',
        leaves: &["optional.of('q')", "self.?name", "oldSelf.?name", "self.labels[?'app']"],
        forms: &[
            "optional.of(S)",
            "optional.ofNonZeroValue(S)",
            "M[?S]",
            "L[?I]",
            "O.or(O)",
            "L.first()",
            "L.last()",
            "O.optMap($S, S)",
            "O.optFlatMap($S, O)",
        ],
    },
    Kind {
        letter: 'Y',
        leaves: &["dyn(1)", "dyn('a')", "self.port", "dyn(null)", "dyn([1, 'a'])", "dyn({'a': 1})"],
        forms: &["dyn(B)", "dyn(I)", "dyn(S)", "dyn(L)", "dyn(M)", "dyn(T)", "(B ? Y : Y)", "Y[I]", "Y.a", "(Y + Y)"],
    },
];

impl<'a> Arbitrary<'a> for Expression {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let kind = if input.ratio(1, 4)? { input.choose(KINDS)? } else { &KINDS[0] };
        let mut text = String::new();
        Builder { input, variables: Vec::new(), named: 0 }.expression(kind, DEPTH, &mut text)?;
        Ok(Self(text))
    }
}

struct Builder<'i, 'a> {
    input: &'i mut Unstructured<'a>,
    variables: Vec<(String, char)>,
    named: usize,
}

impl Builder<'_, '_> {
    fn expression(&mut self, kind: &Kind, depth: usize, text: &mut String) -> Result<()> {
        let fitting: Vec<usize> =
            (0..self.variables.len()).filter(|at| self.variables[*at].1 == kind.letter).collect();
        if !fitting.is_empty() && self.input.ratio(1, 3)? {
            let at = *self.input.choose(&fitting)?;
            text.push_str(&self.variables[at].0);
            return Ok(());
        }
        let leaf = depth == 0 || self.input.is_empty();
        let form = *self.input.choose(if leaf { kind.leaves } else { kind.forms })?;
        // What is made of leaves may itself be a leaf.
        self.form(form, depth.saturating_sub(1), text)
    }

    fn form(&mut self, form: &str, depth: usize, text: &mut String) -> Result<()> {
        let known = self.variables.len();
        let chars: Vec<char> = form.chars().collect();
        let mut quoted = false;
        for (at, char) in chars.iter().enumerate() {
            quoted ^= *char == '\'';
            let word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|char| char.is_alphanumeric());
            let kind = KINDS.iter().find(|kind| kind.letter == *char);
            let declared = at.checked_sub(1).and_then(|before| chars.get(before)) == Some(&'$');
            match kind {
                Some(kind) if declared => {
                    self.named += 1;
                    let name = format!("v{}", self.named);
                    text.push_str(&name);
                    self.variables.push((name, kind.letter));
                }
                Some(kind) if !quoted && !word(at.checked_sub(1)) && !word(Some(at + 1)) => {
                    self.expression(kind, depth, text)?;
                }
                None if *char == '$' && !quoted => {}
                _ => text.push(*char),
            }
        }
        self.variables.truncate(known);
        Ok(())
    }
}
