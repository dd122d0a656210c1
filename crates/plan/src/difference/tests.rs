use rolewright_core::{RoleRef, Rule, Subject};
use serde_json::{Value, json};

use super::*;
use crate::intent::Shape;
use crate::render;
use crate::snapshot::Event;
use crate::vocabulary::manager;

const OWNER: &str = "owner-uid";

fn owner() -> crate::Owner {
    crate::Owner {
        api_version: "example.com/v1".into(),
        kind: "Thing".into(),
        name: "thing".into(),
        uid: OWNER.into(),
        controller: true,
    }
}

fn labels(pairs: &[(&str, &str)]) -> rolewright_core::Labels {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

fn rule(verbs: &[&str]) -> Rule {
    Rule { verbs: verbs.iter().map(|verb| (*verb).into()).collect(), ..Rule::resources([""], ["pods"], []) }
}

fn role(verbs: &[&str], labelled: &[(&str, &str)]) -> Shape {
    let content = Content::rules([rule(verbs)]);
    Shape { labels: labels(labelled), owners: vec![owner()], content, ..Shape::default() }
}

fn binding(to: &str, users: &[&str]) -> Shape {
    let subjects: Vec<Subject> = users.iter().map(|user| Subject::user(*user)).collect();
    Shape { owners: vec![owner()], content: Content::binding(RoleRef::cluster_role(to), subjects), ..Shape::default() }
}

/// An object as the server has it after `shape` was applied by us.
fn stored(object: &ObjectRef, shape: &Shape) -> Value {
    let mut out = json!(render::object(object, "v1", None, shape));
    let keys = |labels: &rolewright_core::Labels| -> Value {
        labels.keys().map(|key| (format!("f:{key}"), json!({}))).collect::<serde_json::Map<_, _>>().into()
    };
    out["metadata"]["uid"] = json!("uid");
    out["metadata"]["resourceVersion"] = json!("1");
    out["metadata"]["managedFields"] = json!([{"manager": manager::ROLEWRIGHT, "operation": "Apply", "fieldsV1": {
        "f:metadata": {"f:labels": keys(&shape.labels), "f:ownerReferences": {format!("k:{{\"uid\":\"{OWNER}\"}}"): {}}},
    }}]);
    out
}

/// The plan for one wanted object, in words: what phase does what.
fn plan(live: Option<Value>, wanted: Wanted) -> Vec<String> {
    let mut snapshot = Snapshot::default();
    let kind = wanted.object.kind;
    if let Some(live) = live {
        snapshot.take(Event::Set(kind, Live::read(kind, &live).unwrap()));
    }
    let plan = difference(&snapshot, Intent { wanted: vec![wanted], ..Intent::default() }, true);
    let told = plan.diagnostics.iter().map(|diagnostic| diagnostic.code.reason().to_owned());
    plan.ops.iter().map(|op| format!("{:?} {}", op.phase, said(&op.write))).chain(told).collect()
}

fn said(write: &Write) -> String {
    let (Write::Create(shape) | Write::Update { shape, .. } | Write::Replace { shape, .. }) = write else {
        return write.verb().to_owned();
    };
    let content = match &shape.content {
        Content::Bare => String::new(),
        Content::Role { rules, .. } => {
            let verbs = rules.iter().flatten().map(|rule| rule.verbs.join(","));
            verbs.collect::<Vec<_>>().join(";")
        }
        Content::Binding { subjects, .. } => {
            subjects.iter().map(|subject| subject.name.to_string()).collect::<Vec<_>>().join(",")
        }
    };
    let labels: Vec<String> = shape.labels.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    format!("{} {content}{}", write.verb(), labels.concat())
}

fn cluster_role() -> ObjectRef {
    ObjectRef::cluster(&CLUSTER_ROLE, "r")
}

fn wanted(object: &ObjectRef, shape: Shape) -> Wanted {
    let claim = Claim::Controlled(OWNER.into());
    Wanted { object: object.clone(), claim, shape, because: "of a test".to_owned() }
}

#[test]
fn roles_grow_first_and_shrink_last() {
    let object = cluster_role();
    let cases: &[(&str, Option<Shape>, Shape, &[&str])] = &[
        ("new", None, role(&["get"], &[]), &["Grant create get"]),
        ("same", Some(role(&["get"], &[("a", "1")])), role(&["get"], &[("a", "1")]), &[]),
        ("wider", Some(role(&["get"], &[])), role(&["get", "list"], &[]), &["Grant update get,list"]),
        ("narrower", Some(role(&["get", "list"], &[])), role(&["get"], &[]), &["Narrow update get"]),
        (
            "both",
            Some(role(&["get", "list"], &[])),
            role(&["get", "watch"], &[]),
            &["Grant update get,list;get,watch", "Narrow update get,watch"],
        ),
        ("other words", Some(role(&["get", "list"], &[])), role(&["list", "get"], &[]), &["Grant update list,get"]),
        ("label added", Some(role(&["get"], &[])), role(&["get"], &[("a", "1")]), &["Grant update get a=1"]),
        ("label gone", Some(role(&["get"], &[("a", "1")])), role(&["get"], &[]), &["Narrow update get"]),
        (
            "label changed",
            Some(role(&["get"], &[("a", "1")])),
            role(&["get"], &[("a", "2")]),
            &["Grant update get a=2"],
        ),
        (
            "label moved",
            Some(role(&["get"], &[("a", "1")])),
            role(&["get"], &[("b", "1")]),
            &["Grant update get a=1 b=1", "Narrow update get b=1"],
        ),
    ];
    for (name, before, after, expected) in cases {
        let live = before.as_ref().map(|shape| stored(&object, shape));
        assert_eq!(plan(live, wanted(&object, after.clone())), *expected, "{name}");
    }
}

#[test]
fn bindings_reach_more_first_and_fewer_last_and_their_role_is_for_ever() {
    let object = ObjectRef::namespaced(&ROLE_BINDING, "shop", "b");
    let cases: &[(&str, Option<Shape>, Shape, &[&str])] = &[
        ("new", None, binding("view", &["ann"]), &["Bind create ann"]),
        ("same", Some(binding("view", &["ann"])), binding("view", &["ann"]), &[]),
        ("more", Some(binding("view", &["ann"])), binding("view", &["ann", "bob"]), &["Bind update ann,bob"]),
        ("fewer", Some(binding("view", &["ann", "bob"])), binding("view", &["bob"]), &["Unbind update bob"]),
        (
            "others",
            Some(binding("view", &["ann"])),
            binding("view", &["bob"]),
            &["Bind update ann,bob", "Unbind update bob"],
        ),
        ("another role", Some(binding("view", &["ann"])), binding("edit", &["ann"]), &["Bind replace ann"]),
    ];
    for (name, before, after, expected) in cases {
        let live = before.as_ref().map(|shape| stored(&object, shape));
        assert_eq!(plan(live, wanted(&object, after.clone())), *expected, "{name}");
    }
}

#[test]
fn only_what_is_ours_is_touched() {
    let object = cluster_role();
    let shape = role(&["get"], &[("a", "1")]);
    let with = |edit: fn(&mut Value)| {
        let mut live = stored(&object, &role(&["list"], &[("a", "1")]));
        edit(&mut live);
        live
    };
    let update = ["Grant update list;get a=1", "Narrow update get a=1"];
    let cases: &[(&str, Value, &[&str])] = &[
        ("ours", with(|_| {}), &update),
        (
            "controlled by another",
            with(|live| live["metadata"]["ownerReferences"][0]["uid"] = json!("x")),
            &["NameTaken"],
        ),
        (
            "owned and no longer controlled",
            with(|live| live["metadata"]["ownerReferences"][0]["controller"] = json!(false)),
            &update,
        ),
        ("its owner was taken away", with(|live| live["metadata"]["ownerReferences"] = json!(null)), &update),
        (
            "nobody's",
            with(|live| {
                live["metadata"]["ownerReferences"] = json!(null);
                live["metadata"]["managedFields"] = json!(null);
            }),
            &["NameTaken"],
        ),
        (
            "deleted, and made anew by whoever aggregates",
            with(|live| {
                live["metadata"]["ownerReferences"] = json!(null);
                live["metadata"]["labels"] = json!(null);
                live["metadata"]["managedFields"] = json!([{"manager": manager::AGGREGATION, "operation": "Apply"}]);
            }),
            &update,
        ),
        ("taken over from another manager", with(|live| live["metadata"]["managedFields"] = json!(null)), &update),
        ("on its way out", with(|live| live["metadata"]["deletionTimestamp"] = json!("2026-11-16T00:00:00Z")), &[]),
        ("paused", with(|live| live["metadata"]["annotations"] = json!({"rolewright.io/paused": "true"})), &["Paused"]),
        (
            "not paused",
            with(|live| live["metadata"]["annotations"] = json!({"rolewright.io/paused": "false"})),
            &update,
        ),
    ];
    for (name, live, expected) in cases {
        assert_eq!(plan(Some(live.clone()), wanted(&object, shape.clone())), *expected, "{name}");
    }
}

#[test]
fn a_role_with_rules_of_its_own_gathers_for_nobody() {
    let object = cluster_role();
    let shape = role(&["get"], &[]);
    let mut live = stored(&object, &shape);
    live["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"eve": "true"}}]});
    let first = ["Ground ungather", "Grant update get"];
    assert_eq!(plan(Some(live.clone()), wanted(&object, shape.clone())), first, "somebody else made it gather");
    live["metadata"]["managedFields"][0]["fieldsV1"]["f:aggregationRule"] = json!({});
    assert_eq!(
        plan(Some(live), wanted(&object, shape)),
        ["Grant update get"],
        "what we said goes when we leave it out"
    );
}

#[test]
fn labels_of_others_make_no_difference() {
    let object = cluster_role();
    let shape = role(&["get"], &[("a", "1")]);
    let mut live = stored(&object, &shape);
    live["metadata"]["labels"]["theirs"] = json!("x");
    live["metadata"]["annotations"] = json!({"theirs": "x"});
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "c"});
    live["metadata"]["ownerReferences"].as_array_mut().unwrap().insert(0, other);
    assert_eq!(plan(Some(live), wanted(&object, shape)), [""; 0]);
}

