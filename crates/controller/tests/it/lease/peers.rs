//! The election on both servers, in real time: with client-go's electors, and with no more rights than it needs.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::PostParams;
use kube::{Api, Client};
use rolewright_controller::lease::Settings;
use rolewright_testkit::testbed::{self, Lines};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Running, lease};
use crate::places::{PATIENCE, Place, both};

/// Short enough for a test, long enough for a machine that is busy.
fn settings(name: &str, identity: &str) -> Settings {
    Settings {
        duration: Duration::from_secs(6),
        renew_deadline: Duration::from_secs(5),
        retry: Duration::from_millis(200),
        ..Settings::new("default", name, identity)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_and_ended_holders_are_followed_on_both_servers() -> Result<()> {
    for place in both().await? {
        let client = place.client().await?;
        let start = |identity: &str| Running::start(client.clone(), settings("ours", identity));
        let first = start("first")?;
        timeout(PATIENCE, first.leads()).await.context(place.name)?;
        let second = start("second")?;
        let ghost = first.die();
        timeout(PATIENCE, second.leads()).await.context(place.name)?;
        assert!(!ghost.is_leader(), "{}", place.name);
        let third = start("third")?;
        second.end().await?;
        timeout(PATIENCE, third.leads()).await.context(place.name)?;
        third.end().await?;
        let spec = lease(&client, "ours").await?;
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some(""), Some(2)), "{}", place.name);
    }
    Ok(())
}

/// client-go's elector; ends, and gives the lease back, when this is dropped.
struct Elector(Lines);

impl Elector {
    fn start(place: &Place, name: &str, identity: &str) -> Result<Self> {
        let binary = testbed::known().context("there is a testbed")?;
        let mut command = Command::new(binary);
        command.arg("elect").arg("--kubeconfig").arg(&place.kubeconfig);
        command.args(["--lease", name, "--identity", identity]);
        tokio::task::block_in_place(|| Lines::start(&mut command)).map(Self)
    }

    fn until(&mut self, event: &str, identity: &str) -> Result<()> {
        let wanted = json!({"event": event, "identity": identity});
        // Whoever says so much else will never say it.
        for _ in 0..50 {
            let line: Value = tokio::task::block_in_place(|| self.0.line())?;
            if line == wanted {
                return Ok(());
            }
        }
        ensure!(false, "it never prints {wanted}");
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        tokio::task::block_in_place(|| self.0.end())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_go_and_we_hand_over_to_each_other() -> Result<()> {
    if testbed::binary("the election with client-go")?.is_none() {
        return Ok(());
    }
    for place in both().await? {
        let client = place.client().await?;
        let ours = Running::start(client.clone(), settings("mixed", "ours"))?;
        timeout(PATIENCE, ours.leads()).await.context(place.name)?;
        let mut theirs = Elector::start(&place, "mixed", "theirs")?;
        theirs.until("leader", "ours").context(place.name)?;
        let again = Running::start(client.clone(), settings("mixed", "again"))?;
        ours.end().await?;
        // Either may be faster; the other follows.
        let mut changes = again.leadership.changes();
        let first = tokio::task::spawn_blocking(move || -> Result<Elector> {
            let mut theirs = theirs;
            // It hears of whoever leads next.
            for _ in 0..50 {
                let line = theirs.0.line()?;
                if line["event"] == "leader" && line["identity"] != "ours" && line["identity"] != "" {
                    break;
                }
            }
            Ok(theirs)
        });
        let mut theirs = first.await??;
        if again.leadership.is_leader() {
            again.end().await?;
            theirs.until("leading", "theirs").context(place.name)?;
        } else {
            theirs.end()?;
            timeout(PATIENCE, changes.wait_for(|leads| *leads)).await.context(place.name)??;
            theirs = Elector::start(&place, "mixed", "theirs")?;
            theirs.until("leader", "again").context(place.name)?;
            again.end().await?;
            theirs.until("leading", "theirs").context(place.name)?;
        }
        let last = Running::start(client.clone(), settings("mixed", "last"))?;
        let before = lease(&client, "mixed").await?;
        assert_eq!(before.holder_identity.as_deref(), Some("theirs"), "{}", place.name);
        theirs.end()?;
        timeout(PATIENCE, last.leads()).await.context(place.name)?;
        let after = lease(&client, "mixed").await?;
        assert_eq!(after.lease_transitions, before.lease_transitions.map(|count| count + 1), "{}", place.name);
        last.end().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_to_one_name_are_enough() -> Result<()> {
    for place in both().await? {
        let client = place.client().await?;
        grant(
            &client,
            json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["named"],
                              "verbs": ["get", "create", "update"]}),
        )
        .await?;
        let candidate = place.client_as("candidate").await?;
        let leases: Api<Lease> = Api::namespaced(candidate.clone(), "default");
        let mut other = Lease::default();
        other.metadata.name = Some("named".to_owned());
        let refused = leases.create(&PostParams::default(), &other).await;
        assert!(matches!(&refused, Err(kube::Error::Api(status)) if status.is_forbidden()), "{refused:?}");
        // RBAC's own caches may lag; an elector tries again.
        let running = Running::start(candidate, settings("named", "candidate"))?;
        timeout(PATIENCE, running.leads()).await.context(place.name)?;
        assert_eq!(lease(&client, "named").await?.lease_transitions, Some(0));
        running.end().await?;
        assert_eq!(lease(&client, "named").await?.holder_identity.as_deref(), Some(""));
    }
    Ok(())
}

/// Lets the user `candidate` do this in the namespace `default`, and nothing else.
async fn grant(client: &Client, rule: Value) -> Result<()> {
    let role = json!({"metadata": {"name": "candidate"}, "rules": [rule]});
    let binding = json!({
        "metadata": {"name": "candidate"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "candidate"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "candidate"}],
    });
    let roles: Api<Role> = Api::namespaced(client.clone(), "default");
    roles.create(&PostParams::default(), &serde_json::from_value(role)?).await?;
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), "default");
    bindings.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
    Ok(())
}
