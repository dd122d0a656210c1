//! What the guard `covers` promises of aggregated roles, and that `strict` is Kubernetes' way.

use anyhow::{Result, ensure};
use rolewright_server::Guard;
use serde_json::{Value, json};

use crate::RBAC;
use crate::servers::{Answer, Ask, Target, Who};

const CEILING: &str = "rbac.rolewright.io/ceiling";
const MERGE: &str = "application/merge-patch+json";

/// A cluster with a few people in it:
/// alice writes ClusterRoles and holds pods; bob writes and holds pods and secrets; nobody only writes.
struct Scene {
    target: Target,
    _server: rolewright_server::Server,
}

fn rule(resource: &str) -> Value {
    json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]})
}

impl Scene {
    async fn open(guard: Guard) -> Result<Self> {
        let (server, target) = Target::in_process(guard)?;
        let scene = Self { target, _server: server };
        let writes = json!({
            "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles", "clusterrolebindings"],
            "verbs": ["create", "update", "patch", "delete", "get"],
        });
        let people =
            [("alice", vec![rule("pods")]), ("bob", vec![rule("pods"), rule("secrets")]), ("nobody", Vec::new())];
        for (name, held) in people {
            let rules = [vec![writes.clone()], held].concat();
            scene.root_role(name, json!({"rules": rules})).await?;
            let binding = json!({
                "metadata": {"name": name}, "subjects": [{"kind": "User", "name": name}],
                "roleRef": {"kind": "ClusterRole", "name": name},
            });
            scene.target.must(&Ask::new("POST", format!("{RBAC}/clusterrolebindings"), &binding)).await?;
        }
        for resource in ["pods", "secrets"] {
            let role = json!({"metadata": {"labels": {"to": "sum"}}, "rules": [rule(resource)]});
            scene.root_role(&format!("source-{resource}"), role).await?;
        }
        Ok(scene)
    }

    async fn root_role(&self, name: &str, role: Value) -> Result<Value> {
        let answer = self.post("root", name, role).await?;
        ensure!(answer.status == 201, "{answer:?}");
        Ok(answer.body)
    }

    fn who(name: &str) -> Who {
        if name == "root" { Who::Root } else { Who::user(name) }
    }

    async fn post(&self, who: &str, name: &str, role: Value) -> Result<Answer> {
        let mut object = json!({"metadata": {"name": name}});
        crate::things::merge(&mut object, &role);
        self.target.send(&Self::who(who), &Ask::new("POST", format!("{RBAC}/clusterroles"), &object)).await
    }

    async fn put(&self, who: &str, name: &str, role: Value) -> Result<Answer> {
        let mut object = json!({"metadata": {"name": name}});
        crate::things::merge(&mut object, &role);
        self.target.send(&Self::who(who), &Ask::new("PUT", format!("{RBAC}/clusterroles/{name}"), &object)).await
    }

    async fn merge(&self, who: &str, name: &str, change: Value) -> Result<Answer> {
        let ask = Ask::new("PATCH", format!("{RBAC}/clusterroles/{name}"), &change).typed(MERGE);
        self.target.send(&Self::who(who), &ask).await
    }

    /// The resources that a role gives.
    async fn gives(&self, name: &str) -> Result<Vec<String>> {
        let role = self.target.must(&Ask::get(format!("{RBAC}/clusterroles/{name}"))).await?;
        let mut resources: Vec<String> = role["rules"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|rule| rule["resources"].as_array().cloned().unwrap_or_default())
            .filter_map(|resource| resource.as_str().map(str::to_owned))
            .collect();
        resources.sort();
        resources.dedup();
        Ok(resources)
    }

    async fn ceiling(&self, name: &str) -> Result<Value> {
        let role = self.target.must(&Ask::get(format!("{RBAC}/clusterroles/{name}"))).await?;
        Ok(role["metadata"]["annotations"][CEILING].clone())
    }
}

fn summing(label: &str) -> Value {
    json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": label}}]}})
}

fn with(mut role: Value, more: impl Into<Value>) -> Value {
    crate::things::merge(&mut role, &more.into());
    role
}

