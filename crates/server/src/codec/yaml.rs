//! YAML as the superset of JSON that Kubernetes' clients write.

use serde_json::Value;

use super::node::Node;

/// Reads a document. Keys come in sorted order, as they do in Kubernetes.
pub(super) fn parse(bytes: &[u8]) -> Result<Node<'static>, String> {
    let text = super::text::lossy(bytes);
    let value: Value =
        serde_saphyr::from_str(&text).map_err(|error| format!("error converting YAML to JSON: yaml: {error}"))?;
    Ok(Node::from(value))
}
