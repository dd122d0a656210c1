//! What all modules share, shown with grants.

use anyhow::{Context, Result, ensure};
use rolewright_testkit::grants;
use rolewright_testkit::manifest::counted;
use serde_json::{Value, json};

use crate::place::{Place, lag, manage, rbac, with};

fn rules(verbs: &[&str]) -> Value {
    json!([{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}])
}

fn users(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name})).collect()
}

fn grant(name: &str, verbs: &[&str], to: &[&str]) -> Value {
    grants::grant(name, &json!({"rules": rules(verbs), "subjects": users(to)}))
}

fn role(name: &str) -> Value {
    rbac("ClusterRole", &format!("grant-{name}"))
}

fn binding(name: &str) -> Value {
    rbac("ClusterRoleBinding", &format!("grant-{name}"))
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

fn ready(object: &Value) -> Option<&Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == "Ready")
}

/// The condition says this of the present generation.
fn is(object: &Value, status: &str, reason: &str) -> bool {
    let generation = &object["metadata"]["generation"];
    ready(object).is_some_and(|ready| {
        ready["status"] == status && ready["reason"] == reason && ready["observedGeneration"] == *generation
    })
}

fn says(object: &Value, verbs: &[&str]) -> bool {
    object["rules"] == rules(verbs)
}

/// A module waits for its kind and starts when it comes.
pub(crate) async fn served_later(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    place.apply(&grants::definition()).await?;
    let ann = grant("later", &["get"], &["ann"]);
    // The definition needs a moment until its kind is served.
    while place.apply(&ann).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    place.until("the role", &role("later"), |role| says(role, &["get"])).await?;
    place.delete(&ann).await?;
    place.until_gone(&role("later")).await?;
    manager.end().await
}

/// A grant gets what it asks for, and says so.
pub(crate) async fn grants(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let ann = grant("made", &["get", "list"], &["ann"]);
    place.apply(&ann).await?;
    let stored = place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    let role = place.get(&role("made")).await?.context("the role is there when the grant is ready")?;
    ensure!(says(&role, &["get", "list"]), "{role:#}");
    ensure!(role["metadata"]["ownerReferences"][0]["uid"] == stored["metadata"]["uid"], "{role:#}");
    let binding = place.get(&binding("made")).await?.context("so is the binding")?;
    ensure!(binding["subjects"] == users(&["ann"]) && binding["roleRef"]["name"] == "grant-made", "{binding:#}");
    let wider = grant("made", &["get", "watch"], &["ann", "bob"]);
    place.apply(&wider).await?;
    place.until("ready again", &ann, |grant| is(grant, "True", "Applied")).await?;
    let role = place.get(&self::role("made")).await?.context("the role stays")?;
    ensure!(says(&role, &["get", "watch"]), "{role:#}");
    manager.end().await
}

/// Whoever changes what is ours sees it come back.
pub(crate) async fn drift(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let ann = grant("drift", &["get"], &["ann"]);
    place.apply(&ann).await?;
    place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    let (role, binding) = (role("drift"), binding("drift"));
    for object in [&role, &binding] {
        place.delete(object).await?;
        place.until("back", object, |_| true).await?;
    }
    place.merge(&role, &json!({"rules": rules(&["*"])})).await?;
    place.until("its own rules", &role, |role| says(role, &["get"])).await?;
    place.merge(&role, &json!({"metadata": {"labels": {"test.rolewright.io/grant": "other"}}})).await?;
    place.until("its label", &role, |role| role["metadata"]["labels"]["test.rolewright.io/grant"] == "drift").await?;
    place.merge(&binding, &json!({"subjects": users(&["ann", "eve"])})).await?;
    place.until("its subjects", &binding, |binding| binding["subjects"] == users(&["ann"])).await?;
    let metrics = manager.metrics.clone();
    manager.end().await?;
    println!("  drift: {}", lag(&metrics, "grants"));
    let text = metrics.encode();
    let repairs = counted(&text, "rolewright_apply_drift_repairs_total", "");
    ensure!(repairs >= 5, "two that were deleted, rules, a label, subjects: {text}");
    let plans = counted(&text, "rolewright_engine_reconciles_total", "");
    ensure!(plans >= 6, "the grant itself and each repair: {text}");
    Ok(())
}