#[tokio::test]
async fn the_author_gathers_what_they_cover_and_no_more() -> Result<()> {
    let scene = Scene::open(Guard::Covers).await?;
    // author, what the role gives
    let cases = [
        ("nobody", vec![]),
        ("alice", vec!["pods"]),
        ("bob", vec!["pods", "secrets"]),
        ("root", vec!["pods", "secrets"]),
    ];
    for (author, gives) in cases {
        let name = format!("sum-of-{author}");
        let answer = scene.post(author, &name, summing("sum")).await?;
        assert_eq!(answer.status, 201, "{author}: {answer:?}");
        assert_eq!(scene.gives(&name).await?, gives, "{author}");
        assert_eq!(
            scene.ceiling(&name).await?.is_null(),
            author == "root",
            "{author}: only the superuser has no ceiling"
        );
    }
    // A source that comes later stays out, unless the ceiling covers it or there is none.
    scene.root_role("later", json!({"metadata": {"labels": {"to": "sum"}}, "rules": [rule("nodes")]})).await?;
    let named = json!({"apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"], "verbs": ["get"]});
    scene.root_role("later-and-narrow", json!({"metadata": {"labels": {"to": "sum"}}, "rules": [named]})).await?;
    assert_eq!(scene.gives("sum-of-nobody").await?, [""; 0]);
    assert_eq!(scene.gives("sum-of-bob").await?, ["pods", "secrets"]);
    assert_eq!(scene.gives("sum-of-root").await?, ["nodes", "pods", "secrets"]);
    let role = scene.target.must(&Ask::get(format!("{RBAC}/clusterroles/sum-of-alice"))).await?;
    assert_eq!(role["rules"].as_array().map(Vec::len), Some(2), "what the ceiling covers comes in: {role}");
    // A source that shrinks or goes is followed all the same.
    scene.target.must(&Ask::new("DELETE", format!("{RBAC}/clusterroles/source-pods"), &Value::Null)).await?;
    assert_eq!(scene.gives("sum-of-bob").await?, ["pods", "secrets"], "the narrow one is left");
    scene.target.must(&Ask::new("DELETE", format!("{RBAC}/clusterroles/later-and-narrow"), &Value::Null)).await?;
    assert_eq!(scene.gives("sum-of-bob").await?, ["secrets"]);
    Ok(())
}

#[tokio::test]
async fn whoever_saves_the_role_stands_for_it() -> Result<()> {
    let scene = Scene::open(Guard::Covers).await?;
    scene.post("alice", "sum", summing("sum")).await?;
    assert_eq!(scene.gives("sum").await?, ["pods"]);
    // who, how, status, what the role gives then
    let label = |value: &str| json!({"metadata": {"labels": {"saved": value}}});
    let cases: Vec<(&str, Value, u16, Vec<&str>)> = vec![
        ("nobody", label("a"), 403, vec!["pods"]),
        ("bob", label("b"), 200, vec!["pods", "secrets"]),
        ("alice", label("c"), 403, vec!["pods", "secrets"]),
        ("alice", with(label("d"), json!({"rules": []})), 200, vec!["pods"]),
        ("bob", json!({}), 200, vec!["pods", "secrets"]),
        ("nobody", json!({"rules": null, "metadata": {"labels": {"saved": "e"}}}), 200, vec![]),
        ("root", json!({}), 200, vec!["pods", "secrets"]),
    ];
    for (who, change, status, gives) in cases {
        let answer = scene.merge(who, "sum", change.clone()).await?;
        assert_eq!(answer.status, status, "{who} {change}: {}", answer.body);
        assert_eq!(scene.gives("sum").await?, gives, "{who} {change}");
    }
    assert!(scene.ceiling("sum").await?.is_null(), "the superuser lifted it");
    Ok(())
}

#[tokio::test]
async fn nobody_writes_their_own_ceiling() -> Result<()> {
    let scene = Scene::open(Guard::Covers).await?;
    let wish = json!({"metadata": {"annotations": {CEILING: json!([rule("secrets"), rule("pods")]).to_string()}}});
    scene.post("alice", "sum", with(summing("sum"), wish.clone())).await?;
    let own = json!(json!([rule("pods")]).to_string());
    let attempts = [
        ("as it was created", json!(null)),
        ("another one", wish.clone()),
        ("none", json!({"metadata": {"annotations": {CEILING: null}}})),
        ("no annotations", json!({"metadata": {"annotations": null}})),
        ("one that cannot be read", json!({"metadata": {"annotations": {CEILING: "everything"}}})),
        ("other selectors and none", with(summing("sum"), json!({"metadata": {"annotations": {CEILING: null}}}))),
    ];
    for (title, change) in attempts {
        if !change.is_null() {
            let answer = scene.merge("alice", "sum", change).await?;
            assert_eq!(answer.status, 200, "{title}: {answer:?}");
        }
        assert_eq!(scene.ceiling("sum").await?, own, "{title}");
        assert_eq!(scene.gives("sum").await?, ["pods"], "{title}");
    }
    let answer = scene.put("alice", "sum", summing("sum")).await?;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(scene.ceiling("sum").await?, own, "a new form without it");
    // On a role that is not aggregated the annotation means nothing, and none is left when the aggregation ends.
    scene.post("alice", "plain", with(json!({"rules": [rule("pods")]}), wish)).await?;
    assert!(scene.ceiling("plain").await?.is_null());
    let answer = scene.merge("alice", "sum", json!({"aggregationRule": null})).await?;
    assert_eq!((answer.status, scene.gives("sum").await?), (200, vec!["pods".to_owned()]));
    assert!(scene.ceiling("sum").await?.is_null());
    let answer = scene.merge("alice", "sum", json!({"rules": [rule("secrets")]})).await?;
    assert_eq!(answer.status, 403, "a role that was aggregated is guarded like any other");
    Ok(())
}

