//! Worlds out of a git repository.

use std::path::Path;
use std::process::Command;

use super::text;

const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NAME, labels: {LABEL: x}}\nrules: []\n";

fn role(name: &str, label: &str) -> String {
    ROLE.replace("NAME", name).replace("LABEL", label)
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_revision_is_a_world_and_what_it_had_is_replaced() {
    let folder = std::env::temp_dir().join(format!("rolewright-revisions-{}", std::process::id()));
    let deploy = folder.join("deploy");
    std::fs::create_dir_all(&deploy).expect("a folder");
    std::fs::write(deploy.join("stays.yaml"), role("stays", "old")).expect("a file");
    std::fs::write(deploy.join("goes.yaml"), role("goes", "a")).expect("a file");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "first"]);
    std::fs::remove_file(deploy.join("goes.yaml")).expect("the file goes");
    std::fs::write(deploy.join("stays.yaml"), role("stays", "new")).expect("a file");
    std::fs::write(deploy.join("comes.yaml"), role("comes", "a")).expect("a file");

    let run = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_rolewright")).args(arguments).current_dir(&folder).output();
        command.expect("the binary runs")
    };
    let world = "git:HEAD:deploy";
    let output = run(&["plan", "--base", world, "--replaces", world, "-f", "deploy", "-o", "json"]);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let files = plan["files"].as_array().expect("a list");
    let changes: Vec<String> = files.iter().map(|file| format!("{} {}", file["change"], file["name"])).collect();
    assert_eq!(changes, [r#""add" "comes""#, r#""change" "stays""#, r#""remove" "goes""#]);

    let output = run(&["plan", "--base", "git:nowhere:deploy", "-f", "deploy"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("git:nowhere:deploy: "), "{output:?}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