/// What others put on our objects stays, and objects of others are not touched.
pub(crate) async fn others(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let taken = with(role("taken"), json!({"rules": rules(&["delete"])}));
    let before = place.apply(&taken).await?;
    let ann = grant("taken", &["get"], &["ann"]);
    place.apply(&ann).await?;
    place.until("refused", &ann, |grant| is(grant, "False", "NameTaken")).await?;
    let after = place.get(&taken).await?.context("it is not ours to delete")?;
    ensure!(after == before, "{after:#}");
    place.delete(&taken).await?;
    place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;

    let role = role("taken");
    place.merge(&role, &json!({"metadata": {"labels": {"theirs": "yes"}, "annotations": {"theirs": "yes"}}})).await?;
    place.apply(&grant("taken", &["get", "list"], &["ann"])).await?;
    let role = place.until("wider", &role, |role| says(role, &["get", "list"])).await?;
    let metadata = &role["metadata"];
    ensure!(metadata["labels"]["theirs"] == "yes" && metadata["annotations"]["theirs"] == "yes", "{role:#}");
    manager.end().await
}

/// What is a grant's is told by the grant's uid, not by names or labels; who comes again under the same name is another.
pub(crate) async fn uid(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    // Somebody of the grant's name who owns a role that looks like the grant's in everything else.
    let somebody = place.apply(&namespace("uid")).await?;
    let owner = |of: &Value| {
        json!([{"apiVersion": of["apiVersion"], "kind": of["kind"], "name": "uid", "uid": of["metadata"]["uid"],
            "controller": true}])
    };
    let metadata = json!({"labels": {"test.rolewright.io/grant": "uid"}, "ownerReferences": owner(&somebody)});
    let taken = with(role("uid"), json!({"metadata": metadata, "rules": rules(&["delete"])}));
    let before = place.apply(&taken).await?;
    let ann = grant("uid", &["get"], &["ann"]);
    place.apply(&ann).await?;
    place.until("refused", &ann, |grant| is(grant, "False", "NameTaken")).await?;
    let after = place.get(&taken).await?.context("it is not ours to delete")?;
    ensure!(after == before, "{after:#}");
    place.delete(&taken).await?;
    let first = place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;

    place.delete(&ann).await?;
    place.until_gone(&ann).await?;
    let second = place.apply(&ann).await?;
    ensure!(second["metadata"]["uid"] != first["metadata"]["uid"], "{second:#}");
    for object in [role("uid"), binding("uid")] {
        let is_its = |object: &Value| object["metadata"]["ownerReferences"][0]["uid"] == second["metadata"]["uid"];
        place.until("the owner is the second grant", &object, is_its).await?;
    }
    place.until("ready again", &ann, |grant| is(grant, "True", "Applied")).await?;
    manager.end().await
}

/// A binding to another role is another binding.
pub(crate) async fn replaced(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let ann = grant("replaced", &["get"], &["ann"]);
    place.apply(&ann).await?;
    let before = place.until("the binding", &binding("replaced"), |_| true).await?;
    let spec = json!({"role": "view", "subjects": users(&["ann"])});
    place.merge(&ann, &json!({"spec": with(spec, json!({"rules": null}))})).await?;
    let after = place.until("the new role", &binding("replaced"), |found| found["roleRef"]["name"] == "view").await?;
    ensure!(before["metadata"]["uid"] != after["metadata"]["uid"], "a roleRef cannot change");
    place.until_gone(&role("replaced")).await?;
    manager.end().await
}

