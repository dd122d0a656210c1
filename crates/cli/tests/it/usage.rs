//! Arguments, exit codes and streams.

use std::process::Stdio;

use super::{rolewright, text};

#[test]
fn exit_codes_and_streams() {
    // arguments, exit code, on stdout, on stderr
    let cases: [(&[&str], i32, &str, &str); 7] = [
        (&["--version"], 0, "rolewright ", ""),
        (&["--help"], 0, "Usage: rolewright <COMMAND>", ""),
        (&["completion", "bash"], 0, "complete -F _rolewright", ""),
        (&["explain", "RW0101"], 0, "RW0101 an aggregated role is too large to store (error, UnionTooLarge)", ""),
        (&["manifests", "crds"], 0, "name: rootsyncs.configsync.gke.io", ""),
        (&[], 2, "", "Usage: rolewright <COMMAND>"),
        (&["upp"], 2, "", "a similar subcommand exists: 'up'"),
    ];
    for (args, code, stdout, stderr) in cases {
        let output = rolewright(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        for (found, expected) in [(&output.stdout, stdout), (&output.stderr, stderr)] {
            let found = text(found);
            assert!(found.contains(expected), "{args:?}: {found}");
            assert_eq!(found.is_empty(), expected.is_empty(), "{args:?}: {found}");
        }
    }
}

#[test]
fn without_a_cluster_there_is_one_line_that_helps() {
    for arguments in [&["run"][..], &["plan"], &["explain", "clusterrole/view"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args(arguments).env("KUBECONFIG", "/nowhere").env("HOME", "/nowhere").env_remove("CLICOLOR_FORCE");
        let output = command.env_remove("KUBERNETES_SERVICE_HOST").output().expect("the binary runs");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        let expected = "there is neither a kubeconfig nor a service account: ";
        assert!(said.starts_with("error: ") && said.contains(expected), "{arguments:?}: {said}");
        assert!(said.contains("/nowhere") && said.contains("hint: --kubeconfig FILE"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_pod_without_a_service_account_is_told_so() {
    for arguments in [&["run"][..], &["plan"], &["uninstall", "--access", "keep"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args(arguments).env_remove("KUBECONFIG").env("HOME", "/nowhere").env_remove("CLICOLOR_FORCE");
        command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1").env("KUBERNETES_SERVICE_PORT", "1");
        let output = command.output().expect("the binary runs");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        assert!(said.contains("this is a pod whose service account cannot be used: "), "{arguments:?}: {said}");
        // What is missing first is a file of the account.
        assert!(said.contains("No such file or directory"), "{arguments:?}: {said}");
        assert!(said.contains("hint: automountServiceAccountToken"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rolewright"))
        .args(["manifests", "crds"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn colour_is_for_terminals() {
    let plan = ["plan", "-f", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stories/a-pull-request/pr")];
    assert!(!text(&rolewright(&plan).stdout).contains('\u{1b}'));
    let mut forced = std::process::Command::new(env!("CARGO_BIN_EXE_rolewright"));
    let output = forced.args(plan).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").output().expect("the binary runs");
    assert!(text(&output.stdout).contains('\u{1b}'));
}

#[test]
fn every_shell_is_completed() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = rolewright(&["completion", shell]);
        let script = text(&output.stdout);
        assert!(output.status.success() && script.contains("uninstall"), "{shell}");
    }
}