#[tokio::test]
async fn what_a_ceiling_keeps_out_is_not_handed_on() -> Result<()> {
    let scene = Scene::open(Guard::Covers).await?;
    scene.root_role("top", summing("top")).await?;
    // alice's sum is a source of the superuser's: it must not carry in what alice does not hold.
    let handing_on = with(summing("sum"), json!({"metadata": {"labels": {"to": "top"}}}));
    let answer = scene.post("alice", "sum", handing_on).await?;
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(
        (scene.gives("sum").await?, scene.gives("top").await?),
        (vec!["pods".to_owned()], vec!["pods".to_owned()])
    );
    // Everything there is, by a selector that matches all.
    let all = json!({"aggregationRule": {"clusterRoleSelectors": [{}]}, "metadata": {"labels": {"to": "top"}}});
    let answer = scene.post("nobody", "all", all).await?;
    assert_eq!(answer.status, 201, "{answer:?}");
    let top = scene.gives("top").await?;
    for resource in ["*", "secrets", "nodes", "deployments"] {
        assert!(!top.contains(&resource.to_owned()), "{top:?}");
    }
    // In a circle, too: the two select each other.
    scene.post("alice", "left", with(summing("left"), json!({"metadata": {"labels": {"to": "right"}}}))).await?;
    scene.post("bob", "right", with(summing("right"), json!({"metadata": {"labels": {"to": "left"}}}))).await?;
    scene.root_role("drop", json!({"metadata": {"labels": {"to": "right"}}, "rules": [rule("secrets")]})).await?;
    scene.merge("bob", "right", json!({"metadata": {"labels": {"saved": "again"}}})).await?;
    assert_eq!((scene.gives("left").await?, scene.gives("right").await?), (vec![], vec!["secrets".to_owned()]));
    Ok(())
}

#[tokio::test]
async fn a_binding_gives_what_the_role_gives() -> Result<()> {
    let scene = Scene::open(Guard::Covers).await?;
    scene.post("alice", "sum", summing("sum")).await?;
    let binding = json!({
        "metadata": {"name": "sum"}, "subjects": [{"kind": "User", "name": "carol"}],
        "roleRef": {"kind": "ClusterRole", "name": "sum"},
    });
    let ask = Ask::new("POST", format!("{RBAC}/clusterrolebindings"), &binding);
    assert_eq!(scene.target.send(&Who::user("nobody"), &ask).await?.status, 403);
    assert_eq!(scene.target.send(&Who::user("alice"), &ask).await?.status, 201);
    for (resource, allowed) in [("pods", true), ("secrets", false)] {
        let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": resource}}});
        let review = Ask::new("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review);
        let answer = scene.target.send(&Who::user("carol"), &review).await?;
        assert_eq!(answer.body["status"]["allowed"], allowed, "{resource}");
    }
    Ok(())
}

#[tokio::test]
async fn strict_is_kubernetes_way() -> Result<()> {
    let scene = Scene::open(Guard::Strict).await?;
    for who in ["nobody", "alice", "bob"] {
        let answer = scene.post(who, &format!("sum-of-{who}"), summing("sum")).await?;
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert_eq!(answer.status, 403, "{who}");
        assert!(message.ends_with("must have cluster-admin privileges to use the aggregationRule"), "{message}");
    }
    scene.root_role("sum", summing("sum")).await?;
    assert_eq!(scene.gives("sum").await?, ["pods", "secrets"]);
    assert!(scene.ceiling("sum").await?.is_null());
    for change in [
        json!({"metadata": {"labels": {"a": "b"}}}),
        json!({"aggregationRule": null}),
        summing("other"),
        json!({"rules": []}),
    ] {
        assert_eq!(scene.merge("bob", "sum", change.clone()).await?.status, 403, "{change}");
    }
    // The annotation is kept like any other, and only who may write the role may set it: it can take, never give.
    let answer = scene.merge("bob", "sum", json!({"metadata": {"annotations": {CEILING: "[]"}}})).await?;
    assert_eq!(answer.status, 403);
    Ok(())
}

#[tokio::test]
async fn without_our_own_aggregation_only_the_strict_guard_is_safe() -> Result<()> {
    let controllers = rolewright_server::Controllers { aggregation: false, ..Default::default() };
    let (server, target) =
        Target::with(rolewright_server::Settings { guard: Guard::Covers, controllers, ..Default::default() })?;
    let role = json!({"metadata": {"name": "writer"}, "rules": [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create"]}]});
    target.must(&Ask::new("POST", format!("{RBAC}/clusterroles"), &role)).await?;
    let binding = json!({"metadata": {"name": "writer"}, "subjects": [{"kind": "User", "name": "alice"}], "roleRef": {"kind": "ClusterRole", "name": "writer"}});
    target.must(&Ask::new("POST", format!("{RBAC}/clusterrolebindings"), &binding)).await?;
    let sum = with(json!({"metadata": {"name": "sum"}}), summing("sum"));
    let answer = target.send(&Who::user("alice"), &Ask::new("POST", format!("{RBAC}/clusterroles"), &sum)).await?;
    assert_eq!(answer.status, 403, "{answer:?}");
    server.end();
    Ok(())
}
