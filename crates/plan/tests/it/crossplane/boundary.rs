//! How far a provider's rights may go (spec 1.8).

use rolewright_core::RuleSet;
use rolewright_plan::crossplane::{Boundary, Settings};
use rolewright_plan::rbac::CLUSTER_ROLE;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::world::{revision, role, rule};

const SYSTEM: &str = "crossplane:provider:p-1:system";
const LIMIT: &str = "crossplane:allowed-provider-permissions";

fn asking(requests: Value) -> Value {
    let mut revision = revision("p-1", &["a.b.c"]);
    revision["status"]["permissionRequests"] = requests;
    revision
}

fn pods(verbs: &[&str]) -> Value {
    json!({ "apiGroups": [""], "resources": ["pods"], "verbs": verbs })
}

fn limited() -> Settings {
    Settings { boundary_role: Some(LIMIT.into()), ..Settings::default() }
}

fn holds(cluster: &Cluster, text: &str) -> bool {
    RuleSet::new(&cluster.rules_of(SYSTEM)).covers(&rule(text))
}

#[test]
fn without_a_boundary_nothing_beyond_is_granted() {
    let cluster = Cluster::new(Settings::default(), [asking(json!([pods(&["get"])]))]);
    assert!(holds(&cluster, "get b.c a") && !holds(&cluster, "get core pods"));
    assert_eq!(
        cluster.told(),
        ["RW0205 ProviderRevision/p-1: without a boundary role nothing beyond its resources is granted: `get pods`"]
    );
}

#[test]
fn who_asks_for_nothing_is_not_bounded() {
    // The stock chart names a role that nothing aggregates into.
    for objects in [vec![revision("p-1", &["a.b.c"])], vec![revision("p-1", &["a.b.c"]), role(LIMIT, &[])]] {
        let bounded = Cluster::new(limited(), objects);
        let free = Cluster::new(Settings::default(), [revision("p-1", &["a.b.c"])]);
        assert_eq!(bounded.page("crossplane:provider:"), free.page("crossplane:provider:"));
        assert_eq!(bounded.told(), Vec::<&str>::new());
    }
}

/// Kubernetes' own way to compare: what a boundary covers, word by word.
#[test]
fn what_a_boundary_covers() {
    let urls = |paths: &[&str], verbs: &[&str]| json!({ "nonResourceURLs": paths, "verbs": verbs });
    let named =
        |names: &[&str]| json!({ "apiGroups": [""], "resources": ["pods"], "resourceNames": names, "verbs": ["get"] });
    let on = |resource: &str| json!({ "apiGroups": [""], "resources": [resource], "verbs": ["get"] });
    for (allowed, asked, granted) in [
        (pods(&["get", "list"]), pods(&["get"]), true),
        (pods(&["get"]), pods(&["list"]), false),
        (pods(&["*"]), pods(&["get"]), true),
        (pods(&["*"]), pods(&["*"]), true),
        (pods(&["get", "list", "watch"]), pods(&["*"]), false),
        (on("*"), on("pods"), true),
        (on("*"), on("pods/log"), true),
        (on("*/log"), on("pods/log"), true),
        (on("*/log"), on("pods"), false),
        (on("pods"), on("pods/log"), false),
        (on("pods/*"), on("pods/log"), false),
        (named(&["a"]), named(&["a"]), true),
        (named(&["a"]), named(&["b"]), false),
        (named(&["a"]), pods(&["get"]), false),
        (pods(&["get"]), named(&["a"]), true),
        (named(&["*"]), pods(&["get"]), false),
        (named(&["*"]), named(&["a"]), false),
        (urls(&["/apis/*"], &["get"]), urls(&["/apis/x"], &["get"]), true),
        (urls(&["*"], &["get"]), urls(&["/x"], &["get"]), true),
        (urls(&["*"], &["post"]), urls(&["/x"], &["get"]), false),
        (urls(&["/x"], &["get"]), urls(&["/y"], &["get"]), false),
    ] {
        let mut limit = role(LIMIT, &[]);
        limit["rules"] = json!([allowed]);
        let cluster = Cluster::new(limited(), [asking(json!([asked])), limit]);
        let asked_rule: rolewright_core::Rule = serde_json::from_value(asked.clone()).unwrap();
        let held = RuleSet::new(&cluster.rules_of(SYSTEM)).covers(&asked_rule);
        assert_eq!(held, granted, "{allowed} for {asked}");
        assert_eq!(cluster.told().is_empty(), granted, "{allowed} for {asked}: {:?}", cluster.told());
    }
}

