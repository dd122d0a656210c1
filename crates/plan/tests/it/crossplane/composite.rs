//! What follows from a definition (spec 1.1 and 1.9).

use rolewright_plan::crossplane::{DEFINITION, SERVED_RESOURCE, Settings};
use rolewright_plan::rbac::CLUSTER_ROLE;
use rolewright_plan::{Write, render};
use serde_json::json;

use super::cluster::{Cluster, words};
use super::world::{annotated, claimed, crd, deleting, labelled, owner, role, xrd};

const ROLES: &str = "crossplane:composite:";

type Edit = fn(&mut rolewright_plan::Live);

fn cluster(objects: impl IntoIterator<Item = serde_json::Value>) -> Cluster {
    Cluster::new(Settings::default(), objects)
}

#[test]
fn a_definition_without_claims() {
    cluster([xrd("xs.example.org")]).expect(
        ROLES,
        "role crossplane:composite:xs.example.org:aggregate-to-browse
           labels aggregate-to-browse
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           V example.org xs,xs/status
         role crossplane:composite:xs.example.org:aggregate-to-crossplane
           labels aggregate-to-crossplane
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           * example.org xs,xs/status
           update example.org xs/finalizers
         role crossplane:composite:xs.example.org:aggregate-to-edit
           labels aggregate-to-admin aggregate-to-edit aggregate-to-ns-edit xrd=xs.example.org
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           * example.org xs,xs/status
         role crossplane:composite:xs.example.org:aggregate-to-view
           labels aggregate-to-ns-view aggregate-to-view xrd=xs.example.org
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           V example.org xs,xs/status",
    );
}

#[test]
fn a_definition_with_claims_and_who_browses_sees_none_of_them() {
    let mut cluster = cluster([claimed("xs.example.org", "cs")]);
    let claimed_page = "role crossplane:composite:xs.example.org:aggregate-to-browse
           labels aggregate-to-browse
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           V example.org xs,xs/status
         role crossplane:composite:xs.example.org:aggregate-to-crossplane
           labels aggregate-to-crossplane
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           * example.org xs,xs/status
           update example.org xs/finalizers
           * example.org cs,cs/status
           update example.org cs/finalizers
         role crossplane:composite:xs.example.org:aggregate-to-edit
           labels aggregate-to-admin aggregate-to-edit aggregate-to-ns-edit xrd=xs.example.org
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           * example.org xs,xs/status
           * example.org cs,cs/status
         role crossplane:composite:xs.example.org:aggregate-to-view
           labels aggregate-to-ns-view aggregate-to-view xrd=xs.example.org
           controlled by apiextensions.crossplane.io/v1 CompositeResourceDefinition xs.example.org
           V example.org xs,xs/status
           V example.org cs,cs/status";
    cluster.expect(ROLES, claimed_page);
    // Claims that are withdrawn go from every role that named them, and come back.
    cluster.set(&xrd("xs.example.org"));
    assert_eq!(cluster.settle().len(), 3);
    assert!(!cluster.page(ROLES).contains("cs"));
    cluster.set(&claimed("xs.example.org", "cs"));
    cluster.settle();
    cluster.expect(ROLES, claimed_page);
}

#[test]
fn versions_and_scopes_of_definitions_make_no_difference() {
    let plain = cluster([xrd("xs.example.org")]).page(ROLES);
    for scope in ["Namespaced", "Cluster", "LegacyCluster"] {
        let mut v2 = xrd("xs.example.org");
        v2["apiVersion"] = json!("apiextensions.crossplane.io/v2");
        v2["spec"]["scope"] = json!(scope);
        v2["spec"]["versions"] = json!([{ "name": "v1" }, { "name": "v2" }]);
        assert_eq!(cluster([v2]).page(ROLES), plain, "{scope}");
    }
}

