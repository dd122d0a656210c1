//! The query of a URL, with all options and selectors in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rolewright_server::query::{DeleteOptions, GetOptions, ListOptions, Query, WriteOptions};
use rolewright_server::selector::field::FieldSelector;
use rolewright_server::selector::label::LabelSelector;

fuzz_target!(|text: &str| {
    let query = Query::parse(text);
    let _ = (GetOptions::from_query(&query), ListOptions::from_query(&query), DeleteOptions::from_query(&query));
    let _ = (WriteOptions::create(&query), WriteOptions::update(&query), WriteOptions::patch(&query, true));

    // What a selector prints means the same again.
    if let Ok(selector) = LabelSelector::parse(text) {
        let again = LabelSelector::parse(&selector.to_string()).expect("a selector prints as a selector");
        assert_eq!(again.to_string(), selector.to_string());
        assert_eq!(again.matches(|_| Some("a")), selector.matches(|_| Some("a")));
        assert_eq!(again.matches(|_| None), selector.matches(|_| None));
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let mut again =
            FieldSelector::parse(&selector.to_string()).expect("a selector prints as a selector").to_string();
        let mut printed = selector.to_string();
        // Sorting is by text, and `==` becomes `=`.
        for text in [&mut again, &mut printed] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.sort_unstable();
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        assert_eq!(again, printed);
    }
});
