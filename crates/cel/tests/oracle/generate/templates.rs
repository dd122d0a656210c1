//! Expressions by the type that they should have.
use super::{Generator, Kind};

impl Generator {
    pub(super) fn bool(&mut self, depth: usize) -> String {
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

    pub(super) fn int(&mut self, depth: usize) -> String {
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

    pub(super) fn uint(&mut self, depth: usize) -> String {
        self.template(depth, &["(U + U)", "(U * U)", "(U - U)", "uint(I)", "uint(F)", "uint(S)", "(U / U)"])
    }

    pub(super) fn double(&mut self, depth: usize) -> String {
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

    pub(super) fn string(&mut self, depth: usize) -> String {
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

    pub(super) fn strings(&mut self, depth: usize) -> String {
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

    pub(super) fn ints(&mut self, depth: usize) -> String {
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

    pub(super) fn leaf(&mut self, kind: Kind) -> String {
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
