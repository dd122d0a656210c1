//! The wire format of protobuf, with the errors of the code that Kubernetes generates.

use crate::codec::text;

const TRUNCATED: &str = "unexpected EOF";
const OVERFLOW: &str = "proto: integer overflow";
const NEGATIVE: &str = "proto: negative length found during unmarshaling";

/// The head of a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    pub(super) field: u32,
    pub(super) wire: u8,
    start: usize,
}

/// Reads the fields of one message.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The name of the message, for errors.
    name: &'a str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Self { bytes, at: 0, name }
    }

    /// The next field; none at the end.
    pub(super) fn tag(&mut self) -> Result<Option<Tag>, String> {
        let start = self.at;
        if start >= self.bytes.len() {
            return Ok(None);
        }
        let key = self.raw_varint()?;
        let wire = u8::try_from(key & 7).unwrap_or(0);
        if wire == 4 {
            return Err(format!("proto: {}: wiretype end group for non-group", self.name));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the number of a field has 32 bits, as in Kubernetes")]
        let field = (key >> 3) as i32;
        match u32::try_from(field) {
            Ok(field) if field > 0 => Ok(Some(Tag { field, wire, start })),
            _ => Err(format!("proto: {}: illegal tag {field} (wire type {key})", self.name)),
        }
    }

    /// Reads what a field holds with another reader. Like Kubernetes' code, that one may read past its end, up to that
    /// of the whole message.
    pub(super) fn nested(&mut self, tag: Tag, field: &str) -> Result<(Self, usize), String> {
        let length = self.bytes(tag, field)?.len();
        Ok((Self { bytes: self.bytes, at: self.at - length, name: self.name }, self.at))
    }

    pub(super) fn is_before(&self, end: usize) -> bool {
        self.at < end
    }

    pub(super) fn is_past(&self, end: usize) -> bool {
        self.at > end
    }

    /// The next field of an entry of a map, where Kubernetes' code does not look at the type on the wire.
    pub(super) fn entry_tag(&mut self) -> Result<Tag, String> {
        let start = self.at;
        let key = self.raw_varint()?;
        #[expect(clippy::cast_possible_truncation, reason = "the number of a field has 32 bits, as in Kubernetes")]
        let field = (key >> 3) as u32;
        Ok(Tag { field, wire: 2, start })
    }

    fn byte(&mut self) -> Result<u8, String> {
        let byte = *self.bytes.get(self.at).ok_or(TRUNCATED)?;
        self.at += 1;
        Ok(byte)
    }

    /// A number without a tag, as in packed lists.
    pub(super) fn raw_varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(OVERFLOW.to_owned())
    }

    /// Eight bytes without a tag.
    pub(super) fn raw_double(&mut self) -> Result<f64, String> {
        let bytes = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk).ok_or(TRUNCATED)?;
        self.at += 8;
        Ok(f64::from_le_bytes(*bytes))
    }

    fn expect(tag: Tag, wire: u8, field: &str) -> Result<(), String> {
        if tag.wire == wire { Ok(()) } else { Err(wrong_type(tag, field)) }
    }

    pub(super) fn varint(&mut self, tag: Tag, field: &str) -> Result<u64, String> {
        Self::expect(tag, 0, field)?;
        self.raw_varint()
    }

    pub(super) fn double(&mut self, tag: Tag, field: &str) -> Result<f64, String> {
        Self::expect(tag, 1, field)?;
        self.raw_double()
    }

    pub(super) fn bytes(&mut self, tag: Tag, field: &str) -> Result<&'a [u8], String> {
        Self::expect(tag, 2, field)?;
        let length = self.raw_varint()?;
        let length = i64::try_from(length).map_err(|_| NEGATIVE)?;
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length)).ok_or(NEGATIVE)?;
        let bytes = self.bytes.get(self.at..end).ok_or(TRUNCATED)?;
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn text(&mut self, tag: Tag, field: &str) -> Result<String, String> {
        Ok(text::lossy(self.bytes(tag, field)?).into_owned())
    }

    /// Passes over an unknown field, groups included.
    pub(super) fn skip(&mut self, tag: Tag) -> Result<(), String> {
        self.at = tag.start;
        let mut open = 0_usize;
        loop {
            if self.at >= self.bytes.len() {
                return Err(TRUNCATED.to_owned());
            }
            let wire = self.raw_varint()? & 7;
            match wire {
                0 => {
                    self.raw_varint()?;
                }
                1 => self.at = self.at.saturating_add(8),
                2 => {
                    let length = i64::try_from(self.raw_varint()?).map_err(|_| NEGATIVE)?;
                    let length = usize::try_from(length).map_err(|_| NEGATIVE)?;
                    self.at = self.at.checked_add(length).filter(|at| i64::try_from(*at).is_ok()).ok_or(NEGATIVE)?;
                }
                3 => open += 1,
                4 => open = open.checked_sub(1).ok_or("proto: unexpected end of group")?,
                5 => self.at = self.at.saturating_add(4),
                _ => return Err(format!("proto: illegal wireType {wire}")),
            }
            if open == 0 {
                return if self.at > self.bytes.len() { Err(TRUNCATED.to_owned()) } else { Ok(()) };
            }
        }
    }
}

pub(super) fn wrong_type(tag: Tag, field: &str) -> String {
    format!("proto: wrong wireType = {} for field {field}", tag.wire)
}
