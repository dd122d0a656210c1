//! Seed 002: ClusterRoles that are built out of others, beside Kubernetes' own controller and without it.

mod case;
mod defects;
mod peers;
mod roles;
mod side;
mod table;

use anyhow::{Context, Result, ensure};
use rolewright_plan::aggregation::Mode;
use serde_json::{Value, json};

use self::case::{Case, alike};
use self::side::Side;
use crate::place::{self, Place, SUITE, manage, rbac, with};

/// The same steps on a real server with Kubernetes' controller, on one with the manager instead, and on ours.
#[tokio::test(flavor = "multi_thread")]
async fn with_and_without_kubernetes() -> Result<()> {
    let (theirs, alone) = tokio::try_join!(Place::kubernetes_only(SUITE, "clusterrole-aggregation"), place::real())?;
    let ours = Side::start("the manager on our server", place::ours()?, Mode::Exclusive)?;
    let (Some(theirs), Some(alone)) = (theirs, alone) else {
        return play(&[&ours]).await;
    };
    let alone = Side::start("the manager on the real server", alone, Mode::Exclusive)?;
    let theirs = Side::start("Kubernetes", theirs, Mode::Observe)?;
    play(&[&theirs, &alone, &ours]).await?;
    ensure!(theirs.manager.writes() == 0, "whoever observes does not write");
    let beside = theirs.instead(Mode::Exclusive).await?;
    beside.place.step("no fight with Kubernetes", peers::kubernetes(&beside)).await
}

async fn play(sides: &[&Side]) -> Result<()> {
    for side in sides {
        for name in ["admin", "edit", "view"] {
            let is_filled = |role: &Value| role["rules"].as_array().is_some_and(|rules| !rules.is_empty());
            side.place.until("the users' roles", &rbac("ClusterRole", name), is_filled).await?;
        }
    }
    alike(sides, "").await.context("a new cluster")?;
    for case in table::cases().into_iter().chain(defects::cases()) {
        let Case { name, .. } = case;
        case.play(sides).await.with_context(|| name.to_owned())?;
        println!("manager, aggregation: {name}");
    }
    for side in sides.iter().filter(|side| !side.is_kubernetes()) {
        side.place.step("no fight with anybody", peers::stubborn(side)).await?;
    }
    Ok(())
}

fn etcd(verbs: &[&str]) -> Value {
    json!({"apiGroups": ["etcd.database.coreos.com"], "resources": ["etcdclusters"], "verbs": verbs})
}

fn has(role: &Value, rule: &Value) -> bool {
    role["rules"].as_array().is_some_and(|rules| rules.contains(rule))
}

fn labelled(name: &str, label: &str, rules: &Value) -> Value {
    with(rbac("ClusterRole", name), json!({"metadata": {"labels": {label: "true"}}, "rules": rules}))
}

/// The payoff: admin, edit and view follow a role that comes and goes.
pub(crate) async fn story(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let admin = rbac("ClusterRole", "admin");
    let to_admin = "rbac.authorization.k8s.io/aggregate-to-admin";
    let before =
        place.until("admin", &admin, |admin| admin["rules"].as_array().is_some_and(|rules| !rules.is_empty())).await?;
    let operator = labelled("etcd-operator-admin", to_admin, &json!([etcd(&["*"])]));
    place.apply(&operator).await?;
    let with_etcd = place.until("admin with etcd", &admin, |admin| has(admin, &etcd(&["*"]))).await?;
    ensure!(with_etcd["metadata"]["labels"] == before["metadata"]["labels"], "only rules are ours");
    let writers: Vec<&Value> = with_etcd["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|entry| entry["fieldsV1"].get("f:rules").is_some())
        .collect();
    ensure!(
        writers.len() == 1
            && writers.iter().all(|entry| {
                entry["manager"] == "clusterrole-aggregation-controller" && entry["operation"] == "Apply"
            }),
        "{writers:#?}"
    );
    place.delete(&operator).await?;
    let after = place.until("admin without etcd", &admin, |admin| !has(admin, &etcd(&["*"]))).await?;
    ensure!(after["rules"] == before["rules"], "deleting the role undoes it");
    manager.end().await
}
