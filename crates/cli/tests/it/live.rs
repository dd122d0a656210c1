//! The same commands on a cluster: the embedded server, as users run it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::text;

/// A server in memory with the kubeconfig of its administrator.
struct Cluster {
    child: Child,
    folder: PathBuf,
}

impl Cluster {
    fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("rolewright-live-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_rolewright"))
            .args(["server", "--port", "0", "--kubeconfig"])
            .arg(folder.join("admin"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut ready).expect("it says that it is ready");
        assert!(ready.starts_with("ready: "), "{ready}");
        Self { child, folder }
    }

    /// A kubeconfig with which the administrator is somebody else.
    fn impersonating(&self, user: &str) -> PathBuf {
        let admin = std::fs::read(self.folder.join("admin")).expect("a kubeconfig");
        let mut config: Value = serde_json::from_slice(&admin).expect("it is JSON");
        config["users"][0]["user"]["as"] = json!(user);
        let file = self.folder.join(user);
        std::fs::write(&file, config.to_string()).expect("a file");
        file
    }

    fn run(kubeconfig: &Path, arguments: &[&str]) -> (i32, String) {
        let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories/extend-the-users-roles");
        let output = Command::new(env!("CARGO_BIN_EXE_rolewright"))
            .args(arguments)
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .current_dir(story)
            .output()
            .expect("the binary runs");
        (output.status.code().expect("it ends"), format!("{}{}", text(&output.stdout), text(&output.stderr)))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_cluster_is_asked_and_what_may_not_be_read_is_said() {
    let cluster = Cluster::start();
    let admin = cluster.folder.join("admin");
    let (code, page) = Cluster::run(&admin, &["plan"]);
    assert_eq!(code, 0, "{page}");
    assert!(page.contains("Manager    nothing to write\nAccess     everybody may do the same\n"), "{page}");

    let (code, page) = Cluster::run(&admin, &["plan", "--base", "live", "-f", "etcd.yaml", "-f", "base.yaml"]);
    assert_eq!(code, 0, "{page}");
    assert!(page.contains("Cluster    ~ ClusterRole admin"), "{page}");
    assert!(page.contains("+ Group/shop-admins"), "{page}");
    assert!(page.contains("you ok"), "{page}");

    let (code, page) = Cluster::run(&admin, &["explain", "clusterrole/view"]);
    assert_eq!(code, 0, "{page}");
    assert!(page.contains("from system:aggregate-to-view") && page.contains("the stored rules are these"), "{page}");

    let nobody = cluster.impersonating("nobody");
    let (code, page) = Cluster::run(&nobody, &["plan", "--base", "live", "-f", "etcd.yaml"]);
    assert_eq!(code, 3, "{page}");
    assert!(page.starts_with("INCOMPLETE clusterroles could not be read: "), "{page}");
    assert!(page.contains("you REFUSED on ClusterRole etcd-operator-admin: missing create"), "{page}");
    let (code, page) = Cluster::run(&nobody, &["plan", "--context", "nowhere"]);
    assert_eq!(code, 4, "{page}");
}
