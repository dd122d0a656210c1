//! Which fields the kinds offer to selectors, and what is said of all others.

use rolewright_core::validate::BadValue;

/// The fields of a kind that names its own. The others have the name and the namespace.
struct Offer {
    kind: (&'static str, &'static str, &'static str),
    fields: &'static [&'static str],
    /// Names that clients may use for other fields.
    aliases: &'static [(&'static str, &'static str)],
}

const OFFERS: &[Offer] = &[
    Offer {
        kind: ("", "v1", "Event"),
        fields: &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
            "metadata.namespace",
            "metadata.name",
        ],
        aliases: &[],
    },
    Offer { kind: ("", "v1", "Namespace"), fields: &["status.phase", "metadata.name"], aliases: &[] },
    Offer { kind: ("", "v1", "Node"), fields: &["metadata.name", "spec.unschedulable"], aliases: &[] },
    Offer {
        kind: ("", "v1", "Pod"),
        fields: &[
            "metadata.name",
            "metadata.namespace",
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        aliases: &[("spec.host", "spec.nodeName")],
    },
    Offer {
        kind: ("", "v1", "ReplicationController"),
        fields: &["metadata.name", "metadata.namespace", "status.replicas"],
        aliases: &[],
    },
    Offer { kind: ("", "v1", "Secret"), fields: &["type", "metadata.namespace", "metadata.name"], aliases: &[] },
    Offer {
        kind: ("", "v1", "Service"),
        fields: &["metadata.namespace", "metadata.name", "spec.clusterIP", "spec.type"],
        aliases: &[],
    },
    Offer {
        kind: ("batch", "v1", "Job"),
        fields: &["metadata.name", "metadata.namespace", "status.successful"],
        aliases: &[],
    },
    Offer {
        kind: ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
        fields: &["metadata.name", "spec.signerName"],
        aliases: &[],
    },
    Offer {
        kind: ("events.k8s.io", "v1", "Event"),
        fields: &["reason", "type", "metadata.namespace", "metadata.name"],
        aliases: &[
            ("regarding.kind", "involvedObject.kind"),
            ("regarding.namespace", "involvedObject.namespace"),
            ("regarding.name", "involvedObject.name"),
            ("regarding.uid", "involvedObject.uid"),
            ("regarding.apiVersion", "involvedObject.apiVersion"),
            ("regarding.resourceVersion", "involvedObject.resourceVersion"),
            ("regarding.fieldPath", "involvedObject.fieldPath"),
            ("reportingController", "reportingComponent"),
        ],
    },
];

/// The name that the server uses for a field of a kind.
pub(super) fn convert<'a>(group: &str, version: &str, kind: &str, field: &'a str) -> Result<&'a str, String> {
    let Some(offer) = OFFERS.iter().find(|offer| offer.kind == (group, version, kind)) else {
        return match field {
            "metadata.name" | "metadata.namespace" => Ok(field),
            other => Err(format!(
                "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                BadValue::from(other)
            )),
        };
    };
    if offer.fields.contains(&field) {
        return Ok(field);
    }
    if let Some((_, within)) = offer.aliases.iter().find(|(alias, _)| *alias == field) {
        return Ok(within);
    }
    Err(match offer.kind {
        ("batch", "v1", "Job") => format!("field label {} not supported for Job", BadValue::from(field)),
        _ => format!("field label not supported: {field}"),
    })
}
