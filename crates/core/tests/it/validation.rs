//! Validation, by tables: what is written, and Kubernetes' answer to it word by word. The answers were compared with
//! those of Kubernetes' own code.

mod bindings;
mod errors;
mod names;
mod roles;

use rolewright_core::validate::FieldError;

const BAD_LABEL_KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const BAD_LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
    for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const BAD_DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and \
    must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const BAD_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// Compares the errors of one case, in order and literally.
#[track_caller]
fn expect(case: &str, errors: &[FieldError], texts: &[&str]) {
    let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found, texts, "{case}");
}
