//! What calls may cost: CEL's own functions, its lists and sets, and Kubernetes' functions.
use super::estimate::{Cost, Size};
use super::factors::{PATTERN, TRAVERSAL, in_float, is_comparison, is_single_step, sorted_by};
use super::{Coster, Entries, Node};
use crate::ast::{Expr, Kind, Literal};
use crate::types::Type;

/// The largest pattern of a named format.
const LARGEST_PATTERN: f64 = 128.0;
/// The longest name of a format.
const LONGEST_FORMAT: u64 = 64;

/// The cost of a call without its arguments, and the size of its result.
type Estimate = (Cost, Option<Size>);

impl Coster<'_> {
    pub(super) fn call(&mut self, expr: &Expr) -> Cost {
        let Kind::Call { target, function, args } = &expr.kind else { return Cost::ZERO };
        if let ("dyn", [arg]) = (function.as_str(), args.as_slice()) {
            let cost = Cost::fixed(1).add(self.cost(arg));
            self.copy_sizes(expr, arg);
            return cost;
        }
        let mut costs = Vec::with_capacity(args.len());
        let mut nodes = Vec::with_capacity(args.len());
        for arg in args {
            costs.push(self.cost(arg));
            nodes.push(self.node(arg));
        }
        let overloads = self.checked.overloads(expr.id).to_vec();
        if overloads.is_empty() {
            return Cost::ZERO;
        }
        let mut sum = Cost::ZERO;
        let target = target.as_ref().map(|target| {
            sum = self.cost(target);
            self.node(target)
        });
        let mut total = Cost { min: u64::MAX, max: 0 };
        let mut result: Option<Size> = None;
        for overload in overloads {
            let (cost, size) = self.overload(expr, function, overload, target.as_ref(), &nodes, &costs);
            total = total.union(cost);
            result = match (result, size) {
                (Some(result), Some(size)) => Some(result.union(size)),
                (result, size) => result.or(size),
            };
            if let ("index_list" | "index_map", Some(list)) = (overload, args.first()) {
                result = self.entry_sizes(list).map(|entries| entries.values);
                let segment = if overload == "index_list" { "@items" } else { "@values" };
                let path = self.path(list).append(segment.into());
                self.paths.insert(expr.id, path);
            }
            if result.is_none() {
                result = self.size(expr);
            }
        }
        if let Some(result) = result {
            self.sizes.insert(expr.id, result);
        }
        sum.add(total)
    }

    fn overload(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: &str,
        target: Option<&Node<'_>>,
        args: &[Node<'_>],
        costs: &[Cost],
    ) -> Estimate {
        let with_args = |(cost, size): Estimate| (costs.iter().fold(cost, |sum, cost| sum.add(*cost)), size);
        if let Some(estimate) = self.collections(overload, target, args) {
            return with_args(estimate);
        }
        if let Some(estimate) = self.kubernetes(function, overload, target, args) {
            return with_args(estimate);
        }
        match (overload, costs, args) {
            ("logical_or" | "logical_and", [one, two], _) => {
                return (Cost { min: one.min, max: one.add(*two).max }, None);
            }
            ("conditional", [condition, truthy, falsy], [_, one, two]) => {
                let size = or_unknown(one).union(or_unknown(two));
                let entries = Entries::union(self.entry_sizes(one.expr), self.entry_sizes(two.expr));
                if let Some(entries) = entries {
                    self.entries.insert(expr.id, entries);
                }
                return (condition.add(truthy.union(*falsy)), Some(size));
            }
            ("add_string" | "add_bytes" | "add_list", _, [one, two]) => {
                let size = or_unknown(one).add(or_unknown(two));
                let entries = Entries::union(self.entry_sizes(one.expr), self.entry_sizes(two.expr));
                if let Some(entries) = entries {
                    self.entries.insert(expr.id, entries);
                }
                let cost = if overload == "add_list" { Cost::fixed(1) } else { size.cost(TRAVERSAL) };
                return with_args((cost, Some(size)));
            }
            _ => {}
        }
        with_args(standard(overload, target, args))
    }

    /// The size of an argument for functions that are not CEL's own.
    fn estimated(&self, node: &Node<'_>) -> Size {
        node.size.or_else(|| self.schema_size(&node.path)).unwrap_or(Size::UNKNOWN)
    }

    /// The lists and sets of CEL's extensions.
    fn collections(&self, overload: &str, target: Option<&Node<'_>>, args: &[Node<'_>]) -> Option<Estimate> {
        let allocating = |factor: f64, size: Size| Some((size.cost(factor).add(Cost::fixed(11)), Some(size)));
        let compared = |node: &Node<'_>, factor: f64| {
            let size = self.estimated(node);
            allocating(factor, size.times(size))
        };
        match (overload, target, args) {
            ("list_slice", Some(list), [start, end]) => {
                let most = self.estimated(list).max;
                let length = literal_or(end, most).wrapping_sub(literal_or(start, 0));
                allocating(1.0, Size::fixed(length))
            }
            ("lists_range", None, [count]) => allocating(1.0, Size::fixed(literal_or(count, u64::MAX))),
            ("list_reverse" | "list_flatten", Some(list), []) => allocating(1.0, self.estimated(list)),
            ("list_flatten_int", Some(list), [depth]) => {
                allocating(in_float(literal_or(depth, u64::MAX)), self.estimated(list))
            }
            ("list_distinct", Some(list), []) => compared(list, 2.0),
            ("list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list", _, [one, two]) => {
                let factor = if overload == "list_sets_equivalent_list" { 2.0 } else { 1.0 };
                let product = self.estimated(one).times(self.estimated(two));
                Some((product.cost(factor).add(Cost::fixed(1)), None))
            }
            (id, Some(list), _) => {
                let (kind, keys) = match sorted_by(id)? {
                    (kind, 0) => (kind, list),
                    (kind, _) => (kind, args.first()?),
                };
                compared(keys, if matches!(kind, "string" | "bytes") { 2.0 + TRAVERSAL } else { 2.0 })
            }
            _ => None,
        }
    }

    fn kubernetes(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Node<'_>>,
        args: &[Node<'_>],
    ) -> Option<Estimate> {
        let traversed = |node: &Node<'_>, times: f64| self.estimated(node).cost(times * TRAVERSAL);
        Some(match (function, target, args) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(list), _) => {
                let size = self.estimated(list);
                let Some((element, kind)) = self.element(list) else { return Some((size.cost(TRAVERSAL), None)) };
                let mut each = Cost::fixed(1);
                if matches!(kind, Type::String | Type::Bytes) {
                    each = each.add(element.cost(TRAVERSAL));
                }
                (size.times_cost(each), None)
            }
            ("url", _, [text]) => (traversed(text, 1.0), Some(self.estimated(text))),
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
                (traversed(text, 1.0), Some(self.estimated(text)))
            }
            ("replace", Some(text), [old, new, ..]) => {
                let size = self.estimated(text);
                (size.cost(2.0 * TRAVERSAL), Some(replaced(size, self.estimated(old), self.estimated(new))))
            }
            ("split", Some(text), _) => {
                let size = self.estimated(text);
                let most = match args.get(1).map(|count| &count.expr.kind) {
                    Some(Kind::Literal(Literal::Int(count))) => count.cast_unsigned(),
                    _ => size.max,
                };
                (size.cost(2.0 * TRAVERSAL), Some(Size { min: 0, max: most }))
            }
            ("join", Some(list), _) => {
                let count = self.estimated(list);
                let mut size = self.element(list).map_or(Size::fixed(0), |(element, _)| count.times(element));
                if let Some(separator) = args.first() {
                    let gaps = Size { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
                    size = size.add(self.estimated(separator).times(gaps));
                }
                (size.cost(TRAVERSAL), Some(size))
            }
            ("find" | "findAll", Some(text), [pattern, ..]) => {
                let size = self.estimated(text);
                let text = size.add(Size::fixed(1)).cost(TRAVERSAL);
                let cost = text.times(self.estimated(pattern).cost(PATTERN));
                (cost, Some(Size { min: 0, max: size.max }))
            }
            ("ip", _, _) if overload == "cidr_ip" => (Cost::fixed(1), None),
            ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", _, [text, ..]) => {
                (traversed(text, 1.0), None)
            }
            ("ip.isCanonical", _, [text, ..]) => (traversed(text, 2.0), None),
            ("containsIP" | "containsCIDR", _, [other, ..]) => {
                let address = Size { min: 4, max: 16 };
                let mut cost = address.add(address).cost(TRAVERSAL);
                if function == "containsCIDR" {
                    cost = cost.add(address.cost(TRAVERSAL)).add(Cost::fixed(1));
                }
                if overload.ends_with("_string") {
                    cost = cost.add(traversed(other, 1.0));
                }
                (cost, None)
            }
            ("validate", _, [text, ..]) => (traversed(text, 1.0).scaled(LARGEST_PATTERN * PATTERN), None),
            (function, ..) if is_single_step(function) => (Cost::fixed(1), None),
            ("_==_", _, [one, two]) => (equality(one, two)?, None),
            _ => return None,
        })
    }

    /// The size and type of a list's elements.
    fn element(&self, list: &Node<'_>) -> Option<(Size, Type)> {
        let element = (*list.t.params().first()?).clone();
        let size = if list.path.segments().is_empty() {
            None
        } else {
            // A way of its own: this one does not grow in place.
            let segments = list.path.segments();
            let mut path = super::paths::Path::default();
            for segment in segments {
                path = path.append(segment);
            }
            self.schema_size(&path.append("@items".into()))
        };
        Some((size.unwrap_or(Size::UNKNOWN), element))
    }
}

