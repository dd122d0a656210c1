use super::*;

#[test]
fn tags_are_matched_as_http_says() {
    for (header, expected) in
        [("", false), ("\"AB\"", true), ("W/\"AB\"", true), ("\"CD\", \"AB\"", true), ("\"CD\"", false), ("*", true)]
    {
        assert_eq!(matches(header, "AB"), expected, "{header}");
    }
}