#[test]
fn what_is_sent_is_exactly_what_is_meant() {
    let mut cluster = Cluster::unsettled(Settings::default(), [xrd("xs.example.org")]);
    let written = cluster.settle();
    let name = "crossplane:composite:xs.example.org:aggregate-to-view";
    let op = written.iter().find(|op| op.object.name == name).unwrap();
    let Write::Create(shape) = &op.write else { panic!("{op}") };
    assert_eq!(
        json!(render::object(&op.object, "v1", None, shape)),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {
                "name": name,
                "labels": {
                    "app.kubernetes.io/managed-by": "rolewright",
                    "rbac.crossplane.io/aggregate-to-ns-view": "true",
                    "rbac.crossplane.io/aggregate-to-view": "true",
                    "rbac.crossplane.io/xrd": "xs.example.org",
                },
                "ownerReferences": [{
                    "apiVersion": "apiextensions.crossplane.io/v1",
                    "kind": "CompositeResourceDefinition",
                    "name": "xs.example.org",
                    "uid": "crd/xs.example.org",
                    "controller": true,
                    "blockOwnerDeletion": true,
                }],
            },
            "rules": [{
                "apiGroups": ["example.org"],
                "resources": ["xs", "xs/status"],
                "verbs": ["get", "list", "watch"],
            }],
        })
    );
}

#[test]
fn a_name_that_no_label_can_hold_is_shortened_only_there() {
    let name = format!("xs.{}.example.org", "x".repeat(70));
    let page = cluster([xrd(&name)]).page(&format!("{ROLES}{name}:aggregate-to-edit"));
    let label = page.lines().nth(1).unwrap().rsplit_once("xrd=").unwrap().1;
    assert_eq!(label.len(), 63);
    assert!(
        label.starts_with("xs.xxxxxx")
            && label.contains('_')
            && page.contains(&format!("CompositeResourceDefinition {name}"))
    );
}

#[test]
fn a_definition_on_its_way_out_keeps_its_roles_until_it_is_gone() {
    let mut cluster = cluster([xrd("xs.example.org")]);
    cluster.set(&deleting(claimed("xs.example.org", "cs")));
    assert!(cluster.settle().is_empty());
    cluster.remove(&DEFINITION, "", "xs.example.org");
    assert_eq!(words(&cluster.settle()).len(), 4);
    assert_eq!(cluster.page(ROLES), "");
}

#[test]
fn whoever_edits_our_roles_is_undone_and_what_they_add_is_theirs() {
    let mut cluster = cluster([xrd("xs.example.org")]);
    let page = cluster.page(ROLES);
    let name = "crossplane:composite:xs.example.org:aggregate-to-edit";
    let edits: [(&str, Edit); 4] = [
        ("a label goes", |live| drop(live.meta.labels.remove("rbac.crossplane.io/aggregate-to-edit"))),
        ("a label is another", |live| {
            drop(live.meta.labels.insert("rbac.crossplane.io/xrd".into(), "others.example.org".into()));
        }),
        ("the owner goes", |live| live.meta.owners.clear()),
        ("rules are others", |live| {
            live.body = CLUSTER_ROLE.read(&role("", &["* * *"]));
        }),
    ];
    for (what, edit) in edits {
        cluster.edit(&CLUSTER_ROLE, name, edit);
        let written = words(&cluster.settle());
        assert!(
            !written.is_empty() && written.iter().all(|op| *op == format!("repair ClusterRole/{name}")),
            "{what}: {written:?}"
        );
        assert_eq!(cluster.page(ROLES), page, "{what}");
        assert_eq!(cluster.told(), Vec::<&str>::new(), "{what}");
    }
    cluster.remove(&CLUSTER_ROLE, "", name);
    assert_eq!(words(&cluster.settle()), [format!("repair ClusterRole/{name}")]);
    assert_eq!(cluster.page(ROLES), page);
    cluster.edit(&CLUSTER_ROLE, name, |live| {
        live.meta.labels.insert("team".into(), "a".into());
        live.meta.annotations.insert("note".into(), "b".into());
    });
    assert!(cluster.settle().is_empty(), "foreign labels and annotations are nobody's business");
}

