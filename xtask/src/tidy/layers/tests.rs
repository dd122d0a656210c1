use super::super::fake::Fake;
use super::*;

fn messages(fake: Fake) -> Vec<String> {
    check(&fake.metadata(), |_, _| None).into_iter().map(|finding| finding.message).collect()
}

/// A complete workspace as the design draws it.
fn whole() -> Fake {
    Fake::new()
        .member(
            "rolewright-core",
            &["smol_str", "rustc-hash", "thiserror", "optional:serde", "dev:proptest", "dev:rolewright-testkit"],
        )
        .member("rolewright-plan", &["rolewright-core", "dev:rolewright-testkit"])
        .member("rolewright-api", &["rolewright-core", "kube-default+derive", "k8s-openapi", "serde"])
        .member(
            "rolewright-controller",
            &["rolewright-plan", "rolewright-core", "rolewright-api", "rolewright-oci", "kube+client+runtime", "tokio"],
        )
        .member("rolewright-oci", &["rolewright-core", "tokio", "oci-client"])
        .member("rolewright-server", &["rolewright-core", "rolewright-api", "tokio", "axum"])
        .member("rolewright-console", &["rolewright-core", "rolewright-plan", "axum"])
        .member(
            "rolewright",
            &["rolewright-core", "rolewright-controller", "rolewright-server", "rolewright-console", "clap", "tokio"],
        )
        .member("rolewright-testkit", &["rolewright-core", "rolewright-server", "rolewright-controller", "proptest"])
        .member("xtask", &["anyhow", "rolewright-testkit"])
        // As cargo unites features: the controller's wish for a client shows on every user of kube.
        .library("kube", &["kube-client", "kube-core"])
        .library("kube-client", &["tokio"])
        .library("axum", &["tokio"])
        .library("oci-client", &["tokio"])
}

#[test]
fn house_as_designed_is_fine() {
    assert_eq!(messages(whole()), [""; 0]);
}

#[test]
fn core_names_only_its_few_crates() {
    for bad in ["jiff", "tracing", "indexmap", "build:cc"] {
        let name = bad.trim_start_matches("build:");
        assert_eq!(
            messages(Fake::new().member("rolewright-core", &[bad])),
            [format!("`rolewright-core` must not depend on `{name}`")]
        );
    }
}

#[test]
fn core_takes_serde_only_behind_a_feature() {
    assert_eq!(
        messages(Fake::new().member("rolewright-core", &["serde"])),
        ["`rolewright-core` depends on `serde` always"]
    );
}

#[test]
fn core_uses_none_of_ours() {
    let fake = Fake::new().member("rolewright-core", &["rolewright-plan"]).member("rolewright-plan", &[]);
    assert_eq!(messages(fake), ["`rolewright-core` must not depend on `rolewright-plan`"]);
}

#[test]
fn core_reaches_no_runtime_through_others() {
    for banned in ["tokio", "kube", "k8s-openapi"] {
        let fake = Fake::new()
            .member("rolewright-core", &["smol_str"])
            .library("smol_str", &["borsh"])
            .library("borsh", &[banned])
            .library(banned, &[]);
        assert_eq!(
            messages(fake),
            [format!("`rolewright-core` reaches `{banned}`: rolewright-core -> smol_str -> borsh -> {banned}")]
        );
    }
}

#[test]
fn plan_reaches_no_runtime_through_core() {
    for banned in ["tokio", "kube", "k8s-openapi"] {
        let fake = Fake::new()
            .member("rolewright-plan", &["rolewright-core"])
            .member("rolewright-core", &["smol_str"])
            .library("smol_str", &[banned])
            .library(banned, &[]);
        let plan =
            format!("`rolewright-plan` reaches `{banned}`: rolewright-plan -> rolewright-core -> smol_str -> {banned}");
        assert!(messages(fake).contains(&plan), "{banned}");
    }
}

#[test]
fn plan_uses_core_and_reads_json() {
    for (bad, ours) in [("rand", false), ("jiff", false), ("rolewright-api", true)] {
        let fake = Fake::new().member("rolewright-plan", &["rolewright-core", bad]).member("rolewright-core", &[]);
        let fake = if ours { fake.member(bad, &[]) } else { fake };
        assert_eq!(messages(fake), [format!("`rolewright-plan` must not depend on `{bad}`")]);
    }
}

#[test]
fn api_has_no_client() {
    for (bad, message) in [
        ("tokio", "`rolewright-api` must not depend on `tokio`"),
        ("kube-client", "`rolewright-api` must not depend on `kube-client`"),
        ("kube-default+client", "`rolewright-api` uses `kube` with the feature `client`"),
        ("kube+derive", "`rolewright-api` uses `kube` with the feature `default`"),
    ] {
        assert_eq!(messages(Fake::new().member("rolewright-api", &[bad])), [message]);
    }
}

