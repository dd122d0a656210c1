//! Other people's names and tokens, and the odd cases of bindings: the same answers from both servers.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::servers::{Answer, Ask, Both, Target, Who};
use crate::{NAMESPACE, RBAC};

/// Service accounts with a token each, and the rules that they hold: in the cluster, and in the namespace.
fn accounts() -> Vec<(&'static str, Value, Value)> {
    let rule = |group: &str, resources: &[&str], verbs: &[&str], names: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs, "resourceNames": names});
    let nothing = json!([]);
    vec![
        ("plain", nothing.clone(), nothing.clone()),
        ("strong", json!([rule("", &["secrets"], &["get", "list"], &[])]), nothing.clone()),
        ("as-users", json!([rule("", &["users"], &["impersonate"], &[])]), nothing.clone()),
        ("as-one", json!([rule("", &["users"], &["impersonate"], &["guest"])]), nothing.clone()),
        ("as-groups", json!([rule("", &["users", "groups"], &["impersonate"], &["guest", "guests"])]), nothing.clone()),
        ("as-accounts", nothing.clone(), json!([rule("", &["serviceaccounts"], &["impersonate"], &[])])),
        ("as-one-account", nothing.clone(), json!([rule("", &["serviceaccounts"], &["impersonate"], &["plain"])])),
        (
            "as-extra",
            json!([
                rule("", &["users"], &["impersonate"], &["guest"]),
                rule("authentication.k8s.io", &["userextras/scopes"], &["impersonate"], &["view"]),
                rule("authentication.k8s.io", &["uids"], &["impersonate"], &["1"]),
            ]),
            nothing.clone(),
        ),
        ("tokens", nothing.clone(), json!([rule("", &["serviceaccounts/token"], &["create"], &[])])),
        ("one-token", nothing.clone(), json!([rule("", &["serviceaccounts/token"], &["create"], &["plain"])])),
        ("no-token", nothing.clone(), json!([rule("", &["serviceaccounts"], &["create", "get", "update"], &[])])),
        ("star-token", nothing, json!([rule("", &["serviceaccounts/*"], &["*"], &[])])),
    ]
}

/// Who asks for what, as whom.
fn asks() -> Vec<(&'static str, Ask)> {
    let secrets = || Ask::get("/api/v1/namespaces/default/secrets");
    let whoami = || Ask::new("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({}));
    let strong = format!("system:serviceaccount:{NAMESPACE}:strong");
    let token = |name: &str| {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}/token");
        Ask::new("POST", path, &json!({"spec": {"expirationSeconds": 3600}}))
    };
    let mut asks = Vec::new();
    for (who, ..) in accounts() {
        asks.push((who, secrets()));
        for name in ["guest", "root", strong.as_str(), "system:node:a", "system:anonymous", "kubernetes-admin"] {
            asks.push((who, secrets().header("Impersonate-User", name)));
            asks.push((who, whoami().header("Impersonate-User", name)));
        }
        let guest = || secrets().header("Impersonate-User", "guest");
        for group in ["guests", "system:masters", "system:serviceaccounts", "system:authenticated", ""] {
            asks.push((who, guest().header("Impersonate-Group", group)));
        }
        asks.push((who, guest().header("Impersonate-Group", "guests").header("Impersonate-Group", "system:masters")));
        asks.push((who, guest().header("Impersonate-Uid", "1")));
        asks.push((who, guest().header("Impersonate-Uid", "2")));
        asks.push((who, whoami().header("Impersonate-User", "guest").header("Impersonate-Extra-Scopes", "view")));
        asks.push((who, guest().header("Impersonate-Extra-Scopes", "edit")));
        asks.push((who, guest().header("Impersonate-Extra-Other", "view")));
        asks.push((who, secrets().header("Impersonate-Group", "system:masters")));
        asks.push((who, secrets().header("Impersonate-User", "")));
        asks.push((who, secrets().header("Impersonate-Userx", "root")));
        for name in ["plain", "strong", "missing"] {
            asks.push((who, token(name)));
        }
        let dry = Ask { path: format!("{}?dryRun=All", token("strong").path), ..token("strong") };
        asks.push((who, dry));
        let other = "/api/v1/namespaces/kube-system/serviceaccounts/default/token";
        asks.push((who, Ask::new("POST", other, &json!({"spec": {}}))));
        asks.push((who, Ask::get(token("strong").path)));
    }
    for (kind, group) in [
        ("Widget", "rbac.authorization.k8s.io"),
        ("Role", "apps"),
        ("ClusterRole", "apps"),
        ("clusterrole", ""),
        ("", ""),
    ] {
        let role = json!({"apiGroup": group, "kind": kind, "name": "prize-secrets"});
        for (place, binding) in
            [("clusterrolebindings".to_owned(), "cluster"), (format!("namespaces/{NAMESPACE}/rolebindings"), "local")]
        {
            let binding = json!({"metadata": {"name": format!("odd-{binding}-{kind}")}, "subjects": [{"kind": "User", "name": "x"}], "roleRef": role});
            for who in ["writer", "exact", "binder"] {
                let ask = Ask::new("POST", format!("{RBAC}/{place}?dryRun=All"), &binding);
                asks.push((who, ask.header("Impersonate-User", who)));
            }
        }
    }
    asks
}

