//! How Go prints values in the texts of errors, where that is not what `%v` does.

use rolewright_crd::go::{self, Num};
use serde_json::Value;

/// A value as `%s` prints it, which is meant for texts and complains about everything else.
pub(super) fn as_text(value: &Value) -> String {
    if value.is_null() { "%!s(<nil>)".to_owned() } else { within(value) }
}

fn within(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(on) => format!("%!s(bool={on})"),
        Value::Number(number) => format!("%!s({}={})", go::type_name(value), Num::of(number).text()),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(within).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(object) => {
            let members: Vec<String> = object.iter().map(|(key, value)| format!("{key}:{}", within(value))).collect();
            format!("map[{}]", members.join(" "))
        }
    }
}

/// The name of the type that Go has for a value; what `%s` prints for none.
pub(super) fn type_name(value: &Value) -> &'static str {
    if value.is_null() { "%!s(<nil>)" } else { go::type_name(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_print_as_in_go() {
        let value = json!({"b": [1, 2.5, null, true], "a": {"x": "y z"}});
        assert_eq!(as_text(&value), "map[a:map[x:y z] b:[%!s(int64=1) %!s(float64=2.5) <nil> %!s(bool=true)]]");
    }
}
