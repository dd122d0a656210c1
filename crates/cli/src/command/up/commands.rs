//! Commands that work as they are printed, in the terminal of whoever reads them.

use std::env;
use std::path::{Path, PathBuf};

/// How commands reach the cluster from another terminal.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) kubeconfig: PathBuf,
    /// The context to name, where the kubeconfig has another current one.
    pub(super) context: Option<String>,
    /// Whether kubectl finds the kubeconfig by itself.
    pub(super) is_default: bool,
    /// How this program is called.
    pub(super) program: String,
    pub(super) has_kubectl: bool,
}

/// A command with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) what: &'static str,
    pub(super) line: String,
}

impl Shell {
    /// As this process finds it.
    pub(super) fn here(kubeconfig: PathBuf, context: Option<String>) -> Self {
        let kubeconfig = std::path::absolute(&kubeconfig).unwrap_or(kubeconfig);
        let is_default = is_default(&kubeconfig);
        Self { kubeconfig, context, is_default, program: program(), has_kubectl: on_path("kubectl").is_some() }
    }

    /// What makes the commands after it find the cluster.
    pub(super) fn export(&self) -> Option<String> {
        (!self.is_default).then(|| format!("export KUBECONFIG={}", quoted(&self.kubeconfig.display().to_string())))
    }

    /// What is missing for them.
    pub(super) fn remark(&self) -> &'static str {
        if self.has_kubectl { "" } else { " (they need kubectl, which is not on the PATH)" }
    }

    pub(super) fn with_example(&self) -> Vec<Command> {
        let (kubectl, plan, explain) = (self.kubectl(), self.rolewright("plan"), self.rolewright("explain"));
        let annotate = format!("{kubectl} annotate ns bank rbac.crossplane.io/xrds=databases.acme.io");
        let command = |what, line| Command { what, line };
        vec![
            command(
                "sam may, because shop enables databases; in bank, ben may not",
                format!("{kubectl} auth can-i create databases.acme.io -n shop --as sam"),
            ),
            command(
                "what would it grant to enable them there?",
                format!("{annotate} \\\n    --dry-run=client -o yaml | {plan} --base live -f -"),
            ),
            command("do it, and look here", annotate),
            command(
                "delete a role: it is back at once, with its rules",
                format!("{kubectl} delete clusterrole crossplane-ns-shop-edit"),
            ),
            command("where each of its rules comes from", format!("{explain} clusterrole/crossplane-ns-shop-edit")),
        ]
    }

    pub(super) fn without_example(&self) -> Vec<Command> {
        let (kubectl, plan, explain) = (self.kubectl(), self.rolewright("plan"), self.rolewright("explain"));
        let command = |what, line| Command { what, line };
        vec![
            command("who you are", format!("{kubectl} auth whoami")),
            command(
                "a role that `view` gathers by its label",
                format!("{kubectl} create clusterrole caches --verb=get,list --resource=pods"),
            ),
            command(
                "from now on, and look here",
                format!("{kubectl} label clusterrole caches rbac.authorization.k8s.io/aggregate-to-view=true"),
            ),
            command("where each rule of a role comes from", format!("{explain} clusterrole/view")),
            command("whether anything is left to write", plan),
        ]
    }

    fn kubectl(&self) -> String {
        match &self.context {
            Some(context) => format!("kubectl --context {context}"),
            None => "kubectl".to_owned(),
        }
    }

    fn rolewright(&self, command: &str) -> String {
        match &self.context {
            Some(context) => format!("{} {command} --context {context}", self.program),
            None => format!("{} {command}", self.program),
        }
    }
}

/// Whether kubectl reads this file without being told.
fn is_default(kubeconfig: &Path) -> bool {
    let same = |other: &Path| match (other.canonicalize(), kubeconfig.canonicalize()) {
        (Ok(other), Ok(ours)) => other == ours,
        _ => other == kubeconfig,
    };
    match env::var_os("KUBECONFIG").filter(|list| !list.is_empty()) {
        // With several files others may come first.
        Some(list) => {
            let files: Vec<PathBuf> = env::split_paths(&list).collect();
            files.len() == 1 && files.iter().all(|file| same(file))
        }
        None => env::home_dir().is_some_and(|home| same(&home.join(".kube").join("config"))),
    }
}

/// `rolewright`, if that is this program; or else where it is, as short as may be.
fn program() -> String {
    let name = || "rolewright".to_owned();
    let Ok(own) = env::current_exe() else { return name() };
    let own = own.canonicalize().unwrap_or(own);
    if on_path("rolewright").is_some_and(|found| found.canonicalize().is_ok_and(|found| found == own)) {
        return name();
    }
    let here = env::current_dir().and_then(|here| here.canonicalize());
    let within = here.ok().and_then(|here| own.strip_prefix(here).ok().map(Path::to_path_buf));
    let path = within.unwrap_or(own).display().to_string();
    quoted(&if path.contains('/') { path } else { format!("./{path}") })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        for (word, expected) in
            [("/tmp/a-b_c", "/tmp/a-b_c"), ("/tmp/a b", "'/tmp/a b'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
