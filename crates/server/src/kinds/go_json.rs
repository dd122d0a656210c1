//! What Go says when it cannot read a JSON object. Clients see these words when a registry's credentials are malformed.

use std::borrow::Cow;

use crate::codec::json::{self, Form, Listener, Scalar};

/// Why `text` is not a JSON object, or nothing where it is one; `null` is one for Go.
pub(super) fn object_fault(text: &[u8]) -> Option<String> {
    let mut seen = Seen::default();
    if let Err(fault) = json::read(text, &mut seen) {
        return Some(fault);
    }
    match seen.form {
        Some("object") => seen
            .out_of_range
            .map(|number| format!("json: cannot unmarshal number {number} into Go value of type float64")),
        Some("null") | None => None,
        Some(form) => Some(format!("json: cannot unmarshal {form} into Go value of type map[string]interface {{}}")),
    }
}

#[derive(Default)]
struct Seen<'a> {
    /// What Go calls the whole.
    form: Option<&'static str>,
    /// The first number that no float can hold.
    out_of_range: Option<Cow<'a, str>>,
}

impl<'a> Listener<'a> for Seen<'a> {
    const MAX_DEPTH: usize = 10_000;

    fn open(&mut self, form: Form) {
        self.form.get_or_insert(match form {
            Form::Object => "object",
            Form::List => "array",
        });
    }

    fn key(&mut self, _: Cow<'a, str>) {}

    fn scalar(&mut self, scalar: Scalar<'a>) {
        self.form.get_or_insert(match scalar {
            Scalar::Null => "null",
            Scalar::Bool(_) => "bool",
            Scalar::Number(_) => "number",
            Scalar::String { .. } => "string",
        });
        if let Scalar::Number(literal) = scalar
            && literal.parse().is_ok_and(f64::is_infinite)
        {
            self.out_of_range.get_or_insert(literal);
        }
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_read_as_gos() {
        for (text, fault) in [
            ("{}", ""),
            ("null", ""),
            (r#" {"a": [1, -2.5e+3, true, {"b": null}], "c": "\u00e9\n"} "#, ""),
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            (r#"{"a""#, "unexpected end of JSON input"),
            ("-", "invalid character ' ' in numeric literal"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("'", "invalid character '\\'' looking for beginning of value"),
            ("\u{e9}", "invalid character 'Ã' looking for beginning of value"),
            ("\x01", "invalid character '\\x01' looking for beginning of value"),
            ("\\", "invalid character '\\\\' looking for beginning of value"),
            ("{}x", "invalid character 'x' after top-level value"),
            ("{a}", "invalid character 'a' looking for beginning of object key string"),
            (r#"{"a" "b"}"#, "invalid character '\"' after object key"),
            (r#"{"a": 1 2}"#, "invalid character '2' after object key:value pair"),
            (r#"{"a": 1,}"#, "invalid character '}' looking for beginning of object key string"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("[01]", "invalid character '1' after array element"),
            ("[-x]", "invalid character 'x' in numeric literal"),
            ("[1.x]", "invalid character 'x' after decimal point in numeric literal"),
            ("[1e+]", "invalid character ']' in exponent of numeric literal"),
            ("trxe", "invalid character 'x' in literal true (expecting 'u')"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            (r#""\x""#, "invalid character 'x' in string escape code"),
            (r#""\u00g0""#, "invalid character 'g' in \\u hexadecimal character escape"),
            ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
            ("\"\"", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
            ("true", "json: cannot unmarshal bool into Go value of type map[string]interface {}"),
            ("1", "json: cannot unmarshal number into Go value of type map[string]interface {}"),
            (r#"{"a": [1e999]}"#, "json: cannot unmarshal number 1e999 into Go value of type float64"),
        ] {
            assert_eq!(object_fault(text.as_bytes()).unwrap_or_default(), fault, "{text}");
        }
        assert_eq!(object_fault("[".repeat(10_000).as_bytes()).unwrap(), "unexpected end of JSON input");
        assert_eq!(object_fault("[".repeat(10_001).as_bytes()).unwrap(), "invalid character '[' exceeded max depth");
    }
}
