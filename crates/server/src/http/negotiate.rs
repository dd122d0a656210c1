//! What form of an answer the client asked for.

use crate::status::{Details, Failure};

/// The form of an answer. The bytes are always JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// The object itself.
    #[default]
    Object,
    /// Rows for people.
    Table,
    /// Metadata alone.
    Metadata,
    /// A list of metadata.
    MetadataList,
}

/// One choice of an `Accept` header.
pub(crate) struct Choice<'a> {
    pub(crate) media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Choice<'a> {
    /// A parameter such as `as`, `g` or `v`.
    pub(crate) fn parameter(&self, name: &str) -> &'a str {
        self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value).unwrap_or_default()
    }

    fn is_json(&self) -> bool {
        matches!(self.media, "application/json" | "*/*")
    }
}

/// The choices of an `Accept` header, best first.
pub(crate) fn choices(accept: &str) -> Vec<Choice<'_>> {
    let mut choices: Vec<(u32, Choice<'_>)> = Vec::new();
    for part in accept.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let mut pieces = part.split(';').map(str::trim);
        let media = pieces.next().unwrap_or_default();
        let parameters: Vec<(&str, &str)> = pieces.filter_map(|piece| piece.split_once('=')).collect();
        let quality =
            parameters.iter().find(|(key, _)| *key == "q").and_then(|(_, q)| q.parse::<f64>().ok()).unwrap_or(1.0);
        // In thousandths, as RFC 9110 has no more digits.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000")]
        let quality = (quality.clamp(0.0, 1.0) * 1000.0) as u32;
        choices.push((quality, Choice { media, parameters }));
    }
    choices.sort_by_key(|(quality, _)| std::cmp::Reverse(*quality));
    choices.into_iter().map(|(_, choice)| choice).collect()
}

/// What Kubernetes offers. We answer in the first of them.
pub(crate) const ACCEPTED: [&str; 3] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// 406 before anything else is looked at, as Kubernetes' router words it.
pub(crate) fn plain(accept: &str, streams: bool) -> Result<(), Failure> {
    let choices = choices(accept);
    let known = |choice: &Choice<'_>| ACCEPTED.contains(&choice.media) || choice.media == "*/*";
    if choices.is_empty() || choices.iter().any(known) {
        return Ok(());
    }
    let mut offered: Vec<&str> = ACCEPTED.to_vec();
    if streams {
        offered.extend(["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"]);
    }
    let message = format!("406: Not Acceptable\n\nAvailable representations: {}", offered.join(", "));
    Err(Failure::new(406, "NotAcceptable", message).about(Details::default()))
}

/// The form of an answer about objects.
pub(crate) fn form(accept: Option<&str>) -> Result<Form, Failure> {
    let accept = accept.map(str::trim).filter(|text| !text.is_empty()).unwrap_or("*/*");
    for choice in choices(accept).iter().filter(|choice| choice.is_json()) {
        let kind = choice.parameter("as");
        if kind.is_empty() {
            return Ok(Form::Object);
        }
        if (choice.parameter("g"), choice.parameter("v")) != ("meta.k8s.io", "v1") {
            continue;
        }
        match kind {
            "Table" => return Ok(Form::Table),
            "PartialObjectMetadata" => return Ok(Form::Metadata),
            "PartialObjectMetadataList" => return Ok(Form::MetadataList),
            _ => {}
        }
    }
    Err(Failure::not_acceptable(&ACCEPTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_headers_of_real_clients_are_understood() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        for (accept, expected) in [
            (None, Some(Form::Object)),
            (Some(""), Some(Form::Object)),
            (Some("*/*"), Some(Form::Object)),
            (Some("application/vnd.kubernetes.protobuf,application/json"), Some(Form::Object)),
            (Some("application/vnd.kubernetes.protobuf"), None),
            (Some(table), Some(Form::Table)),
            (
                Some("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"),
                Some(Form::MetadataList),
            ),
            (Some("application/json;as=Table;v=v9;g=meta.k8s.io"), None),
            (Some("application/json;q=0.1, application/json;as=Table;v=v1;g=meta.k8s.io"), Some(Form::Table)),
            (Some("text/html"), None),
        ] {
            assert_eq!(form(accept).ok(), expected, "{accept:?}");
        }
    }
}
