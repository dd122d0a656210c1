//! `plan` and `explain` on a cluster, beside a manager that was installed by what is printed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::place::{Place, ROLES};

/// Runs a command in the folder of a story; its exit code and all that it says.
fn ask(kubeconfig: &Path, arguments: &[&str]) -> Result<(i32, String)> {
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories/extend-the-users-roles");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
    command.args(arguments).arg("--kubeconfig").arg(kubeconfig).current_dir(story).env_remove("CLICOLOR_FORCE");
    let output = command.output()?;
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat();
    Ok((output.status.code().context("it ends by itself")?, said))
}

/// What would happen, and whether those who do it may: the manager by the rights that it has, and not by those that it
/// should have.
pub(crate) async fn on_a_cluster(place: &Place) -> Result<()> {
    let admin = place.kubeconfig(None)?;
    let exclusive = ["--modules", "aggregation", "--aggregation", "exclusive"];
    let (code, page) = ask(&admin, &[&["plan"][..], &exclusive].concat())?;
    ensure!(
        code == 0 && page.contains("Manager    nothing to write\nAccess     everybody may do the same\n"),
        "{page}"
    );

    let plan = [&["plan", "--base", "live", "-f", "etcd.yaml", "-f", "base.yaml"][..], &exclusive].concat();
    let (code, page) = ask(&admin, &plan)?;
    for expected in ["Manager    ~ ClusterRole admin", "+ Group/shop-admins", "Preflight  manager ok\n", "you ok"] {
        ensure!(code == 0 && page.contains(expected), "{expected}: {page}");
    }
    let (code, page) = ask(&admin, &[&plan[..], &["--manager-name", "nobody"]].concat())?;
    let expected = "Preflight  manager not installed; ok with `rolewright manifests rbac`\n";
    ensure!(code == 0 && page.contains(expected), "{page}");

    // Somebody takes a right from it.
    let role = format!("{ROLES}/rolewright");
    let whole = place.get(&role).await?.context("the manager's role")?;
    let patch = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["list", "watch", "patch"]}]);
    let labels = whole["metadata"]["labels"].clone();
    let with = |rules| json!({"metadata": {"labels": labels}, "rules": rules});
    place.role("rolewright", with(patch)).await?;
    let (code, page) = ask(&admin, &plan)?;
    ensure!(code == 1 && page.contains("Preflight  manager REFUSED on ClusterRole admin: missing "), "{page}");
    place.role("rolewright", with(whole["rules"].clone())).await?;

    let (code, page) = ask(&admin, &["explain", "clusterrole/view"])?;
    ensure!(code == 0 && page.contains("from system:aggregate-to-view"), "{page}");
    ensure!(page.contains("the stored rules are these"), "{page}");

    let nobody = place.kubeconfig(Some("nobody"))?;
    let (code, page) = ask(&nobody, &plan)?;
    ensure!(code == 3 && page.starts_with("INCOMPLETE clusterroles could not be read: "), "{page}");
    ensure!(page.contains("manager unknown; its rights could not be read"), "{page}");
    ensure!(page.contains("you REFUSED on ClusterRole etcd-operator-admin: missing create"), "{page}");
    Ok(())
}
