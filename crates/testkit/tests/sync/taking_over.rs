//! After Config Sync's own manager, beside it, and back to it.

use anyhow::{Context, Result, ensure};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use rolewright_testkit::manifest::{name, rbac, with};
use rolewright_testkit::place::{Place, Running};
use serde_json::{Value, json};

use crate::access::{self, Vigil, allowed_by};
use crate::place::{HOME, OURS, account, finalizers, manage, repo, root, until};
use crate::reconciler::{Deed, Reconciler};

const MANAGER: &str = "configsync.gke.io/reconciler-manager";
const REFS: [&str; 2] = ["ClusterRole/reader", "Role/ci@shop"];
/// One that names no roles, one that does, and one in each of two namespaces.
const ACCOUNTS: [&str; 4] =
    ["root-reconciler-plain", "root-reconciler-limited", "ns-reconciler-shop", "ns-reconciler-bank"];
const OF_ROOTS: &str = "configsync.gke.io:root-reconciler";
const OF_REPOS: &str = "configsync.gke.io:ns-reconciler";

fn syncs() -> [Value; 4] {
    [root("plain", &[]), root("limited", &REFS), repo("shop", "repo-sync"), repo("bank", "repo-sync")]
}

/// Creates an object as Config Sync's manager does. What syncs share does not say whose it is.
async fn made(place: &Place, sync: &Value, object: &Value, is_shared: bool) -> Result<()> {
    let mut labels = json!({"configsync.gke.io/managed-by": "reconciler-manager",
        "configsync.gke.io/sync-kind": sync["kind"], "configsync.gke.io/sync-namespace": sync["metadata"]["namespace"]});
    if !is_shared {
        labels["configsync.gke.io/sync-name"] = json!(name(sync));
    }
    let object = with(object.clone(), json!({"metadata": {"labels": labels}}));
    let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    let wish: DynamicObject = serde_json::from_value(object.clone())?;
    place.api(&object)?.create(&params, &wish).await.with_context(|| format!("{object}"))?;
    Ok(())
}

fn binding(kind: &str, name: &str, role: &str, accounts: &[&str]) -> Value {
    let (role_kind, role) = role.split_once('/').unwrap();
    let subjects: Vec<Value> =
        accounts.iter().map(|name| json!({"kind": "ServiceAccount", "namespace": HOME, "name": name})).collect();
    with(
        rbac(kind, name),
        json!({"subjects": subjects,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role}}),
    )
}

fn deployment(replicas: i64) -> Value {
    let labels = json!({"app": "reconciler-manager"});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": HOME, "name": "reconciler-manager"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "reconciler-manager", "image": "example.org/reconciler-manager"}]}}}})
}

/// What Config Sync is installed with: its roles for reconcilers.
async fn install(place: &Place) -> Result<()> {
    let on = |group: &str, plural: &str| {
        json!({"rules": [{"apiGroups": [group], "resources": [plural],
        "verbs": ["get", "list", "watch"]}]})
    };
    let syncs = "configsync.gke.io";
    let definitions = on("apiextensions.k8s.io", "customresourcedefinitions");
    place.apply(&with(rbac("ClusterRole", OF_ROOTS), on(syncs, "rootsyncs"))).await?;
    place.apply(&with(rbac("ClusterRole", OF_REPOS), on(syncs, "reposyncs"))).await?;
    place.apply(&with(rbac("ClusterRole", &format!("{OF_REPOS}:cluster-scope")), definitions)).await?;
    Ok(())
}

/// The bindings that Config Sync's manager shares between syncs.
fn shared() -> [(Value, Value); 5] {
    let [plain, limited, shop, bank] = syncs();
    let (base, scope) = (format!("{OF_ROOTS}-base"), format!("{OF_REPOS}:cluster-scope"));
    let in_all = |name: &str, role: &str, accounts: &[&str]| {
        binding("ClusterRoleBinding", name, &format!("ClusterRole/{role}"), accounts)
    };
    let inside = |namespace: &str, account| {
        binding("RoleBinding", &format!("{namespace}/{OF_REPOS}"), &format!("ClusterRole/{OF_REPOS}"), &[account])
    };
    [
        (plain, in_all(OF_ROOTS, "cluster-admin", &ACCOUNTS[..1])),
        (limited, in_all(&base, OF_ROOTS, &ACCOUNTS[1..2])),
        (shop.clone(), in_all(&scope, &scope, &ACCOUNTS[2..])),
        (shop, inside("shop", ACCOUNTS[2])),
        (bank, inside("bank", ACCOUNTS[3])),
    ]
}

/// Everything as Config Sync's manager leaves it.
async fn before(place: &Place) -> Result<()> {
    install(place).await?;
    for (sync, account_name) in syncs().iter().zip(ACCOUNTS) {
        place.apply(sync).await?;
        let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        place.api(sync)?.patch(name(sync), &params, &Patch::Merge(finalizers(&[OURS]))).await?;
        made(place, sync, &account(account_name), false).await?;
    }
    for (sync, binding) in shared() {
        made(place, &sync, &binding, true).await?;
    }
    let limited = &syncs()[1];
    for object in generated() {
        made(place, limited, &object, false).await?;
    }
    Ok(())
}

fn generated() -> [Value; 2] {
    let own = &ACCOUNTS[1..2];
    [
        binding("ClusterRoleBinding", "root-reconciler-limited-abcde", "ClusterRole/reader", own),
        binding("RoleBinding", "shop/root-reconciler-limited-fghij", "Role/ci", own),
    ]
}