/// What comparing two values of Kubernetes' own types costs.
fn equality(one: &Node<'_>, two: &Node<'_>) -> Option<Cost> {
    let name = one.t.name();
    if name != two.t.name() {
        return None;
    }
    Some(match (&one.t, name.as_str()) {
        (Type::Opaque(..), "net.IP" | "net.CIDR") | (Type::Object(_), "kubernetes.Quantity" | "kubernetes.Semver") => {
            Cost::fixed(1)
        }
        (Type::Object(_), "kubernetes.NamedFormat") => Cost { min: 1, max: LONGEST_FORMAT }.scaled(TRAVERSAL),
        (Type::Object(_), "kubernetes.URL") => {
            Cost { min: 1, max: two.size.map_or(1, |size| size.max) }.scaled(TRAVERSAL)
        }
        _ => return None,
    })
}

fn or_unknown(node: &Node<'_>) -> Size {
    node.size.unwrap_or(Size::UNKNOWN)
}

/// The number a literal is.
fn literal_or(node: &Node<'_>, otherwise: u64) -> u64 {
    match &node.expr.kind {
        Kind::Literal(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => otherwise,
    }
}

/// The size of a text in which others are replaced.
fn replaced(text: Size, old: Size, new: Size) -> Size {
    let divided = |size: u64, by: u64| ceil_div(size, by);
    let (mut count, mut kept) = (Size::fixed(0), Size::fixed(0));
    if old.min == 0 {
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = divided(text.max, old.min);
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = divided(text.min, old.max);
    }
    count.times(new).add(kept)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Go divides in floats as well")]
fn ceil_div(size: u64, by: u64) -> u64 {
    (in_float(size) / in_float(by)).ceil() as u64
}

/// CEL's own functions.
fn standard(overload: &str, target: Option<&Node<'_>>, args: &[Node<'_>]) -> Estimate {
    let traversed = |node: &Node<'_>| or_unknown(node).cost(TRAVERSAL);
    match (overload, target, args) {
        ("string_to_bytes", _, [text]) => {
            let size = or_unknown(text);
            (size.cost(TRAVERSAL), Some(Size { min: size.min, max: size.max.wrapping_mul(4) }))
        }
        ("bytes_to_string", _, [bytes]) => {
            let size = or_unknown(bytes);
            (size.cost(TRAVERSAL), Some(Size { min: size.min / 4, max: size.max }))
        }
        ("strings_quote", _, [text]) => {
            let size = or_unknown(text);
            let most = size.max.wrapping_mul(2).wrapping_add(2);
            (size.cost(TRAVERSAL), Some(Size { min: size.min.wrapping_add(2), max: most }))
        }
        ("string_format", Some(text), _) | ("starts_with_string" | "ends_with_string", _, [text]) => {
            (traversed(text), None)
        }
        ("in_list", _, [_, list]) => (or_unknown(list).cost(1.0), None),
        ("matches_string", Some(text), [pattern]) => {
            let text = or_unknown(text).add(Size::fixed(1)).cost(TRAVERSAL);
            (text.times(or_unknown(pattern).cost(PATTERN)), None)
        }
        ("contains_string", Some(text), [part]) => (traversed(text).times(traversed(part)), None),
        (overload, _, [one, two]) if is_comparison(overload) => {
            let most = or_unknown(one).max.min(or_unknown(two).max);
            (Cost { min: u64::from(most > 0), max: most }.scaled(TRAVERSAL), None)
        }
        _ => (Cost::fixed(1), None),
    }
}
