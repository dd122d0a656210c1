//! Arguments, exit codes and streams.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{rolewright, text};

#[test]
fn exit_codes_and_streams() {
    // arguments, exit code, on stdout, on stderr
    let cases: [(&[&str], i32, &str, &str); 8] = [
        (&["--version"], 0, "rolewright ", ""),
        (&["--help"], 0, "Usage: rolewright <COMMAND>", ""),
        (&["completion", "bash"], 0, "complete -F _rolewright", ""),
        (&["explain", "RW0101"], 0, "RW0101 an aggregated role is too large to store (error, UnionTooLarge)", ""),
        (&["manifests", "crds"], 0, "name: rootsyncs.configsync.gke.io", ""),
        (&[], 2, "", "Usage: rolewright <COMMAND>"),
        (&["manifests", "rbac", "--provider-boundary", "all"], 2, "", "--provider-clusterrole <NAME>"),
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
        assert!(output.status.success() && script.contains("uninstall") && script.contains("detach"), "{shell}");
        for hidden in ["reference", "detached"] {
            assert!(!script.contains(hidden), "{shell} offers {hidden}");
        }
    }
}

#[test]
fn manuals_say_which_version_they_are_of() {
    let output = rolewright(&["reference"]);
    let pages: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let page = pages["docs/man/rolewright-up.1"].as_str().expect("a page");
    // The title, the section, no date, the version, the book.
    let head = format!(".TH ROLEWRIGHT-UP 1 \"\" \"rolewright {}\" rolewright", env!("CARGO_PKG_VERSION"));
    assert!(page.lines().any(|line| line == head), "{page}");
}

#[test]
fn the_help_of_every_command_fits_80_columns() {
    let commands: [&[&str]; 14] = [
        &[],
        &["explain"],
        &["plan"],
        &["up"],
        &["down"],
        &["server"],
        &["run"],
        &["manifests"],
        &["manifests", "rbac"],
        &["manifests", "crds"],
        &["manifests", "policies"],
        &["uninstall"],
        &["completion"],
        &["reference"],
    ];
    for command in commands {
        for flag in ["--help", "-h"] {
            let mut rolewright = std::process::Command::new(env!("CARGO_BIN_EXE_rolewright"));
            let output = rolewright.args(command).arg(flag).env("COLUMNS", "80").output().expect("the binary runs");
            let help = text(&output.stdout);
            assert!(output.status.success() && help.contains("Usage: rolewright"), "{command:?}: {help}");
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{command:?} {flag}: {line}");
            }
        }
    }
}

#[test]
fn nothing_that_is_explained_is_cut() {
    let folder = std::env::temp_dir().join(format!("rolewright-explained-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let label = format!("{}.example.com/{}", "team".repeat(12), "gathers-what-others-have-written-before");
    let resources: Vec<String> = (0..12).map(|number| format!("resources-of-number-{number}")).collect();
    let roles = format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: all}}\n\
         aggregationRule:\n  clusterRoleSelectors:\n  - matchLabels: {{{label}: 'true'}}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: part, labels: {{{label}: 'true'}}}}\n\
         rules:\n- {{apiGroups: [''], resources: [{}], verbs: [get, list, watch]}}\n",
        resources.join(", ")
    );
    std::fs::write(folder.join("roles.yaml"), roles).expect("a file");
    let output = rolewright(&["explain", "clusterrole/all", "-f", folder.to_str().expect("UTF-8")]);
    std::fs::remove_dir_all(&folder).expect("it was there");
    let page = text(&output.stdout);
    let whole = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(whole.contains(&format!("all selects part by {label}=true")), "{page}");
    assert!(whole.contains(&format!("{} get,list,watch", resources.join(","))), "{page}");
}

#[test]
fn pages_are_as_wide_as_the_terminal() {
    let story = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stories/a-pull-request/pr");
    for page in [&["explain", "RW0101"][..], &["plan", "-f", story]] {
        for columns in [70, 160] {
            let shown = on_terminal(page, columns);
            let widest = shown.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or_default();
            assert!(widest <= usize::from(columns), "{page:?} in {columns}: {shown}");
        }
        let widest = |columns| on_terminal(page, columns).lines().map(|line| line.chars().count()).max();
        assert!(widest(160) > Some(101), "{page:?} uses the room that there is");
    }
}

/// What a command shows on a terminal, without its colours.
fn on_terminal(arguments: &[&str], columns: u16) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal of ours");
    tcsetwinsize(&ours, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
    let name = ptsname(&ours, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let theirs = File::options().read(true).write(true).open(name).expect("its other side");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rolewright"));
    let command = command.args(arguments).env("NO_COLOR", "1").stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(theirs).spawn().expect("the binary starts");
    command.stdout(Stdio::null());
    let (mut shown, mut bytes, mut ours) = (Vec::new(), [0; 4096], File::from(ours));
    // A terminal whose other side is closed cannot be read.
    while let Ok(count @ 1..) = ours.read(&mut bytes) {
        shown.extend_from_slice(&bytes[..count]);
    }
    child.wait().expect("it ends");
    text(&shown).to_owned()
}