#[test]
fn a_label_claims_only_what_we_applied() {
    let object = cluster_role();
    let shape = role(&["get"], &[("app", "us")]);
    let claimed = |claim: (&str, &str)| Wanted {
        claim: Claim::Labelled(claim.0.into(), claim.1.into()),
        ..wanted(&object, role(&["list"], &[("app", "us")]))
    };
    let live = stored(&object, &shape);
    assert_eq!(plan(Some(live.clone()), claimed(("app", "us"))).len(), 2, "ours: first both, then only what is wanted");
    assert_eq!(plan(Some(live.clone()), claimed(("app", "them"))), ["NameTaken"]);
    let mut unlabelled = live.clone();
    unlabelled["metadata"]["labels"] = json!({});
    assert_eq!(
        plan(Some(unlabelled), claimed(("app", "us"))).len(),
        2,
        "who takes a label away does not take the object"
    );
    let mut copied = live;
    copied["metadata"]["managedFields"][0]["manager"] = json!("kubectl");
    assert_eq!(plan(Some(copied), claimed(("app", "us"))), ["NameTaken"], "a label can be copied by anyone");
}

#[test]
fn what_nobody_wants_goes_bindings_first() {
    let mut snapshot = Snapshot::default();
    let objects = [
        (ObjectRef::cluster(&CLUSTER_ROLE, "a"), role(&["get"], &[])),
        (ObjectRef::namespaced(&ROLE_BINDING, "shop", "b"), binding("a", &["ann"])),
        (ObjectRef::cluster(&CLUSTER_ROLE, "keep"), role(&["get"], &[])),
    ];
    for (object, shape) in &objects {
        snapshot.take(Event::Set(object.kind, Live::read(object.kind, &stored(object, shape)).unwrap()));
    }
    let intent = Intent {
        wanted: vec![wanted(&objects[2].0, objects[2].1.clone())],
        held: objects.iter().map(|(object, _)| object.clone()).collect(),
        ..Intent::default()
    };
    let plan = difference(&snapshot, intent, true);
    let ops: Vec<String> = plan.ops.iter().map(|op| format!("{:?} {op}", op.phase)).collect();
    assert_eq!(
        ops,
        ["Unbind delete RoleBinding/shop/b: nobody needs it", "Drop delete ClusterRole/a: nobody needs it",]
    );
}
