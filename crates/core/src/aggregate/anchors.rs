//! Selectors by label: which ones can match a new or relabelled role.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::Labels;
use crate::Name;
use crate::selector::{Clause, Selector};

use super::nodes::Link;

/// Every usable selector, filed under one of its own conditions: its anchor. A role without that label cannot match
/// it, so only the selectors filed under a role's labels, and the few without any anchor, need be looked at. Those that say
/// the same are looked at once: a thousand namespaces may all gather the same base.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchors {
    pairs: FxHashMap<Name, FxHashMap<Name, Filed>>,
    keys: FxHashMap<Name, Filed>,
    rest: Filed,
}

/// Different selectors, each with all who declare it, sorted.
type Filed = FxHashMap<Arc<Selector>, Vec<Link>>;

impl Anchors {
    /// Files a selector; returns the place of the clause that anchors it, which [`remove`](Self::remove) needs.
    pub(super) fn insert(&mut self, link: Link, selection: &Arc<Selector>) -> Option<usize> {
        let anchor = self.choose(selection.clauses());
        match anchor.and_then(|place| selection.clauses().get(place)) {
            Some(Clause::In(key, values)) => {
                let pairs = self.pairs.entry(key.clone()).or_default();
                for value in values {
                    file(pairs.entry(value.clone()).or_default(), selection, link);
                }
            }
            Some(Clause::Exists(key)) => file(self.keys.entry(key.clone()).or_default(), selection, link),
            _ => file(&mut self.rest, selection, link),
        }
        anchor
    }

    pub(super) fn remove(&mut self, link: Link, selection: &Selector, anchor: Option<usize>) {
        match anchor.and_then(|place| selection.clauses().get(place)) {
            Some(Clause::In(key, values)) => {
                let Some(pairs) = self.pairs.get_mut(key) else { return };
                for value in values {
                    unfile_from(pairs, value, selection, link);
                }
                if pairs.is_empty() {
                    self.pairs.remove(key);
                }
            }
            Some(Clause::Exists(key)) => unfile_from(&mut self.keys, key, selection, link),
            _ => unfile(&mut self.rest, selection, link),
        }
    }

    /// The selectors that may match a role with these labels, each once, with all who declare it.
    pub(super) fn candidates(&self, labels: &Labels) -> impl Iterator<Item = (&Selector, &[Link])> {
        let anchored = labels.iter().flat_map(|(key, value)| {
            let pairs = self.pairs.get(key).and_then(|pairs| pairs.get(value));
            pairs.into_iter().chain(self.keys.get(key)).flatten()
        });
        anchored.chain(&self.rest).map(|(selection, links)| (&**selection, links.as_slice()))
    }

    /// A label with its value says more than its key alone, and of several the one with the fewest selectors: where all
    /// selectors share one label and differ in another, it is the other that tells them apart.
    fn choose(&self, clauses: &[Clause]) -> Option<usize> {
        let crowd = |clause: &Clause| match clause {
            Clause::In(key, values) => {
                let lists = self.pairs.get(key);
                let selectors = values.iter().filter_map(|value| lists?.get(value)).map(Filed::len).max();
                Some((0, selectors.unwrap_or(0)))
            }
            Clause::Exists(key) => Some((1, self.keys.get(key).map_or(0, Filed::len))),
            Clause::NotIn(..) | Clause::DoesNotExist(_) => None,
        };
        let anchors = clauses.iter().enumerate().filter_map(|(place, clause)| Some((crowd(clause)?, place)));
        anchors.min().map(|(_, place)| place)
    }
}

fn file(filed: &mut Filed, selection: &Arc<Selector>, link: Link) {
    let links = filed.entry(Arc::clone(selection)).or_default();
    if let Err(place) = links.binary_search(&link) {
        links.insert(place, link);
    }
}

fn unfile(filed: &mut Filed, selection: &Selector, link: Link) {
    let Some(links) = filed.get_mut(selection) else { return };
    if let Ok(place) = links.binary_search(&link) {
        links.remove(place);
    }
    if links.is_empty() {
        filed.remove(selection);
    }
}

fn unfile_from(lists: &mut FxHashMap<Name, Filed>, text: &Name, selection: &Selector, link: Link) {
    let Some(filed) = lists.get_mut(text) else { return };
    unfile(filed, selection, link);
    if filed.is_empty() {
        lists.remove(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::names::Names;
    use crate::selector::{LabelSelector, Requirement};

    fn requirement<const N: usize>(key: &str, operator: &str, values: [&str; N]) -> Requirement {
        Requirement { key: key.into(), operator: operator.into(), values: values.map(Name::from).into() }
    }

    #[test]
    fn every_kind_of_selector_is_found_and_forgotten() {
        let target = Names::default().add(&"target".into());
        let labels = Labels::from([("a".into(), "1".into()), ("b".into(), "2".into())]);
        let found = [
            vec![requirement("a", "In", ["0", "1", "1"])],
            vec![requirement("b", "Exists", []), requirement("a", "NotIn", ["1"])],
            vec![requirement("a", "DoesNotExist", [])],
            vec![],
        ];
        let passed_over = [
            vec![requirement("a", "In", ["2"])],
            vec![requirement("b", "Exists", []), requirement("a", "In", ["2"])],
            vec![requirement("c", "Exists", []), requirement("a", "NotIn", ["2"])],
        ];
        let mut anchors = Anchors::default();
        let filed: Vec<_> = (found.into_iter().chain(passed_over).enumerate())
            .map(|(selector, match_expressions)| {
                let written = LabelSelector { match_expressions, ..LabelSelector::default() };
                let (link, selection) = (Link { target, selector }, Arc::new(written.compile().unwrap()));
                let anchor = anchors.insert(link, &selection);
                (link, selection, anchor)
            })
            .collect();
        let links = |anchors: &Anchors| -> Vec<usize> {
            let filed = anchors.candidates(&labels).flat_map(|(_, links)| links);
            let mut links: Vec<usize> = filed.map(|link| link.selector).collect();
            links.sort_unstable();
            links
        };
        assert_eq!(links(&anchors), [0, 1, 2, 3], "each once, whether it matches or not");

        let (first, selection, _) = &filed[0];
        let same = Link { selector: 9, ..*first };
        let anchor = anchors.insert(same, selection);
        assert_eq!(links(&anchors), [0, 1, 2, 3, 9]);
        assert_eq!(anchors.candidates(&labels).count(), 4, "what says the same is looked at once");
        anchors.remove(same, selection, anchor);

        for (link, selection, anchor) in filed {
            anchors.remove(link, &selection, anchor);
        }
        assert!(anchors.pairs.is_empty() && anchors.keys.is_empty() && anchors.rest.is_empty());
    }
}
