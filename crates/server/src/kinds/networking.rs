//! Network policies, ingresses and endpoint slices.

use super::read::{fill, list};
use crate::strategy::Object;

pub(super) fn default_policy(spec: &mut Object) {
    if list(spec, "policyTypes").is_empty() {
        let mut types = vec!["Ingress"];
        if !list(spec, "egress").is_empty() {
            types.push("Egress");
        }
        spec.insert("policyTypes".to_owned(), types.into());
    }
}

pub(super) fn default_endpoint_port(port: &mut Object) {
    fill(port, "name", "");
    fill(port, "protocol", "TCP");
}