#[test]
fn a_name_that_is_taken_is_told_and_left_alone() {
    let name = "crossplane:composite:xs.example.org:aggregate-to-view";
    let theirs = role(name, &["get core pods"]);
    let mut controlled = theirs.clone();
    controlled["metadata"]["ownerReferences"] =
        json!([owner("CompositeResourceDefinition", "others.example.org", true)]);
    for (taken, who) in [
        (theirs.clone(), "nothing says that it is ours"),
        (controlled, "it is controlled by CompositeResourceDefinition `others.example.org`"),
    ] {
        let mut cluster = cluster([xrd("xs.example.org"), taken]);
        assert_eq!(
            cluster.told(),
            [format!("RW0003 ClusterRole/{name}: {who}; whoever may view may view what `xs.example.org` defines")]
        );
        assert_eq!(cluster.names(ROLES).len(), 3);
        assert_eq!(cluster.rules_of(name), super::world::rules(&["get core pods"]));
        cluster.remove(&CLUSTER_ROLE, "", name);
        cluster.settle();
        assert_eq!(cluster.names(ROLES).len(), 4);
        assert_eq!(cluster.told(), Vec::<&str>::new());
    }
    let given = annotated(theirs, "rolewright.io/adopt", "true");
    let cluster = cluster([xrd("xs.example.org"), given]);
    assert_eq!(cluster.names(ROLES).len(), 4);
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn a_paused_definition_waits_by_either_word() {
    for word in ["rolewright.io/paused", "crossplane.io/paused"] {
        let mut cluster = cluster([annotated(xrd("xs.example.org"), word, "true")]);
        assert_eq!(cluster.page(ROLES), "");
        assert_eq!(cluster.told(), ["RW0002 CompositeResourceDefinition/xs.example.org: 4 writes wait"]);
        cluster.set(&labelled(xrd("xs.example.org"), "a", "b"));
        cluster.settle();
        assert_eq!(cluster.names(ROLES).len(), 4);
        assert_eq!(cluster.told(), Vec::<&str>::new());
    }
}

#[test]
fn a_definition_that_cannot_be_read_keeps_what_it_granted() {
    let mut cluster = cluster([xrd("xs.example.org")]);
    let page = cluster.page(ROLES);
    let mut broken = xrd("xs.example.org");
    broken["spec"]["names"] = json!("xs");
    cluster.set(&broken);
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert_eq!(cluster.page(ROLES), page);
    let told = cluster.told();
    assert!(
        matches!(told.as_slice(), [told] if told.starts_with("RW0001 CompositeResourceDefinition/xs.example.org: `spec.names`")),
        "{told:?}"
    );
    // What is wrong is written into its status, once.
    let ready = cluster.get(&DEFINITION, "xs.example.org").conditions.clone();
    assert!(ready.iter().any(|condition| condition.name == "PermissionsReady" && condition.reason == "Invalid"));
}

#[test]
fn a_definition_grants_nothing_that_somebody_else_controls() {
    let held = |mut crd: serde_json::Value, kind: &str, name: &str, controller: bool| {
        crd["metadata"]["ownerReferences"] = json!([owner(kind, name, controller)]);
        crd
    };
    let free = cluster([claimed("xs.example.org", "cs")]).page(ROLES);
    let without = |resource: &str| -> Vec<String> {
        let is_about = |line: &str| line.contains(&format!(" {resource},")) || line.contains(&format!(" {resource}/"));
        free.lines().filter(|line| !is_about(line)).map(str::to_owned).collect()
    };
    let definition = "CompositeResourceDefinition";
    for (crd_name, kind, name, controller, lost) in [
        ("xs.example.org", definition, "xs.example.org", true, None),
        ("cs.example.org", definition, "xs.example.org", true, None),
        ("xs.example.org", "ProviderRevision", "helm-a", false, None),
        ("other.example.org", "ProviderRevision", "helm-a", true, None),
        ("xs.example.org", "ProviderRevision", "helm-a", true, Some("xs")),
        ("cs.example.org", "ProviderRevision", "helm-a", true, Some("cs")),
        ("cs.example.org", definition, "ys.example.org", true, Some("cs")),
    ] {
        let served = held(crd(crd_name), kind, name, controller);
        let expected = lost.map_or_else(|| free.lines().map(str::to_owned).collect(), without);
        let told: Vec<String> = lost
            .map(|_| {
                format!("RW0208 {definition}/xs.example.org: `{crd_name}` is controlled by {kind} `{name}`, so nobody gets it")
            })
            .into_iter()
            .collect();
        // It may be there before the definition, or come later; when it goes, or is let go, the rights come.
        let mut before = cluster([served.clone(), claimed("xs.example.org", "cs")]);
        let mut after = cluster([claimed("xs.example.org", "cs")]);
        after.set(&served);
        after.settle();
        for cluster in [&mut before, &mut after] {
            assert_eq!(cluster.page(ROLES).lines().collect::<Vec<_>>(), expected, "{crd_name} of {name}");
            assert_eq!(cluster.told(), told);
        }
        before.remove(&SERVED_RESOURCE, "", crd_name);
        after.set(&crd(crd_name));
        for cluster in [&mut before, &mut after] {
            cluster.settle();
            assert_eq!(cluster.page(ROLES), free, "{crd_name} of {name}");
            assert_eq!(cluster.told(), Vec::<&str>::new());
        }
    }
}

/// Whoever may write definitions may not give away everything: what is no custom resource grants nothing.
#[test]
fn a_definition_of_what_is_not_its_own_grants_nothing_and_keeps_what_it_granted() {
    let domain = "; hint: define it in a domain of your own, such as `example.org`";
    let plural = "; hint: say small letters, digits and `-`, as in `buckets`";
    let long = "x".repeat(100_000);
    for (name, group, names, claims, told) in [
        ("xs.example.org", "*", "*", None, format!("`spec.group` is `*`, which is not a domain such as `example.org`{domain}")),
        ("xs.example.org", "", "pods", None, format!("`spec.group` is ``, which is not a domain such as `example.org`{domain}")),
        ("deployments.apps", "apps", "deployments", None, format!("`spec.group` is `apps`, which is not a domain such as `example.org`{domain}")),
        (
            "clusterroles.rbac.authorization.k8s.io",
            "rbac.authorization.k8s.io",
            "clusterroles",
            None,
            format!("`spec.group` is `rbac.authorization.k8s.io`, which is served by Kubernetes itself{domain}"),
        ),
        (
            "providers.pkg.crossplane.io",
            "pkg.crossplane.io",
            "providers",
            None,
            format!("`spec.group` is `pkg.crossplane.io`, which is not to be extended{domain}"),
        ),
        ("xs.example.org", "example.org", "*", None, format!("`spec.names.plural` is `*`, which is not one word such as `buckets`{plural}")),
        ("xs.example.org", "example.org", "xs/exec", None, format!("`spec.names.plural` is `xs/exec`, which is not one word such as `buckets`{plural}")),
        (
            "xs.example.org",
            "example.org",
            "xs",
            Some("*"),
            format!("`spec.claimNames.plural` is `*`, which is not one word such as `buckets`{plural}"),
        ),
        (
            "xs.example.org",
            "example.org",
            "ys",
            None,
            "`metadata.name` is not `<spec.names.plural>.<spec.group>`; hint: name it `ys.example.org`, or correct these fields".to_owned(),
        ),
        (
            "xs.example.org",
            &long,
            "xs",
            None,
            format!("`spec.group` is `{}...`, which is not a domain such as `example.org`{domain}", &long[..253]),
        ),
    ] {
        let mut bad = xrd(name);
        bad["spec"]["group"] = json!(group);
        bad["spec"]["names"]["plural"] = json!(names);
        if let Some(claims) = claims {
            bad["spec"]["claimNames"] = json!({ "plural": claims, "kind": "C" });
        }
        let told = [format!("RW0001 CompositeResourceDefinition/{name}: {told}")];
        let new = cluster([bad.clone()]);
        assert_eq!(new.page(ROLES), "", "{told:?}");
        assert_eq!(new.told(), told);
        if name != "xs.example.org" {
            continue;
        }
        let mut cluster = cluster([claimed(name, "cs")]);
        let page = cluster.page(ROLES);
        cluster.set(&bad);
        assert_eq!(words(&cluster.settle()), Vec::<String>::new());
        assert_eq!(cluster.page(ROLES), page);
        assert_eq!(cluster.told(), told);
        cluster.set(&xrd(name));
        cluster.settle();
        assert_eq!(cluster.told(), Vec::<&str>::new());
        assert!(!cluster.page(ROLES).contains("cs"));
    }
}
