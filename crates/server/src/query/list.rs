//! The options of `list`, `watch` and `deletecollection`.

use rolewright_core::validate::{BadValue, FieldError, Path};

use super::Query;
use crate::selector::field::FieldSelector;
use crate::selector::label::LabelSelector;
use crate::status::Failure;

/// What to list or watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Only objects with such labels.
    pub label_selector: LabelSelector,
    /// Only objects with such fields; not yet converted for a kind.
    pub field_selector: FieldSelector,
    /// Changes instead of objects.
    pub watch: bool,
    /// Bookmarks among the changes.
    pub allow_watch_bookmarks: bool,
    /// Where to start.
    pub resource_version: String,
    /// How `resource_version` is meant.
    pub resource_version_match: Option<VersionMatch>,
    /// When the watch ends.
    pub timeout_seconds: Option<i64>,
    /// How many objects at once; 0 for all.
    pub limit: i64,
    /// Where the page before ended.
    pub continue_token: String,
    /// The objects that are there come first, as changes.
    pub send_initial_events: Option<bool>,
}

/// How a resource version is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of Kubernetes")]
pub enum VersionMatch {
    Exact,
    NotOlderThan,
}

impl ListOptions {
    /// Reads the options, fills in what Kubernetes fills in for a watch, and checks them.
    pub fn from_query(query: &Query) -> Result<Self, Failure> {
        let timeout_seconds = query.number("timeoutSeconds")?;
        let limit = query.number("limit")?.unwrap_or_default();
        let mut match_text = query.first("resourceVersionMatch").unwrap_or_default();
        let mut options = Self {
            label_selector: query
                .first("labelSelector")
                .map_or_else(|| Ok(LabelSelector::default()), LabelSelector::parse)
                .map_err(Failure::bad_request)?,
            field_selector: query
                .first("fieldSelector")
                .map_or_else(|| Ok(FieldSelector::default()), FieldSelector::parse)
                .map_err(Failure::bad_request)?,
            watch: query.switch("watch").unwrap_or_default(),
            allow_watch_bookmarks: query.switch("allowWatchBookmarks").unwrap_or_default(),
            resource_version: query.text("resourceVersion"),
            resource_version_match: None,
            timeout_seconds,
            limit,
            continue_token: query.text("continue"),
            send_initial_events: query.switch("sendInitialEvents"),
        };
        let from_any_version = matches!(options.resource_version.as_str(), "" | "0");
        if options.watch && from_any_version && options.send_initial_events.is_none() && match_text.is_empty() {
            options.send_initial_events = Some(true);
            match_text = "NotOlderThan";
        }
        let faults = if options.watch { options.watch_faults(match_text) } else { options.list_faults(match_text) };
        if !faults.is_empty() {
            return Err(Failure::invalid("meta.k8s.io", "ListOptions", "", &faults));
        }
        options.resource_version_match = match match_text {
            "Exact" => Some(VersionMatch::Exact),
            "NotOlderThan" => Some(VersionMatch::NotOlderThan),
            _ => None,
        };
        Ok(options)
    }

    fn list_faults(&self, match_text: &str) -> Vec<FieldError> {
        let at = Path::field("resourceVersionMatch");
        let mut faults = Vec::new();
        if !match_text.is_empty() {
            if self.resource_version.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                faults.push(FieldError::forbidden(at, why));
            }
            if !self.continue_token.is_empty() {
                faults.push(FieldError::forbidden(at, WITH_CONTINUE));
            }
            if !matches!(match_text, "Exact" | "NotOlderThan") {
                let found = BadValue::typed_text(match_text);
                faults.push(FieldError::not_supported(at, found, &["Exact", "NotOlderThan", ""]));
            }
            if match_text == "Exact" && self.resource_version == "0" {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                faults.push(FieldError::forbidden(at, why));
            }
        }
        if self.send_initial_events.is_some() {
            let at = Path::field("sendInitialEvents");
            faults.push(FieldError::forbidden(at, "sendInitialEvents is forbidden for list"));
        }
        faults
    }

    fn watch_faults(&self, match_text: &str) -> Vec<FieldError> {
        let at = Path::field("resourceVersionMatch");
        let mut faults = Vec::new();
        if self.send_initial_events.is_some() && match_text != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            faults.push(FieldError::forbidden(at, why));
        }
        if match_text.is_empty() {
            return faults;
        }
        if self.send_initial_events.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            faults.push(FieldError::forbidden(at, why));
        }
        if match_text != "NotOlderThan" {
            faults.push(FieldError::not_supported(at, BadValue::typed_text(match_text), &["NotOlderThan"]));
        }
        if !self.continue_token.is_empty() {
            faults.push(FieldError::forbidden(at, WITH_CONTINUE));
        }
        faults
    }
}

