//! The manager under exactly the rights that `rolewright manifests rbac` prints: nothing is refused, and nothing is there
//! without need: whichever right is taken away, something is refused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_controller::lease;
use rolewright_controller::run::{Process, run};
use rolewright_core::Rule;
use rolewright_core::subject::User;
use rolewright_plan::rights::{Identity, Rights};
use rolewright_testkit::grants;
use rolewright_testkit::requests::Requests;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::place::{Place, modules, quick, rbac, with};

/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the manager through a day's work with all of its rights, and then without each of them.
pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    let identity = Identity::default();
    place.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": identity.namespace}})).await?;
    place.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rights"}})).await?;
    let modules = modules();
    let whole = Rights::of(modules.iter().map(|module| &**module), &identity);
    let refused = work(place, &identity, &whole).await?;
    ensure!(refused.is_empty(), "refused: {refused:?}");
    for lacking in without_one(&whole) {
        let refused = work(place, &identity, &lacking.rights).await?;
        ensure!(!refused.is_empty(), "nobody needs {}", lacking.what);
    }
    Ok(())
}

struct Lacking {
    what: String,
    rights: Rights,
}

/// The same rights without one verb on one resource, for each of them.
fn without_one(whole: &Rights) -> Vec<Lacking> {
    let mut all = Vec::new();
    for own in [false, true] {
        let rules = if own { &whole.own_namespace } else { &whole.cluster };
        let single = |rule: &Rule| {
            let resources = rule.resources.iter().flat_map(|resource| {
                rule.verbs.iter().map(|verb| Rule {
                    resources: [resource.clone()].into(),
                    verbs: [verb.clone()].into(),
                    ..rule.clone()
                })
            });
            resources.collect::<Vec<_>>()
        };
        let atoms: Vec<Rule> = rules.iter().flat_map(single).collect();
        for (at, gone) in atoms.iter().enumerate() {
            let rest: Vec<Rule> =
                atoms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, rule)| rule.clone()).collect();
            let mut rights = whole.clone();
            *(if own { &mut rights.own_namespace } else { &mut rights.cluster }) = rest;
            all.push(Lacking { what: gone.to_string(), rights });
        }
    }
    all
}

/// A day's work under these rights; returns what was refused. It ends early when one is.
async fn work(place: &Place, identity: &Identity, rights: &Rights) -> Result<Vec<String>> {
    for manifest in rights.manifests(identity) {
        place.apply(&manifest).await?;
    }
    settled(place, identity, rights).await?;
    let requests = Requests::default();
    let client = place.client_as(&User::service_account(&identity.namespace, &identity.name), &requests)?;
    let process = Process {
        manager: quick(),
        lease: Some(lease::Settings::new(&identity.namespace, &identity.lease, "tests")),
        listen: None,
        instance: "tests".to_owned(),
        grace: Duration::from_secs(5),
    };
    let ended = Arc::new(Notify::new());
    let signal = ended.clone();
    let running = tokio::spawn(run(client, modules(), process, move || {
        let signal = signal.clone();
        async move { signal.notified().await }
    }));
    let done = tokio::select! {
        done = day(place) => done,
        () = requests.first_refusal() => Ok(()),
    };
    ended.notify_one();
    timeout(PATIENCE, running).await.context("the manager does not end")???;
    tidy_up(place).await?;
    done?;
    Ok(requests.refused())
}

