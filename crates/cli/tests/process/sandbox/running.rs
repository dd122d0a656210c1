//! What is said of what happens.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Home, Sandbox, kubectl, text, until};

/// All that it said, as objects.
fn events(sandbox: &Sandbox) -> Result<Vec<Value>> {
    sandbox.said().lines().map(|line| serde_json::from_str(line).context(line.to_owned())).collect()
}

#[test]
fn programs_get_one_object_per_line() -> Result<()> {
    let home = Home::new()?;
    let (mut sandbox, ready) = Sandbox::ready(&home, &[])?;
    ensure!(
        ready["event"] == "ready"
            && ready["example"] == true
            && ready["try"].as_array().is_some_and(|list| list.len() == 5)
    );
    let modules: Vec<&str> =
        ready["modules"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    ensure!(["aggregation", "crossplane", "sync"].iter().all(|module| modules.contains(module)), "{ready}");
    if home.has_kubectl()? {
        let kubectl = kubectl(text(&ready, "kubeconfig"));
        let role = "clusterrole crossplane:composite:caches.acme.io:aggregate-to-edit";
        home.shell(&format!("{kubectl} patch {role} --type=json -p '[{{\"op\":\"remove\",\"path\":\"/rules/0\"}}]'"))?;
        sandbox.says("\"repaired\"")?;
        home.shell(&format!("{kubectl} annotate ns bank rbac.crossplane.io/caches.acme.io-"))?;
        sandbox.says("\"revoked\"")?;
        home.shell(&format!("{kubectl} annotate ns bank rbac.crossplane.io/nothing.acme.io=xrd-enabled"))?;
        sandbox.says("RW0201")?;
        let events = events(&sandbox)?;
        let find = |event: &str| events.iter().find(|one| one["event"] == event).cloned().unwrap_or_default();
        let repaired = find("repaired");
        ensure!(repaired["verb"] == "update" && repaired["module"] == "crossplane", "{repaired}");
        ensure!(repaired["object"]["name"] == "crossplane:composite:caches.acme.io:aggregate-to-edit", "{repaired}");
        ensure!(text(&repaired, "cause").starts_with("somebody changed it; "), "{repaired}");
        ensure!(find("planned")["writes"].is_u64() && find("problem")["object"]["kind"] == "Namespace", "{events:#?}");
        for event in events.iter().skip(1) {
            ensure!(!text(event, "cause").is_empty() && text(event, "time").ends_with('Z'), "{event}");
        }
    }
    ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
    ensure!(events(&sandbox)?.last().is_some_and(|last| last["event"] == "ended"), "{}", sandbox.said());
    Ok(())
}

#[test]
fn quiet_is_one_line() -> Result<()> {
    let home = Home::new()?;
    let mut sandbox = Sandbox::start(&home, &["-q"])?;
    sandbox.says("ready: https://127.0.0.1:")?;
    if home.has_kubectl()? {
        let kubeconfig = sandbox.said().trim().rsplit(' ').next().unwrap_or_default().to_owned();
        home.shell(&format!("{} delete clusterrole crossplane-view", kubectl(&kubeconfig)))?;
        until("the role", || {
            let found = home.shell(&format!("{} get clusterrole crossplane-view", kubectl(&kubeconfig)));
            Ok(found.is_ok())
        })?;
    }
    ensure!(sandbox.end("INT")? == Some(0), "{}", sandbox.erred());
    ensure!(sandbox.said().lines().count() == 1 && sandbox.erred().is_empty(), "{}{}", sandbox.said(), sandbox.erred());
    Ok(())
}

#[test]
fn pipes_get_plain_lines() -> Result<()> {
    let home = Home::new()?;
    let mut sandbox = Sandbox::start(&home, &[])?;
    sandbox.says("What happens")?;
    ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
    ensure!(!sandbox.said().contains(['\u{1b}', '\r']), "{}", sandbox.said());
    Ok(())
}
