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
    ensure!(std::fs::read_to_string(&file)? == THEIRS && !std::fs::exists(home.path("real.lock"))?);
    Ok(())
}

/// What others do to the file meanwhile stays, and so does every line that is not ours.
#[test]
fn others_may_change_it_meanwhile() -> Result<()> {
    let home = Home::new()?;
    let file = home.path("config");
    std::fs::write(&file, THEIRS)?;
    let (mut sandbox, ready) = Sandbox::ready(&home, &["--kubeconfig", "config"])?;
    let with_ours = std::fs::read_to_string(&file)?;
    ensure!(with_ours.starts_with("# where I work\n") && with_ours.contains(text(&ready, "context")), "{with_ours}");
    std::fs::write(&file, format!("{with_ours}# and at home\n"))?;
    ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
    ensure!(std::fs::read_to_string(&file)? == format!("{THEIRS}# and at home\n"));

    if home.has_kubectl()? {
        let (mut sandbox, ready) = Sandbox::ready(&home, &["--empty", "--kubeconfig", "config"])?;
        let context = text(&ready, "context");
        // It writes the whole file anew, in its own form.
        home.shell(&format!("kubectl --kubeconfig config config set-context {context} --namespace kube-system"))?;
        ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
        let left = std::fs::read_to_string(&file)?;
        ensure!(left.contains("https://prod.example.com") && left.contains("token: \"yes\""), "{left}");
        ensure!(!left.contains("rolewright"), "{left}");
    }
    Ok(())
}

#[test]
fn what_is_not_ours_is_never_replaced_and_never_removed() -> Result<()> {
    let home = Home::new()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let name = format!("rolewright-{port}");
    let cases = [
        format!("clusters:\n- name: {name}\n  cluster: {{server: 'https://127.0.0.1:{port}'}}\n"),
        format!("contexts:\n- name: {name}\n  context: {{cluster: prod}}\n"),
        format!("users:\n- name: {name}\n  user: {{token: secret}}\n"),
        "replicas: 3\n".to_owned(),
        "kind: List\nitems: []\n".to_owned(),
    ];
    for theirs in cases {
        std::fs::write(home.path("config"), &theirs)?;
        let output = home.rolewright(&["up", "--port", &port.to_string(), "--kubeconfig", "config"])?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(output.status.code() == Some(4) && said.contains("; hint: "), "{theirs}{said}");
        ensure!(said.contains("` is not ours") || said.contains("it is no kubeconfig"), "{theirs}{said}");
        ensure!(std::fs::read_to_string(home.path("config"))? == theirs);
    }
    // Not even where it holds nothing: we did not make it.
    std::fs::write(home.path("config"), "# mine\n")?;
    let (mut sandbox, _) = Sandbox::ready(&home, &["--empty", "--kubeconfig", "config"])?;
    ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
    ensure!(std::fs::read_to_string(home.path("config"))? == "# mine\n");
    Ok(())
}

#[test]
fn one_that_was_killed_leaves_one_context_at_most() -> Result<()> {
    let home = Home::new()?;
    std::fs::write(home.path("config"), THEIRS)?;
    let contexts = |name: &str| -> Result<usize> {
        let text = std::fs::read_to_string(home.path("config"))?;
        Ok(text.lines().filter(|line| line.contains(&format!("\"context\":{{\"cluster\":\"{name}"))).count())
    };
    for arguments in [&["--data", "data"][..], &["--empty"]] {
        for _ in 0..2 {
            let arguments = [arguments, &["--kubeconfig", "config"]].concat();
            let (mut sandbox, _) = Sandbox::ready(&home, &arguments)?;
            sandbox.child.kill()?;
            sandbox.child.wait()?;
        }
    }
    ensure!(contexts("rolewright-")? == 2, "one of the folder, which is good again, and the last one");
    let (mut sandbox, ready) = Sandbox::ready(&home, &["--data", "data", "--kubeconfig", "config"])?;
    ensure!(contexts("rolewright-")? == 1 && contexts(text(&ready, "context"))? == 1);
    ensure!(sandbox.end("TERM")? == Some(0), "{}", sandbox.erred());
    ensure!(contexts(text(&ready, "context"))? == 1, "the cluster comes back");
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
