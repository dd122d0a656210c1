//! How Go prints values, in JSON and in the texts of errors.

use serde_json::{Number, Value};

use crate::strategy::Object;

/// A number as Go's JSON encoder writes it.
pub(super) fn json_number(number: &Number) -> String {
    match float(number) {
        None => number.to_string(),
        Some(float) => {
            let size = float.abs();
            if size == 0.0 || (1e-6..1e21).contains(&size) { format!("{float}") } else { scientific(float, 1) }
        }
    }
}

/// A value as `%v` prints it.
pub(super) fn plain(value: &Value) -> String {
    print(value, &|scalar| match scalar {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(on) => on.to_string(),
        Value::Number(number) => plain_number(number),
        Value::String(text) => text.clone(),
        _ => String::new(),
    })
}

/// A map as `%v` prints it.
pub(super) fn plain_map(object: &Object) -> String {
    let members: Vec<String> = object.iter().map(|(key, value)| format!("{key}:{}", plain(value))).collect();
    format!("map[{}]", members.join(" "))
}

/// A list as `%v` prints it.
pub(super) fn plain_list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(plain).collect();
    format!("[{}]", items.join(" "))
}

/// A value as `%s` prints it, which is meant for texts and complains about everything else.
pub(super) fn as_text(value: &Value) -> String {
    if value.is_null() {
        return "%!s(<nil>)".to_owned();
    }
    print(value, &|scalar| match scalar {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(on) => format!("%!s(bool={on})"),
        Value::Number(number) if float(number).is_some() => format!("%!s(float64={})", plain_number(number)),
        Value::Number(number) => format!("%!s(int64={number})"),
        Value::String(text) => text.clone(),
        _ => String::new(),
    })
}

/// The name of the type that Go has for a value; what `%s` prints for none.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if float(number).is_some() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn print(value: &Value, scalar: &dyn Fn(&Value) -> String) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| print(item, scalar)).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(object) => {
            let member = |(key, value): (&String, &Value)| format!("{key}:{}", print(value, scalar));
            let members: Vec<String> = object.iter().map(member).collect();
            format!("map[{}]", members.join(" "))
        }
        other => scalar(other),
    }
}

fn plain_number(number: &Number) -> String {
    match float(number) {
        None => number.to_string(),
        Some(float) => {
            if float == 0.0 || (-4..6).contains(&exponent(float)) {
                format!("{float}")
            } else {
                scientific(float, 2)
            }
        }
    }
}

fn float(number: &Number) -> Option<f64> {
    if number.is_f64() { number.as_f64() } else { None }
}

fn exponent(float: f64) -> i32 {
    format!("{float:e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default()
}

fn scientific(float: f64, digits: usize) -> String {
    let text = format!("{float:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{mantissa}e{sign}{exponent:0>digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_print_as_in_go() {
        let value = json!({"b": [1, 2.5, null, true], "a": {"x": "y z"}});
        assert_eq!(plain(&value), "map[a:map[x:y z] b:[1 2.5 <nil> true]]");
        assert_eq!(as_text(&value), "map[a:map[x:y z] b:[%!s(int64=1) %!s(float64=2.5) <nil> %!s(bool=true)]]");
        for (float, text) in
            [(1e6, "1e+06"), (123_456.0, "123456"), (1e-5, "1e-05"), (0.0001, "0.0001"), (1.5e300, "1.5e+300")]
        {
            assert_eq!(plain(&json!(float)), text);
        }
        for (float, text) in [(1e6, "1000000"), (1e21, "1e+21"), (1.5e-7, "1.5e-7"), (1.0, "1")] {
            assert_eq!(json_number(&Number::from_f64(float).unwrap()), text);
        }
    }
}
