//! Covers and compaction: section 3.1 and 8.3 of the Kubernetes facts.

use rolewright_core::escalation::merge_verbs;
use rolewright_core::{NameList, Rule, RuleSet, covers};

fn res<const R: usize, const V: usize>(resources: [&str; R], verbs: [&str; V]) -> Rule {
    Rule::resources(["g"], resources, verbs)
}

/// What is tried, what the owner holds, what is to be granted, what is missing.
type Case = (&'static str, Vec<Rule>, Vec<Rule>, Vec<Rule>);

#[test]
fn what_is_missing() {
    let both = |rule: Rule| Rule { api_groups: ["g".into(), "h".into()].into(), ..rule };
    let cases: Vec<Case> = vec![
        ("equal", vec![res(["pods"], ["get"])], vec![res(["pods"], ["get"])], vec![]),
        ("*/scale covers foo/scale", vec![res(["*/scale"], ["get"])], vec![res(["foo/scale"], ["get"])], vec![]),
        (
            "foo/scale does not cover */scale",
            vec![res(["foo/scale"], ["get"])],
            vec![res(["*/scale"], ["get"])],
            vec![res(["*/scale"], ["get"])],
        ),
        (
            "several rules together",
            vec![res(["a"], ["get"]), res(["a", "b"], ["list"]), res(["b"], ["get"])],
            vec![res(["a", "b"], ["get", "list"])],
            vec![],
        ),
        (
            "exactly one pair is missing",
            vec![res(["a"], ["get"]), res(["a", "b"], ["list"])],
            vec![res(["a", "b"], ["get", "list"])],
            vec![res(["b"], ["get"])],
        ),
        ("several groups", vec![both(res(["a"], ["get"]))], vec![res(["a"], ["get"])], vec![]),
        (
            "one group of two",
            vec![res(["a"], ["get"])],
            vec![both(res(["a"], ["get"]))],
            vec![Rule::resources(["h"], ["a"], ["get"])],
        ),
        ("star verb covers", vec![res(["a"], ["*"])], vec![res(["a"], ["get", "*"])], vec![]),
        (
            "enumerated verbs do not cover the star",
            vec![res(["a"], ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"])],
            vec![res(["a"], ["*"])],
            vec![res(["a"], ["*"])],
        ),
        ("star resource covers", vec![res(["*"], ["get"])], vec![res(["a", "a/b", "*/x", "*"], ["get"])], vec![]),
        (
            "resources do not cover the star",
            vec![res(["a", "b"], ["get"])],
            vec![res(["*"], ["get"])],
            vec![res(["*"], ["get"])],
        ),
        (
            "star group covers, groups do not",
            vec![Rule::resources(["*"], ["a"], ["get"]), res(["b"], ["get"])],
            vec![Rule::resources(["x", "*"], ["a", "b"], ["get"])],
            vec![Rule::resources(["x"], ["b"], ["get"]), Rule::resources(["*"], ["b"], ["get"])],
        ),
        ("unnamed covers named", vec![res(["a"], ["get"])], vec![res(["a"], ["get"]).named(["n"])], vec![]),
        (
            "named does not cover unnamed",
            vec![res(["a"], ["get"]).named(["n"])],
            vec![res(["a"], ["get"])],
            vec![res(["a"], ["get"])],
        ),
        (
            "names one by one",
            vec![res(["a"], ["get"]).named(["n", "m"])],
            vec![res(["a"], ["get"]).named(["m", "o"])],
            vec![res(["a"], ["get"]).named(["o"])],
        ),
        ("pods/* covers itself only", vec![res(["pods/*"], ["get"])], vec![res(["pods/*"], ["get"])], vec![]),
        (
            "pods/* is inert",
            vec![res(["pods/*"], ["get"])],
            vec![res(["pods/log"], ["get"])],
            vec![res(["pods/log"], ["get"])],
        ),
        (
            "a rule without groups gives nothing",
            vec![],
            vec![Rule { api_groups: [].into(), ..res(["a"], ["get"]) }],
            vec![],
        ),
        (
            "mixed rule: only the URL is missing",
            vec![res(["a"], ["get"])],
            vec![Rule { non_resource_urls: ["/x".into()].into(), ..res(["a"], ["get"]) }],
            vec![Rule::urls(["/x"], ["get"])],
        ),
        (
            "duplicates are reported as written",
            vec![],
            vec![res(["a"], ["get", "get"])],
            vec![res(["a"], ["get"]), res(["a"], ["get"])],
        ),
    ];
    for (what, owner, servant, missing) in cases {
        assert_eq!(covers(&owner, &servant), missing, "{what}");
    }
}

#[test]
fn urls_cover_by_prefix() {
    let cases = [
        ("*", "", true),
        ("*", "/", true),
        ("/*", "/", true),
        ("/*", "", false),
        ("/api/*", "/api", false),
        ("/api/*", "/api/v1", true),
        ("/api/*/*", "/api/v1", false),
        ("/*/v1/*", "/api/v1", false),
        ("/api*", "/api/*", true),
        ("/api/v1", "/api/*", false),
        ("/api", "/api", true),
    ];
    for (owner, servant, covered) in cases {
        let missing = covers(&[Rule::urls([owner], ["get"])], &[Rule::urls([servant], ["get"])]);
        assert_eq!(missing.is_empty(), covered, "{owner} {servant}");
    }
    let verbs = covers(&[Rule::urls(["/x"], ["get"])], &[Rule::urls(["/x"], ["get", "post"])]);
    assert_eq!(verbs, [Rule::urls(["/x"], ["post"])]);
}

#[test]
fn a_hostile_rule_is_refused_in_no_time() {
    let many: NameList = (0..20_000).map(|n| format!("r{n}").into()).collect();
    let huge = Rule { api_groups: many.clone(), resources: many.clone(), verbs: many, ..Rule::default() };
    assert_eq!(covers([], [&huge]), std::slice::from_ref(&huge), "8 * 10^12 atoms, answered as one rule");
    let everything = Rule::resources(["*"], ["*"], ["*"]);
    assert!(covers([&everything], [&huge]).is_empty());
    assert!(covers([&huge], [&huge]).is_empty());
    // A name is never a wildcard, not even the name `*`.
    let (star, named) = (huge.clone().named(["*"]), huge.clone().named(["*", "n"]));
    assert_eq!(covers([&star], [&named]), std::slice::from_ref(&named));
    assert!(covers([&named], [&star]).is_empty() && covers([&huge], [&named]).is_empty());
    assert_eq!(covers([&named], [&huge]), std::slice::from_ref(&huge));
    let (first, last) = (res(["r0"], ["r0"]), Rule::resources(["r1"], ["r19999"], ["r3"]));
    assert_eq!(covers([&huge], [&first, &last]), std::slice::from_ref(&first));
}

#[test]
fn many_urls_cost_no_walk_over_all_of_them() {
    let urls = (0..60_000).map(|n| format!("/path/{n}/*").into()).collect();
    let owner = Rule { non_resource_urls: urls, ..Rule::urls([""], ["get"]) };
    assert!(covers([&owner], [&owner]).is_empty(), "pairwise, this would be 3.6 * 10^9 comparisons");
    assert_eq!(RuleSet::new([&owner]).to_rules().len(), 1);
    let inside = Rule::urls(["/path/59999/x", "/path/59999x"], ["get"]);
    assert_eq!(covers([&owner], [&inside]), [Rule::urls(["/path/59999x"], ["get"])]);
}

#[test]
fn compaction() {
    let cases: Vec<(&str, Vec<Rule>, Vec<Rule>)> = vec![
        ("verbs merge", vec![res(["a"], ["get"]), res(["a"], ["list"])], vec![res(["a"], ["get", "list"])]),
        ("resources merge", vec![res(["b"], ["get"]), res(["a"], ["get"])], vec![res(["a", "b"], ["get"])]),
        (
            "groups merge",
            vec![Rule::resources(["h"], ["a"], ["get"]), Rule::resources(["g"], ["a"], ["get"])],
            vec![Rule::resources(["g", "h"], ["a"], ["get"])],
        ),
        (
            "all at once",
            vec![
                res(["a"], ["get"]),
                res(["b", "a"], ["list", "get"]),
                Rule::resources(["h"], ["a", "b"], ["get"]),
                Rule::resources(["h"], ["b", "a"], ["list"]),
            ],
            vec![Rule::resources(["g", "h"], ["a", "b"], ["get", "list"])],
        ),
        (
            "a star absorbs",
            vec![res(["a", "*"], ["get"]), res(["b"], ["*", "get"])],
            vec![res(["*"], ["get"]), res(["b"], ["*"])],
        ),
        (
            "what every group has",
            vec![Rule::resources(["*"], ["a"], ["get"]), res(["a"], ["get"])],
            vec![Rule::resources(["*"], ["a"], ["get"])],
        ),
        ("*/sub absorbs x/sub", vec![res(["x/scale", "*/scale"], ["get"])], vec![res(["*/scale"], ["get"])]),
        (
            "names gather",
            vec![res(["a"], ["get"]).named(["n"]), res(["a"], ["get"]).named(["m"])],
            vec![res(["a"], ["get"]).named(["m", "n"])],
        ),
        (
            "all objects absorb names",
            vec![res(["a"], ["get"]).named(["n"]), res(["a"], ["get"])],
            vec![res(["a"], ["get"])],
        ),
        (
            "names of another verb stay",
            vec![res(["a"], ["get"]).named(["n"]), res(["a"], ["list"])],
            vec![res(["a"], ["list"]), res(["a"], ["get"]).named(["n"])],
        ),
        (
            "urls",
            vec![Rule::urls(["/b", "/a", "/a/**"], ["get"]), Rule::urls(["/a/x"], ["get"])],
            vec![Rule::urls(["/a", "/a/*", "/b"], ["get"])],
        ),
        ("nothing gives nothing", vec![Rule::default(), Rule { verbs: [].into(), ..res(["a"], ["x"]) }], vec![]),
    ];
    for (what, rules, compact) in cases {
        assert_eq!(RuleSet::new(&rules).to_rules(), compact, "{what}");
    }
}

#[test]
fn relations() {
    let set = |rule: &Rule| RuleSet::new([rule]);
    let (read, star) = (set(&res(["pods"], ["get"])), set(&res(["*"], ["*"])));
    assert!(read.implies(&star) && !star.implies(&read));
    assert!(!read.equivalent(&star) && star.equivalent(&star.clone()));
    assert!(RuleSet::default().implies(&read) && RuleSet::default().disjoint(&star));
    let disjoint = [
        (res(["pods"], ["get"]), res(["pods"], ["list"]), true),
        (res(["pods"], ["get"]), res(["pods"], ["*"]), false),
        (res(["pods"], ["get"]), res(["secrets"], ["get"]), true),
        (res(["pods"], ["get"]), Rule::resources(["h"], ["pods"], ["get"]), true),
        (res(["pods"], ["get"]), Rule::resources(["*"], ["*"], ["*"]), false),
        (res(["*/scale"], ["get"]), res(["a/scale"], ["get"]), false),
        (res(["*/scale"], ["get"]), res(["a/log"], ["get"]), true),
        (res(["*/scale"], ["get"]), res(["a"], ["get"]), true),
        (res(["a"], ["get"]).named(["n"]), res(["a"], ["get"]).named(["m"]), true),
        (res(["a"], ["get"]).named(["n"]), res(["a"], ["get"]), false),
        (Rule::urls(["/a/*"], ["get"]), Rule::urls(["/a/b"], ["get"]), false),
        (Rule::urls(["/a/*"], ["get"]), Rule::urls(["/a/b/*"], ["*"]), false),
        (Rule::urls(["/a/*"], ["get"]), Rule::urls(["/b"], ["get"]), true),
        (Rule::urls(["/a"], ["get"]), res(["*"], ["*"]), true),
    ];
    for (a, b, expected) in disjoint {
        assert_eq!(set(&a).disjoint(&set(&b)), expected, "{a} {b}");
        assert_eq!(set(&b).disjoint(&set(&a)), expected, "{b} {a}");
    }
}

#[test]
fn merging_verbs_words_a_refusal_and_nothing_else() {
    let atoms = [
        res(["a"], ["get"]),
        res(["b"], ["get"]),
        res(["a"], ["list"]),
        res(["a"], ["get"]).named(["n"]),
        Rule::urls(["/x"], ["get"]),
        Rule::urls(["/x"], ["post"]),
        res(["a", "b"], ["get"]),
    ];
    let merged = merge_verbs(&atoms);
    assert_eq!(merged.len(), 6);
    assert_eq!(merged.first(), Some(&res(["a"], ["get", "list"])));
    assert!(covers(&merged, &atoms).is_empty() && covers(&atoms, &merged).is_empty());
}