/// Upstream's mixed case: what is covered is granted, what is not is named.
#[test]
fn a_mixed_request_gets_what_it_may() {
    let limit = role(LIMIT, &["get,list apps deployments", "create core events"]);
    let requests = json!([
        { "apiGroups": ["apps", "extensions"], "resources": ["deployments"], "verbs": ["get", "list"] },
        { "apiGroups": [""], "resources": ["events"], "verbs": ["create"] },
    ]);
    let cluster = Cluster::new(limited(), [asking(requests), limit]);
    assert!(holds(&cluster, "get,list apps deployments") && holds(&cluster, "create core events"));
    assert!(!holds(&cluster, "get extensions deployments"));
    assert_eq!(
        cluster.told(),
        [format!(
            "RW0205 ProviderRevision/p-1: ClusterRole `{LIMIT}` does not allow `get,list deployments.extensions`"
        )]
    );
}

#[test]
fn a_boundary_that_shrinks_revokes_and_one_that_goes_revokes_all() {
    let wide = role(LIMIT, &["get,list core pods"]);
    let mut cluster = Cluster::new(limited(), [asking(json!([pods(&["get", "list"])])), wide.clone()]);
    assert!(holds(&cluster, "get,list core pods"));
    cluster.set(&role(LIMIT, &["get core pods"]));
    cluster.settle();
    assert!(holds(&cluster, "get core pods") && !holds(&cluster, "list core pods"));
    cluster.remove(&CLUSTER_ROLE, "", LIMIT);
    cluster.settle();
    assert!(!holds(&cluster, "get core pods") && holds(&cluster, "get b.c a"));
    cluster.set(&wide);
    cluster.settle();
    assert!(holds(&cluster, "get,list core pods"));
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn a_boundary_gathered_by_labels_counts_as_it_is_gathered() {
    let mut limit = role(LIMIT, &[]);
    let label = "rbac.crossplane.io/aggregate-to-allowed-provider-permissions";
    limit["aggregationRule"] = json!({ "clusterRoleSelectors": [{ "matchLabels": { label: "true" } }] });
    let part = super::world::labelled(role("part", &["get core pods"]), label, "true");
    let cluster = Cluster::new(limited(), [asking(json!([pods(&["get"])])), limit, part]);
    assert!(holds(&cluster, "get core pods"));
}

#[test]
fn a_boundary_for_everything_bounds_the_account_and_nobody_else() {
    let settings = Settings { boundary: Boundary::All, ..limited() };
    let cluster = Cluster::new(
        settings.clone(),
        [revision("p-1", &["a.b.c"]), role(LIMIT, &["get,list b.c *", "create core events"])],
    );
    assert_eq!(
        cluster.page(SYSTEM).lines().skip(3).map(str::trim).collect::<Vec<_>>(),
        ["create core events", "get,list b.c a,a/status"]
    );
    assert!(cluster.page("crossplane:provider:p-1:aggregate-to-edit").contains("* b.c a,a/status"));
    let told = cluster.told();
    assert!(
        matches!(told.as_slice(), [told] if told.starts_with("RW0205 ProviderRevision/p-1: ClusterRole `crossplane:allowed-provider-permissions` does not allow `")),
        "{told:?}"
    );
    // It fails closed, whether the role is not there or was not named.
    for settings in [settings, Settings { boundary: Boundary::All, ..Settings::default() }] {
        let cluster = Cluster::new(settings, [revision("p-1", &["a.b.c"])]);
        assert_eq!(cluster.rules_of(SYSTEM), []);
        assert!(cluster.told()[0].starts_with("RW0205 ProviderRevision/p-1: "), "{:?}", cluster.told());
    }
}

#[test]
fn a_provider_may_ask_without_bringing_anything() {
    let mut asking = asking(json!([pods(&["get"])]));
    asking["status"]["objectRefs"] = json!([]);
    let cluster = Cluster::new(limited(), [asking, role(LIMIT, &["* core *"])]);
    assert!(holds(&cluster, "get core pods"));
    assert_eq!(cluster.names("crossplane:provider:"), [format!("role {SYSTEM}")]);
}

#[test]
fn a_request_of_any_size_is_told_briefly() {
    let many: Vec<Value> = (0..3000)
        .map(|n| json!({ "apiGroups": [format!("g{n}")], "resources": [format!("r{n}")], "verbs": ["get"] }))
        .collect();
    let cluster = Cluster::new(limited(), [asking(json!(many))]);
    let told = cluster.told();
    assert!(matches!(told.as_slice(), [told] if told.len() < 400 && told.ends_with("; and 2995 more")), "{told:?}");
}