/// What a grant no longer asks for goes; what others made does not.
pub(crate) async fn pruned(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    for name in ["pruned-a", "pruned-b"] {
        place.apply(&namespace(name)).await?;
    }
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"});
    let theirs = with(
        rbac("RoleBinding", "pruned-b/theirs"),
        json!({
            "metadata": {"labels": {"test.rolewright.io/grant": "pruned"}},
            "roleRef": role_ref,
            "subjects": users(&["bob"]),
        }),
    );
    place.apply(&theirs).await?;
    let ann = grant("pruned", &["get"], &["ann"]);
    let both = with(ann.clone(), json!({"spec": {"namespaces": ["pruned-a", "pruned-b"]}}));
    place.apply(&both).await?;
    place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    let (a, b) = (rbac("RoleBinding", "pruned-a/grant-pruned"), rbac("RoleBinding", "pruned-b/grant-pruned"));
    ensure!(place.get(&a).await?.is_some() && place.get(&b).await?.is_some());
    place.apply(&with(ann, json!({"spec": {"namespaces": ["pruned-a"]}}))).await?;
    place.until_gone(&b).await?;
    ensure!(place.get(&a).await?.is_some() && place.get(&theirs).await?.is_some(), "only what is ours goes");
    manager.end().await
}

/// A pause on a grant, and on what it made, stops the writes and is seen.
pub(crate) async fn paused(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let ann = grant("paused", &["get"], &["ann"]);
    place.apply(&ann).await?;
    place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    let pause = |value: Value| json!({"metadata": {"annotations": {"rolewright.io/paused": value}}});
    for (object, status) in [(&ann, "Unknown"), (&role("paused"), "Unknown")] {
        place.merge(object, &pause(json!("true"))).await?;
        // Each kind has a watch of its own: a pause was seen for certain when what came by the same watch after it was.
        let after = grant("after", &["get"], &["ann"]);
        place.apply(&after).await?;
        place.until("ready", &after, |grant| is(grant, "True", "Applied")).await?;
        place.delete(&after).await?;
        place.until_gone(&role("after")).await?;
        place.merge(&role("paused"), &json!({"rules": rules(&["list"])})).await?;
        let found = place.until("paused", &ann, |grant| is(grant, status, "Paused")).await?;
        let message = ready(&found).map(|ready| ready["message"].to_string()).unwrap_or_default();
        ensure!(message.contains("ClusterRole/grant-paused: ") == (object["kind"] == "ClusterRole"), "{message}");
        let role = place.get(&role("paused")).await?.context("it stays")?;
        ensure!(says(&role, &["list"]), "{role:#}");
        place.merge(object, &pause(Value::Null)).await?;
        place.until("its own rules", &self::role("paused"), |role| says(role, &["get"])).await?;
        place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    }
    manager.end().await
}

/// A grant that cannot be understood keeps what it gave, says so, and stops nobody else.
pub(crate) async fn invalid(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let ann = grant("invalid", &["get"], &["ann"]);
    place.apply(&ann).await?;
    place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    place.merge(&ann, &json!({"spec": {"subjects": "ann"}})).await?;
    let found = place.until("refused", &ann, |grant| is(grant, "False", "Invalid")).await?;
    let message = ready(&found).map(|ready| ready["message"].to_string()).unwrap_or_default();
    ensure!(message.contains("`spec.subjects`: invalid type: string"), "{message}");
    ensure!(place.get(&role("invalid")).await?.is_some(), "what was granted stays");
    let bob = grant("valid", &["get"], &["bob"]);
    place.apply(&bob).await?;
    place.until("ready", &bob, |grant| is(grant, "True", "Applied")).await?;
    place.delete(&ann).await?;
    place.until_gone(&role("invalid")).await?;
    manager.end().await
}

/// A manager that starts on what another one left has nothing to write.
pub(crate) async fn restart(place: &Place) -> Result<()> {
    let ann = grant("restart", &["get"], &["ann"]);
    let objects = [ann.clone(), role("restart"), binding("restart"), rbac("ClusterRole", "admin")];
    let states = || async {
        let mut states = Vec::new();
        for object in &objects {
            states.push(place.get(object).await?);
        }
        anyhow::Ok(states)
    };
    let manager = manage(place)?;
    place.apply(&ann).await?;
    place.until("ready", &ann, |grant| is(grant, "True", "Applied")).await?;
    manager.end().await?;
    let before = states().await?;
    let manager = manage(place)?;
    let bob = grant("after-restart", &["get"], &["bob"]);
    place.apply(&bob).await?;
    place.until("ready", &bob, |grant| is(grant, "True", "Applied")).await?;
    manager.end().await?;
    ensure!(before == states().await?, "a restart changes nothing");
    Ok(())
}