/// Nobody loses anything, whoever manages.
async fn vigils(place: &Place, second: &Reconciler) -> Result<Vec<Vigil>> {
    let first = Reconciler::of(place, ACCOUNTS[0]).await?;
    let (all, some) = (allowed_by(&["ClusterRole/cluster-admin"]), allowed_by(&REFS));
    access::until(&first, &all).await?;
    access::until(second, &some).await?;
    let mut vigils = vec![
        Vigil::begin(&first, all.clone(), all),
        Vigil::begin(second, some.clone(), some),
        Vigil::of(second, &[Deed::List("RootSync", HOME)]),
    ];
    for (account, syncs) in
        [(ACCOUNTS[2], Deed::List("RepoSync", "shop")), (ACCOUNTS[3], Deed::List("RepoSync", "bank"))]
    {
        let deeds = [syncs, Deed::List("CustomResourceDefinition", "")];
        vigils.push(Vigil::of(&Reconciler::of(place, account).await?, &deeds));
    }
    Ok(vigils)
}

pub(crate) async fn taking_over(place: &Place) -> Result<()> {
    place.apply(&deployment(1)).await?;
    before(place).await?;
    let second = Reconciler::of(place, ACCOUNTS[1]).await?;
    let vigils = vigils(place, &second).await?;
    let manager = beside(place).await?;
    take_over(place, &manager).await?;
    for object in generated() {
        place.until_gone(&object).await?;
    }
    manager.end().await?;
    place.apply(&deployment(1)).await?;
    give_back(place).await?;
    let manager = beside(place).await?;
    clean_up(place).await?;
    take_over(place, &manager).await?;
    for vigil in vigils {
        vigil.end().await?;
    }
    // What was inherited is ours to take away.
    let narrow = ["ClusterRole/reader@shop"];
    place.apply(&root("limited", &narrow)).await?;
    access::until(&second, &allowed_by(&narrow)).await?;
    for sync in &syncs() {
        place.delete(sync).await?;
        place.until_gone(sync).await?;
    }
    for name in ACCOUNTS {
        ensure!(place.get(&account(name)).await?.is_none(), "{name} is left");
    }
    place.delete(&deployment(0)).await?;
    manager.end().await
}

/// Beside it we only plan.
async fn beside(place: &Place) -> Result<Running> {
    let manager = manage(place)?;
    manager.see().await?;
    ensure!(manager.requests.counts().writes == 0, "two writers");
    Ok(manager)
}

async fn take_over(place: &Place, manager: &Running) -> Result<()> {
    place.apply(&deployment(0)).await?;
    for (sync, reason) in syncs().iter().zip(["BoundByDefault", "Bound", "BaseOnly", "BaseOnly"]) {
        until(place, sync, reason).await?;
    }
    for (_, binding) in shared() {
        place.until_gone(&binding).await?;
    }
    manager.rest().await
}

/// What Config Sync's manager does when it is back: it shares again, finds what is there for a RootSync by its four
/// labels, keeps what its roles need, and deletes what it did not declare.
async fn give_back(place: &Place) -> Result<()> {
    for (sync, binding) in shared() {
        made(place, &sync, &binding, true).await?;
    }
    for (sync, refs) in [("plain", &[][..]), ("limited", &REFS[..])] {
        let mut missing: Vec<&str> = refs.to_vec();
        for binding in labelled(place, &["ClusterRoleBinding", "RoleBinding"], "RootSync", sync).await? {
            let role = &binding["roleRef"];
            let inside = binding["metadata"]["namespace"].as_str().map(|name| format!("@{name}")).unwrap_or_default();
            let (kind, name) = (role["kind"].as_str().unwrap_or_default(), role["name"].as_str().unwrap_or_default());
            let gives = format!("{kind}/{name}{inside}");
            match missing.iter().position(|wanted| *wanted == gives) {
                Some(found) => drop(missing.remove(found)),
                None => place.delete(&binding).await?,
            }
        }
        ensure!(missing.is_empty(), "it would make bindings of `{sync}` twice: {missing:?}");
    }
    Ok(())
}

async fn labelled(place: &Place, kinds: &[&str], of: &str, sync: &str) -> Result<Vec<Value>> {
    let labels = format!(
        "app.kubernetes.io/managed-by=rolewright,configsync.gke.io/managed-by=reconciler-manager,\
         configsync.gke.io/sync-kind={of},configsync.gke.io/sync-name={sync}"
    );
    let mut all = Vec::new();
    for kind in kinds {
        all.extend(place.list(&rbac(kind, "x"), &labels).await?);
    }
    Ok(all)
}

/// What it does not know stays, and is cleared as docs/sync.md says.
async fn clean_up(place: &Place) -> Result<()> {
    let kinds = ["ClusterRoleBinding", "RoleBinding", "Role"];
    let mut left = Vec::new();
    for sync in ["plain", "limited"] {
        left.extend(labelled(place, &kinds[2..], "RootSync", sync).await?);
    }
    left.extend(labelled(place, &kinds, "RepoSync", "repo-sync").await?);
    ensure!(left.len() == 2 + 2 * 3, "{left:#?}");
    left.extend(["root", "ns"].map(|kind| rbac("ClusterRole", &format!("rolewright:{kind}-reconciler"))));
    for object in &left {
        place.delete(object).await?;
    }
    Ok(())
}
