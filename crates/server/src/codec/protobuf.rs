//! Kubernetes' protobuf: an envelope that names the kind, and messages that the tables of fields describe.

mod message;
mod wire;

use super::Node;
use crate::facts::Type;
use wire::Reader;

const MAGIC: &[u8] = b"k8s\0";

/// What is in an envelope.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) raw: &'a [u8],
}

/// Opens an envelope.
pub(super) fn open(body: &[u8]) -> Result<Envelope<'_>, String> {
    if body.is_empty() {
        return Err("empty data".to_owned());
    }
    let Some(rest) = body.strip_prefix(MAGIC) else {
        return Err("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]".to_owned());
    };
    if rest.is_empty() {
        return Err("empty body".to_owned());
    }
    let mut envelope = Envelope::default();
    let mut reader = Reader::new(rest, "Unknown");
    while let Some(tag) = reader.tag()? {
        match tag.field {
            1 => {
                let mut inner = Reader::new(reader.bytes(tag, "TypeMeta")?, "TypeMeta");
                while let Some(tag) = inner.tag()? {
                    match tag.field {
                        1 => envelope.api_version = inner.text(tag, "APIVersion")?,
                        2 => envelope.kind = inner.text(tag, "Kind")?,
                        _ => inner.skip(tag)?,
                    }
                }
            }
            2 => envelope.raw = reader.bytes(tag, "Raw")?,
            3 => {
                reader.bytes(tag, "ContentEncoding")?;
            }
            4 => {
                reader.bytes(tag, "ContentType")?;
            }
            _ => reader.skip(tag)?,
        }
    }
    Ok(envelope)
}

/// Reads a message. The document is as JSON would have it, but not yet conformed to the type.
pub(super) fn message(ty: &'static Type, bytes: &[u8]) -> Result<Node<'static>, String> {
    message::read(ty, bytes)
}