pub(crate) async fn nobody_borrows_a_name_or_a_token(both: &Both) -> Result<()> {
    let (real, ours) = (set_up(&both.real).await?, set_up(&both.ours).await?);
    let asks = asks();
    let mut apart = Vec::new();
    for (who, ask) in &asks {
        let theirs = comparable(both.real.send(&real(who), ask).await?);
        let answer = comparable(both.ours.send(&ours(who), ask).await?);
        if theirs != answer {
            apart.push(format!(
                "{who} {ask:?}\n  real {} {}\n  ours {} {}",
                theirs.status, theirs.body, answer.status, answer.body
            ));
        }
        // INVARIANT: only who holds secrets, or may be the account that does, sees them.
        let may = ["strong", "as-accounts"].contains(who);
        ensure!(may || !ask.path.ends_with("/secrets") || answer.status != 200, "{who} {ask:?}: {answer:?}");
    }
    println!("detours: {} tried", asks.len());
    ensure!(apart.is_empty(), "{} of {} differ:\n{}", apart.len(), asks.len(), apart.join("\n"));
    Ok(())
}

/// Makes the accounts; the answer gives everybody's credentials.
async fn set_up(target: &Target) -> Result<impl Fn(&str) -> Who + use<>> {
    let mut tokens = std::collections::BTreeMap::new();
    for (name, cluster, local) in accounts() {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
        target.must(&Ask::new("POST", &path, &json!({"metadata": {"name": name}}))).await?;
        for (place, kind, rules) in
            [(String::new(), "Cluster", cluster), (format!("namespaces/{NAMESPACE}/"), "", local)]
        {
            let mut rules = rules;
            for rule in rules.as_array_mut().into_iter().flatten() {
                rule["resourceNames"].as_array().is_some_and(Vec::is_empty).then(|| rule["resourceNames"].take());
            }
            let role = json!({"metadata": {"name": format!("account-{name}")}, "rules": rules});
            let binding = json!({
                "metadata": {"name": format!("account-{name}")}, "roleRef": {"kind": format!("{kind}Role"), "name": format!("account-{name}")},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
            });
            let lower = kind.to_lowercase();
            target.must(&Ask::new("POST", format!("{RBAC}/{place}{lower}roles"), &role)).await?;
            target.must(&Ask::new("POST", format!("{RBAC}/{place}{lower}rolebindings"), &binding)).await?;
        }
        let issued = target.must(&Ask::new("POST", format!("{path}/{name}/token"), &json!({"spec": {}}))).await?;
        tokens.insert(name, issued["status"]["token"].as_str().context("a token")?.to_owned());
    }
    // The last one that was bound is known: so are the others.
    let star = Who::Token(tokens["star-token"].clone());
    for (who, verb, resource, sub, name) in [
        (&star, "create", "serviceaccounts", "*", ""),
        (&Who::Token(tokens["strong"].clone()), "list", "secrets", "", ""),
        (&Who::Token(tokens["as-extra"].clone()), "impersonate", "users", "", "guest"),
        (&Who::Token(tokens["no-token"].clone()), "create", "serviceaccounts", "", ""),
    ] {
        let attributes =
            json!({"verb": verb, "resource": resource, "subresource": sub, "name": name, "namespace": NAMESPACE});
        let review = Ask::new(
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            &json!({"spec": {"resourceAttributes": attributes}}),
        );
        target.until(who, &review, |answer| answer.body["status"]["allowed"] == true).await?;
    }
    Ok(move |name: &str| tokens.get(name).map_or(Who::Root, |token| Who::Token(token.clone())))
}

/// An answer without what must differ.
fn comparable(mut answer: Answer) -> Answer {
    if answer.status < 300 {
        // The kinds of answers are compared elsewhere; here it counts that they were given, and as whom.
        answer.body = answer.body["status"]["userInfo"]["username"].take();
    }
    answer
}
