//! Our context in somebody's kubeconfig.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Result, ensure};

use super::{Home, Sandbox, text};

const THEIRS: &str = "\
# where I work
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster: {server: 'https://prod.example.com', certificate-authority: pki/ca.crt}
contexts:
- name: prod
  context: {cluster: prod, user: me, namespace: '007'}
users:
- name: me
  user: {token: 'yes'}
preferences: {}
";

#[test]
fn it_comes_and_goes_and_all_else_stays() -> Result<()> {
    let home = Home::new()?;
    let file = home.path("real");
    std::fs::write(&file, THEIRS)?;
    std::os::unix::fs::symlink(&file, home.path("config"))?;
    let (mut sandbox, ready) = Sandbox::ready(&home, &["--kubeconfig", "config"])?;
    let context = text(&ready, "context");
    ensure!(context.starts_with("rolewright-"), "{ready}");
    ensure!(std::fs::symlink_metadata(home.path("config"))?.is_symlink(), "it is the file that is replaced");
    ensure!(std::fs::metadata(&file)?.permissions().mode() & 0o777 == 0o600);
    if home.has_kubectl()? {
        let said = home
            .shell("export KUBECONFIG=config; kubectl config current-context; kubectl config get-contexts -o name")?;
        ensure!(said == format!("prod\nprod\n{context}\n"), "{said}");
        let said = home.shell(&format!("kubectl --kubeconfig config --context {context} get ns -o name"))?;
        ensure!(said.contains("namespace/shop"), "{said}");
    }
    ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
    let left = std::fs::read_to_string(&file)?;
    for kept in [
        "current-context: prod",
        "https://prod.example.com",
        "namespace: \"007\"",
        "token: \"yes\"",
        "certificate-authority: pki/ca.crt",
    ] {
        ensure!(left.contains(kept), "{kept} is not in: {left}");
    }
    ensure!(!left.contains("rolewright") && !std::fs::exists(home.path("real.lock"))?, "{left}");
    Ok(())
}

#[test]
fn a_new_file_has_ours_as_the_current_one() -> Result<()> {
    let home = Home::new()?;
    // Where kubectl looks by itself nothing need be said.
    let (mut sandbox, ready) = Sandbox::ready(&home, &["--kubeconfig", ".kube/config"])?;
    ensure!(ready["context"].is_null() && ready["export"].is_null(), "{ready}");
    if home.has_kubectl()? {
        ensure!(home.shell("kubectl get ns -o name")?.contains("namespace/shop"));
    }
    ensure!(sandbox.end("INT")? == Some(0), "{}", sandbox.erred());
    ensure!(!std::fs::exists(home.path(".kube/config"))?, "it held nothing else");
    Ok(())
}