/// Everything that a manager has to do: grant, widen, bind elsewhere, revoke, aggregate, complain.
async fn day(place: &Place) -> Result<()> {
    let rules = |verbs: &[&str]| json!([{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]);
    let users = json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ann"}]);
    let grant = |spec: Value| grants::grant("rights", &with(json!({"subjects": users}), spec));
    let ready = |status: &'static str| {
        move |grant: &Value| {
            let conditions = grant["status"]["conditions"].as_array();
            conditions.is_some_and(|all| {
                all.iter()
                    .any(|one| one["status"] == status && one["observedGeneration"] == grant["metadata"]["generation"])
            })
        }
    };
    let wish = grant(json!({"rules": rules(&["get"])}));
    place.apply(&wish).await?;
    place.until("a grant", &wish, ready("True")).await?;
    place.apply(&grant(json!({"rules": rules(&["get", "list"]), "namespaces": ["rights"]}))).await?;
    place.until("a grant in a namespace", &wish, ready("True")).await?;
    place.until_gone(&rbac("ClusterRoleBinding", "grant-rights")).await?;
    place.apply(&grant(json!({"role": "view"}))).await?;
    place.until("a grant of a role", &wish, ready("True")).await?;
    place.until_gone(&rbac("ClusterRole", "grant-rights")).await?;
    place.until_gone(&rbac("RoleBinding", "rights/grant-rights")).await?;
    let gathering = with(
        rbac("ClusterRole", "rights-gathering"),
        json!({"aggregationRule": {"clusterRoleSelectors": [
            {"matchLabels": {"rights": "true"}},
        ]}}),
    );
    place.apply(&gathering).await?;
    let leaf = with(
        rbac("ClusterRole", "rights-leaf"),
        json!({"metadata": {"labels": {"rights": "true"}}, "rules": rules(&["get"])}),
    );
    place.apply(&leaf).await?;
    place.until("a union", &gathering, |role| role["rules"] == rules(&["get"])).await?;
    // Somebody else's object of the name that is needed: that is an event.
    place.apply(&with(rbac("ClusterRole", "grant-rights-taken"), json!({"rules": rules(&["get"])}))).await?;
    let taken = grants::grant("rights-taken", &json!({"rules": rules(&["list"]), "subjects": users}));
    place.apply(&taken).await?;
    place.until("a refusal", &taken, ready("False")).await?;
    let start = Instant::now();
    while place.events("NameTaken").await? == 0 {
        ensure!(start.elapsed() < PATIENCE, "nobody tells that a name is taken");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Takes away what a day leaves, for the next one to begin anew.
async fn tidy_up(place: &Place) -> Result<()> {
    let objects = [
        grants::grant("rights", &json!({})),
        grants::grant("rights-taken", &json!({})),
        rbac("ClusterRole", "rights-gathering"),
        rbac("ClusterRole", "rights-leaf"),
        rbac("ClusterRole", "grant-rights-taken"),
        rbac("ClusterRole", "grant-rights"),
        rbac("ClusterRoleBinding", "grant-rights"),
        rbac("ClusterRoleBinding", "grant-rights-taken"),
        rbac("RoleBinding", "rights/grant-rights"),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"namespace": "rolewright-system", "name": "rolewright"}}),
    ];
    for object in &objects {
        if place.get(object).await?.is_some() {
            // The garbage collector may be faster.
            let _ = place.delete(object).await;
            place.until_gone(object).await?;
        }
    }
    place.forget_events().await
}

/// Waits until the authorizer has seen the rights: it follows a moment later.
async fn settled(place: &Place, identity: &Identity, rights: &Rights) -> Result<()> {
    let user = format!("system:serviceaccount:{}:{}", identity.namespace, identity.name);
    let start = Instant::now();
    loop {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "groups": ["system:serviceaccounts", "system:authenticated"], "resourceAttributes": {}},
        });
        let mut same = true;
        for (namespace, rules) in [("", &rights.cluster), (identity.namespace.as_str(), &rights.own_namespace)] {
            let whole = Rights::of(modules().iter().map(|module| &**module), identity);
            let all = if namespace.is_empty() { &whole.cluster } else { &whole.own_namespace };
            for rule in all {
                for (resource, verb) in
                    rule.resources.iter().flat_map(|one| rule.verbs.iter().map(move |verb| (one, verb)))
                {
                    let (plural, sub) = resource.split_once('/').unwrap_or((resource, ""));
                    let name = rule.resource_names.first().map_or("", |name| name.as_str());
                    let asked = with(
                        review.clone(),
                        json!({"spec": {"resourceAttributes": {
                            "verb": verb, "group": rule.api_groups.first(), "resource": plural, "subresource": sub,
                            "namespace": namespace, "name": name,
                        }}}),
                    );
                    let granted =
                        rules.iter().any(|rule| rule.resources.contains(resource) && rule.verbs.contains(verb));
                    same &= place.review(&asked).await? == granted;
                }
            }
        }
        if same {
            return Ok(());
        }
        ensure!(start.elapsed() < PATIENCE, "the authorizer does not follow");
        sleep(Duration::from_millis(20)).await;
    }
}