#[test]
fn api_does_not_know_planners() {
    let fake = Fake::new().member("rolewright-api", &["rolewright-plan"]).member("rolewright-plan", &[]);
    assert!(messages(fake).contains(&"`rolewright-api` must not depend on `rolewright-plan`".to_owned()));
}

#[test]
fn server_and_controller_do_not_see_each_other() {
    for (one, other) in [("rolewright-server", "rolewright-controller"), ("rolewright-controller", "rolewright-server")]
    {
        for edge in [other.to_owned(), format!("dev:{other}")] {
            let fake = Fake::new().member(one, &[&edge]).member(other, &[]);
            assert!(messages(fake).contains(&format!("`{one}` must not depend on `{other}`")), "{edge}");
        }
        let through =
            Fake::new().member(one, &["rolewright-api"]).member("rolewright-api", &[other]).member(other, &[]);
        assert!(messages(through).contains(&format!("`{one}` reaches `{other}`: {one} -> rolewright-api -> {other}")));
    }
}

#[test]
fn server_has_no_client_and_no_planner() {
    let fake = Fake::new().member("rolewright-server", &["kube-default+runtime"]);
    assert_eq!(messages(fake), ["`rolewright-server` uses `kube` with the feature `runtime`"]);
    let fake = Fake::new().member("rolewright-server", &["rolewright-plan"]).member("rolewright-plan", &[]);
    assert!(messages(fake).contains(&"`rolewright-server` must not depend on `rolewright-plan`".to_owned()));
}

#[test]
fn oci_sees_neither_kube_nor_controller() {
    let fake = Fake::new().member("rolewright-oci", &["kube"]).library("kube", &[]);
    assert_eq!(messages(fake), ["`rolewright-oci` reaches `kube`: rolewright-oci -> kube"]);
    let fake = Fake::new()
        .member("rolewright-oci", &["helper"])
        .library("helper", &["k8s-openapi"])
        .library("k8s-openapi", &[]);
    assert_eq!(messages(fake), ["`rolewright-oci` reaches `k8s-openapi`: rolewright-oci -> helper -> k8s-openapi"]);
    let fake = Fake::new().member("rolewright-oci", &["rolewright-controller"]).member("rolewright-controller", &[]);
    assert!(messages(fake).contains(&"`rolewright-oci` must not depend on `rolewright-controller`".to_owned()));
}

#[test]
fn console_cannot_reach_the_cluster() {
    let fake = Fake::new().member("rolewright-console", &["kube"]).library("kube", &[]);
    assert_eq!(messages(fake), ["`rolewright-console` reaches `kube`: rolewright-console -> kube"]);
}

#[test]
fn testkit_is_for_tests_only() {
    for kind in ["", "build:", "optional:"] {
        for user in ["rolewright-core", "rolewright", "rolewright-server"] {
            let fake = Fake::new().member(user, &[&format!("{kind}rolewright-testkit")]).member(TESTKIT, &[]);
            let message = format!("`{user}` builds with `rolewright-testkit`, which is for tests only");
            assert!(messages(fake).contains(&message), "{kind}{user}");
        }
    }
}

#[test]
fn nobody_uses_xtask() {
    let fake = Fake::new().member("rolewright", &["xtask"]).member("xtask", &[]);
    assert_eq!(messages(fake), ["`rolewright` must not depend on `xtask`"]);
}

#[test]
fn new_crate_needs_a_row() {
    assert_eq!(
        messages(Fake::new().member("rolewright-extra", &[])),
        ["`rolewright-extra` has no row in the dependency table"]
    );
}

#[test]
fn finding_names_the_manifest_and_the_line() {
    let findings = check(&Fake::new().member("rolewright-core", &["jiff"]).metadata(), |_, name| Some(name.len()));
    assert_eq!(findings[0].file, "crates/rolewright-core/Cargo.toml");
    assert_eq!(findings[0].line, Some(4));
}

#[test]
fn table_knows_the_whole_house() {
    for name in EVERY_CRATE {
        assert!(LAYERS.iter().any(|layer| layer.name == name), "{name}");
    }
    assert_eq!(LAYERS.len(), EVERY_CRATE.len());
}

const EVERY_CRATE: [&str; 12] = [
    "rolewright-cel",
    "rolewright-core",
    "rolewright-crd",
    "rolewright-plan",
    "rolewright-api",
    "rolewright-controller",
    "rolewright-oci",
    "rolewright-server",
    "rolewright-console",
    "rolewright",
    "rolewright-testkit",
    "xtask",
];
