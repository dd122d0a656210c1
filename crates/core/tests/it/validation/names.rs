//! Names, label keys and label values.

use proptest::prelude::*;
use rolewright_core::validate::names::{dns_label, dns_subdomain, label_key, label_value, path_segment};

use super::{BAD_DNS_LABEL, BAD_LABEL_KEY, BAD_LABEL_VALUE, BAD_SUBDOMAIN};

fn table(check: fn(&str) -> Vec<String>, cases: &[(&str, &[&str])]) {
    for (text, faults) in cases {
        assert_eq!(check(text), *faults, "{text:?}");
    }
}

#[test]
fn path_segments() {
    table(
        path_segment,
        &[
            ("", &[]),
            ("system:node-proxier", &[]),
            ("Capitals and spaces", &[]),
            (".", &["may not be '.'"]),
            ("..", &["may not be '..'"]),
            ("...", &[]),
            ("/", &["may not contain '/'"]),
            ("a%/b", &["may not contain '/'", "may not contain '%'"]),
        ],
    );
}

#[test]
fn dns_labels() {
    let (longest, longer) = ("a".repeat(63), "a".repeat(64));
    table(
        dns_label,
        &[
            ("a", &[]),
            ("0-9", &[]),
            (&longest, &[]),
            (&longer, &["must be no more than 63 characters"]),
            ("a.b", &["must not contain dots"]),
            ("", &[BAD_DNS_LABEL]),
            ("-a", &[BAD_DNS_LABEL]),
            ("a-", &[BAD_DNS_LABEL]),
            ("a..b", &[BAD_DNS_LABEL]),
            ("a_b", &[BAD_DNS_LABEL]),
            ("A", &[BAD_DNS_LABEL]),
            ("é", &[BAD_DNS_LABEL]),
            ("a\n", &[BAD_DNS_LABEL]),
            (&"A".repeat(64), &["must be no more than 63 characters", BAD_DNS_LABEL]),
        ],
    );
}

#[test]
fn dns_subdomains() {
    // Labels within a subdomain may be longer than labels by themselves.
    let (longest, longer) = ("a".repeat(253), "a".repeat(254));
    table(
        dns_subdomain,
        &[
            ("a", &[]),
            ("example.com", &[]),
            ("1.2-3.4", &[]),
            (&longest, &[]),
            (&longer, &["must be no more than 253 characters"]),
            ("", &[BAD_SUBDOMAIN]),
            (".", &[BAD_SUBDOMAIN]),
            ("a.", &[BAD_SUBDOMAIN]),
            (".a", &[BAD_SUBDOMAIN]),
            ("a..b", &[BAD_SUBDOMAIN]),
            ("a.-b", &[BAD_SUBDOMAIN]),
            ("Example.com", &[BAD_SUBDOMAIN]),
            (&"_".repeat(254), &["must be no more than 253 characters", BAD_SUBDOMAIN]),
        ],
    );
}

#[test]
fn label_keys() {
    let bad_name = format!("name part {BAD_LABEL_KEY}");
    let bad_prefix = format!("prefix part {BAD_SUBDOMAIN}");
    let too_many = format!(
        "a valid label key {BAD_LABEL_KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    );
    let (longest, longer) = ("k".repeat(63), "k".repeat(64));
    let (long_prefix, longer_prefix) = (format!("{}/k", "p".repeat(253)), format!("{}/k", "p".repeat(254)));
    table(
        label_key,
        &[
            ("a", &[]),
            ("A_b-c.9", &[]),
            ("example.com/MyName", &[]),
            (&longest, &[]),
            (&long_prefix, &[]),
            ("", &["name part must be non-empty", &bad_name]),
            ("a/", &["name part must be non-empty", &bad_name]),
            ("/a", &["prefix part must be non-empty"]),
            ("/", &["prefix part must be non-empty", "name part must be non-empty", &bad_name]),
            ("a b", &[&bad_name]),
            ("-a", &[&bad_name]),
            ("a.", &[&bad_name]),
            ("A/b", &[&bad_prefix]),
            ("A/-", &[&bad_prefix, &bad_name]),
            ("a/b/c", &[&too_many]),
            ("//", &[&too_many]),
            (&longer, &["name part must be no more than 63 bytes"]),
            // As part of a key, the subdomain is measured in other words.
            (&longer_prefix, &["prefix part must be no more than 253 bytes"]),
        ],
    );
}

#[test]
fn label_values() {
    let (longest, longer) = ("v".repeat(63), "v".repeat(64));
    table(
        label_value,
        &[
            ("", &[]),
            ("true", &[]),
            ("A_b-c.9", &[]),
            (&longest, &[]),
            (&longer, &["must be no more than 63 bytes"]),
            ("a b", &[BAD_LABEL_VALUE]),
            ("-", &[BAD_LABEL_VALUE]),
            (".a", &[BAD_LABEL_VALUE]),
            ("a_", &[BAD_LABEL_VALUE]),
            ("a/b", &[BAD_LABEL_VALUE]),
            (&"é".repeat(32), &["must be no more than 63 bytes", BAD_LABEL_VALUE]),
        ],
    );
}

proptest! {
    // The strategies are the very expressions that the messages show.
    #[test]
    fn what_the_expressions_allow_is_accepted(
        label in "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?",
        subdomain in "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){0,5}",
        name in "([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]",
    ) {
        prop_assert!(dns_label(&label).is_empty(), "{label}");
        prop_assert!(dns_subdomain(&subdomain).is_empty(), "{subdomain}");
        prop_assert!(label_key(&name).is_empty(), "{name}");
        prop_assert!(label_key(&format!("{subdomain}/{name}")).is_empty(), "{subdomain}/{name}");
        prop_assert!(label_value(&name).is_empty(), "{name}");
    }
}