const WITH_CONTINUE: &str = "resourceVersionMatch is forbidden when continue is provided";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ListOptions, Failure> {
        ListOptions::from_query(&Query::parse(text))
    }

    #[test]
    fn options_are_read() {
        let options = parse(
            "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&watch=1&allowWatchBookmarks=true&resourceVersion=5&\
             timeoutSeconds=30&limit=500&continue=abc&unknown=1",
        )
        .unwrap();
        assert_eq!(options.label_selector.to_string(), "a=b");
        assert_eq!(options.field_selector.to_string(), "metadata.name=x");
        assert!(options.watch && options.allow_watch_bookmarks);
        assert_eq!((options.timeout_seconds, options.limit), (Some(30), 500));
        assert_eq!((options.resource_version.as_str(), options.continue_token.as_str()), ("5", "abc"));
        assert_eq!((options.send_initial_events, options.resource_version_match), (None, None));
    }

    #[test]
    fn a_watch_from_any_version_starts_with_what_is_there() {
        for (text, initial) in [
            ("watch=true", Some(true)),
            ("watch=true&resourceVersion=0", Some(true)),
            ("watch=true&resourceVersion=7", None),
            ("watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", Some(false)),
        ] {
            assert_eq!(parse(text).unwrap().send_initial_events, initial, "{text}");
        }
        assert_eq!(parse("watch=true").unwrap().resource_version_match, Some(VersionMatch::NotOlderThan));
    }

    #[test]
    fn faults_are_told_in_kubernetes_words() {
        let at = "resourceVersionMatch: Forbidden: resourceVersionMatch";
        for (text, code, message) in [
            ("limit=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax".to_owned()),
            ("limit=x&timeoutSeconds=y", 400, "strconv.ParseInt: parsing \"y\": invalid syntax".to_owned()),
            ("labelSelector=,", 400, "found ',', expected: !, identifier, or 'end of string'".to_owned()),
            ("fieldSelector=a", 400, "invalid selector: 'a'; can't understand 'a'".to_owned()),
            ("resourceVersionMatch=Exact", 422, format!("{at} is forbidden unless resourceVersion is provided")),
            (
                "resourceVersionMatch=Exact&resourceVersion=0",
                422,
                format!("{at} \"exact\" is forbidden for resourceVersion \"0\""),
            ),
            (
                "resourceVersionMatch=x&resourceVersion=1&continue=c",
                422,
                format!(
                    "[{at} is forbidden when continue is provided, resourceVersionMatch: Unsupported value: \"x\": \
                     supported values: \"Exact\", \"NotOlderThan\", \"\"]"
                ),
            ),
            (
                "sendInitialEvents=true",
                422,
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list".to_owned(),
            ),
            (
                "watch=1&sendInitialEvents=1",
                422,
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
                    .to_owned(),
            ),
            (
                "watch=1&resourceVersionMatch=Exact",
                422,
                format!(
                    "[{at} is forbidden for watch unless sendInitialEvents is provided, resourceVersionMatch: \
                     Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]"
                ),
            ),
        ] {
            let failure = parse(text).unwrap_err();
            let expected =
                if code == 422 { format!("ListOptions.meta.k8s.io \"\" is invalid: {message}") } else { message };
            assert_eq!((failure.code, failure.message), (code, expected), "{text}");
        }
    }
}
