//! Stories: a world in, what the commands say of it out. Each folder has manifests and a `session`, which is what a
//! terminal would show. `UPDATE=1 cargo test -p rolewright --test it stories` writes the sessions anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::text;

fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories");
    let mut stories: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("there are stories").map(|entry| entry.expect("a story").path()).collect();
    stories.sort();
    stories
}

/// Runs the commands of a session in its folder; returns the session as it really is.
fn play(folder: &Path, session: &str) -> String {
    let mut played = String::new();
    for command in session.lines().filter(|line| line.starts_with("$ ")) {
        if !played.is_empty() {
            played.push('\n');
        }
        writeln!(played, "{command}").expect("a String takes all text");
        let words = command.strip_prefix("$ rolewright ").expect("sessions run rolewright").split_whitespace();
        let output = Command::new(env!("CARGO_BIN_EXE_rolewright"))
            .args(words)
            .current_dir(folder)
            .env_remove("CLICOLOR_FORCE")
            .env("KUBECONFIG", "/nowhere")
            .output()
            .expect("the binary runs");
        played.push_str(text(&output.stdout));
        played.push_str(text(&output.stderr));
        match output.status.code() {
            Some(0) => {}
            code => writeln!(played, "exit {}", code.expect("it ends by itself")).expect("a String takes all text"),
        }
    }
    played
}

#[test]
fn every_story_goes_as_it_is_told() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for folder in stories() {
        let file = folder.join("session");
        let told = std::fs::read_to_string(&file).expect("a story has a session");
        let played = play(&folder, &told);
        if played != told {
            if update {
                std::fs::write(&file, &played).expect("the session can be written");
            }
            wrong.push(format!("{}:\n{played}", folder.display()));
        }
        // Manifests are not for reading in a terminal.
        let tables = played.split("\n$ ").filter(|part| !part.contains("rolewright manifests "));
        let widest = tables
            .flat_map(|part| part.lines().skip(1))
            .filter(|line| !line.contains("error: "))
            .max_by_key(|line| line.chars().count());
        let wide = played.contains("-o wide\n");
        assert!(wide || widest.is_none_or(|line| line.chars().count() <= 100), "too wide: {widest:?}");
    }
    assert!(wrong.is_empty() || update, "stories go another way:\n{}", wrong.join("\n"));
}

#[test]
fn the_readme_shows_a_story_as_it_goes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("there is a README");
    let (_, rest) = readme.split_once("```console\n$ cd ").expect("it shows a session in a folder");
    let (session, _) = rest.split_once("```").expect("the session ends");
    let (folder, session) = session.split_once('\n').expect("something is run there");
    assert_eq!(play(&root.join(folder), session), session);
}

#[test]
fn what_is_printed_for_programs_is_json() {
    let run_in = |story: &str, arguments: &[&str]| -> serde_json::Value {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories").join(story);
        let output = Command::new(env!("CARGO_BIN_EXE_rolewright")).args(arguments).current_dir(folder).output();
        serde_json::from_slice(&output.expect("the binary runs").stdout).expect("JSON")
    };
    let run = |arguments: &[&str]| run_in("a-pull-request", arguments);
    let plan = run(&["plan", "--base", "base.yaml", "-f", "pr", "--as", "ada", "-o", "json"]);
    assert_eq!(plan["summary"]["narrower"], 1);
    assert_eq!(plan["preflight"]["you"]["allowed"], false);
    assert_eq!(plan["preflight"]["you"]["user"]["name"], "ada");
    assert_eq!(plan["preflight"]["manager"]["installed"], serde_json::Value::Null);
    let refused = ["plan", "--base", "base.yaml", "-f", "provider.yaml", "--modules", "crossplane", "-o", "json"];
    let manager = &run_in("a-manager-without-rights", &refused)["preflight"]["manager"];
    assert_eq!((&manager["installed"], &manager["allowed"]), (&true.into(), &false.into()));
    let role = run(&["explain", "clusterrole/edit", "-f", "base.yaml", "-o", "json"]);
    assert_eq!(role["aggregated"], true);
    assert!(role["rules"].as_array().is_some_and(|rules| rules.iter().all(|rule| !rule["sources"][0].is_null())));
    let code = run(&["explain", "RW0101", "-o", "json"]);
    assert_eq!(code["code"], "RW0101");
}

#[test]
fn the_managers_role_is_yaml_that_plan_reads() {
    let folder = std::env::temp_dir().join(format!("rolewright-manifests-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("rbac.yaml");
    let output = super::rolewright(&["manifests", "rbac", "--aggregation", "exclusive"]);
    assert!(output.status.success());
    std::fs::write(&file, &output.stdout).expect("a file");
    let output = super::rolewright(&["plan", "-f", file.to_str().expect("a path")]);
    assert!(output.status.success(), "{output:?}");
    let page = text(&output.stdout);
    assert!(page.contains("+ SA/rolewright-system:rolewright"), "{page}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn a_union_that_no_object_can_hold_is_told_and_revocations_go_through() {
    let folder = std::env::temp_dir().join(format!("rolewright-oversize-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let rule = |number: usize| {
        let name = format!("{number:0>200}");
        serde_json::json!({"apiGroups": ["example.com"], "resources": [name], "verbs": ["get"]})
    };
    let role = |name: &str, labels: serde_json::Value, rules: Vec<serde_json::Value>| {
        serde_json::json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels}, "rules": rules,
        })
    };
    // Each half can be stored; both together cannot. The union still holds a rule that was revoked.
    let mut union = role("union", serde_json::json!({}), vec![rule(1), rule(99_999)]);
    union["aggregationRule"] = serde_json::json!({"clusterRoleSelectors": [{"matchLabels": {"part": "true"}}]});
    let half = |name: &str, from: usize| {
        role(name, serde_json::json!({"part": "true"}), (from..from + 5_000).map(rule).collect())
    };
    let list =
        serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [union, half("a", 0), half("b", 5_000)]});
    let file = folder.join("base.json");
    std::fs::write(&file, list.to_string()).expect("a file");
    let file = file.to_str().expect("a path");
    let output = super::rolewright(&["plan", "--base", file, "--aggregation", "exclusive"]);
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{page}");
    assert!(page.contains("RW0101 ClusterRole union: "), "{page}");
    assert!(page.contains("~ ClusterRole union") && page.contains("-1 rule"), "{page}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
