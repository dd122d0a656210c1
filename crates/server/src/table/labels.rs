//! Labels and label selectors in a cell.

use rolewright_core::LabelSelector;
use serde::Deserialize;

use super::shown::Node;

/// A selector that is not valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Invalid;

/// `a=b,c=d`, or `<none>`.
pub(super) fn labels(map: Node<'_>) -> String {
    let mut pairs: Vec<String> = map.members().map(|(key, value)| format!("{key}={}", value.text())).collect();
    pairs.sort_unstable();
    super::shown::list_or_none(pairs.iter().map(String::as_str))
}

/// A selector in the language of `--selector`, or `<none>`.
pub(super) fn selector(selector: Node<'_>) -> String {
    match expression(selector) {
        Ok(text) if text.is_empty() => "<none>".to_owned(),
        Ok(text) => text,
        Err(Invalid) => "<error>".to_owned(),
    }
}

/// A selector in the language of `--selector`.
pub(super) fn expression(selector: Node<'_>) -> Result<String, Invalid> {
    let Some(written) = selector.value() else { return Ok(String::new()) };
    let selector = LabelSelector::deserialize(written).map_err(|_| Invalid)?;
    selector.compile().map_err(|_| Invalid)?;
    let labels = selector.match_labels.iter().map(|(key, value)| (key, format!("{key}={value}")));
    let expressions = selector.match_expressions.iter().map(|requirement| {
        let key = &requirement.key;
        let mut values = requirement.values.clone();
        values.sort_unstable();
        let values = super::shown::comma_list(values.iter().map(AsRef::as_ref));
        let text = match requirement.operator.as_str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_string(),
        };
        (key, text)
    });
    let mut clauses: Vec<_> = labels.chain(expressions).collect();
    clauses.sort_by_key(|(key, _)| *key);
    Ok(super::shown::comma_list(clauses.iter().map(|(_, text)| text.as_str())))
}

/// A selector as Go's debugging output, which some cells show.
pub(super) fn debug(selector: Node<'_>) -> String {
    let mut labels: Vec<_> = selector.get("matchLabels").members().collect();
    labels.sort_unstable_by_key(|(key, _)| *key);
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}: {},", value.text())).collect();
    let expressions = selector.get("matchExpressions").items().map(|requirement| {
        let values: Vec<&str> = requirement.get("values").items().map(Node::text).collect();
        let (key, operator) = (requirement.get("key").text(), requirement.get("operator").text());
        format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{}],}},", values.join(" "))
    });
    let expressions: Vec<String> = expressions.collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:[]LabelSelectorRequirement{{{}}},}}",
        labels.concat(),
        expressions.concat()
    )
}
