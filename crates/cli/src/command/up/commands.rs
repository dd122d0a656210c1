//! Commands that work as they are printed, in the terminal of whoever reads them.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::example::{self, Scene};

/// How commands reach the cluster from another terminal.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) kubeconfig: PathBuf,
    /// The context to name, where the kubeconfig has another current one.
    pub(super) context: Option<String>,
    /// Whether kubectl finds the kubeconfig by itself, in every terminal.
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
        let is_default = is_default(&kubeconfig, env::var_os("KUBECONFIG").as_deref(), env::home_dir().as_deref());
        Self { kubeconfig, context, is_default, program: program(), has_kubectl: on_path("kubectl").is_some() }
    }

    /// What makes the commands after it find the cluster.
    pub(super) fn export(&self) -> Option<String> {
        (!self.is_default).then(|| format!("export KUBECONFIG={}", quoted(&self.kubeconfig.display().to_string())))
    }

    /// What is missing for more of them.
    pub(super) fn remark(&self) -> &'static str {
        if self.has_kubectl { "" } else { " (kubectl is not on the PATH; with it there is more)" }
    }

    /// Five commands that work on what is there.
    pub(super) fn commands(&self, scene: Scene, port: &str) -> Vec<Command> {
        match (self.has_kubectl, scene) {
            (true, Scene::Example) => self.on_example(),
            (true, Scene::Empty) => self.on_nothing(),
            (true, Scene::Other) => self.on_anything(),
            (false, scene) => self.without_kubectl(scene, port),
        }
    }

    fn on_example(&self) -> Vec<Command> {
        let kubectl = self.kubectl();
        let annotate = format!("{kubectl} annotate ns bank rbac.crossplane.io/xrds=databases.acme.io");
        let explain = self.rolewright("explain");
        vec![
            command(
                "sam may, because shop enables databases; in bank, ben may not",
                format!("{kubectl} auth can-i create databases.acme.io -n shop --as sam"),
            ),
            command(
                "what would it grant to enable them there?",
                format!("{annotate} \\\n    --dry-run=client -o yaml |\n    {}", self.plan_of_input()),
            ),
            command("do it, and look here", annotate),
            command(
                "delete a role: it is back at once, with its rules",
                format!("{kubectl} delete clusterrole crossplane-ns-shop-edit"),
            ),
            command("where each of its rules comes from", format!("{explain} clusterrole/crossplane-ns-shop-edit")),
        ]
    }

    fn on_nothing(&self) -> Vec<Command> {
        let kubectl = self.kubectl();
        let role = example::FIRST_ROLE;
        vec![
            command("who you are", format!("{kubectl} auth whoami")),
            command(
                "a role with something that `view` has not",
                format!("{kubectl} create clusterrole {role} --verb=get,list --resource=nodes"),
            ),
            command(
                "its label lets `view` gather it; look here",
                format!("{kubectl} label clusterrole {role} rbac.authorization.k8s.io/aggregate-to-view=true"),
            ),
            self.explain_view(),
            self.plan(),
        ]
    }

    /// They only read.
    fn on_anything(&self) -> Vec<Command> {
        let kubectl = self.kubectl();
        vec![
            command("who you are", format!("{kubectl} auth whoami")),
            command(
                "the roles that are kept",
                format!("{kubectl} get clusterroles -l app.kubernetes.io/managed-by=rolewright"),
            ),
            self.explain_view(),
            self.plan(),
            self.explain_code(),
        ]
    }

    fn without_kubectl(&self, scene: Scene, port: &str) -> Vec<Command> {
        let program = &self.program;
        let (first, second) = if scene == Scene::Example {
            let first = command(
                "why may sam use databases in shop? where each rule of the role comes from",
                format!("{} clusterrole/crossplane-ns-shop-edit", self.rolewright("explain")),
            );
            let wish = "{apiVersion: v1, kind: Namespace, metadata: {name: bank,\n    \
                        annotations: {rbac.crossplane.io/xrds: databases.acme.io}}}";
            let second = command(
                "in bank, ben may not; what would it grant to enable them there?",
                format!("echo '{wish}' |\n    {}", self.plan_of_input()),
            );
            (first, second)
        } else {
            (self.explain_view(), self.plan())
        };
        vec![
            first,
            second,
            self.explain_code(),
            command(
                "the rights that the manager needs, as manifests",
                format!("{program} manifests rbac --aggregation exclusive"),
            ),
            command("the end, also by Ctrl-C here", format!("{program} down --port {port}")),
        ]
    }

    fn explain_view(&self) -> Command {
        command("where each rule of a role comes from", format!("{} clusterrole/view", self.rolewright("explain")))
    }

    fn explain_code(&self) -> Command {
        command("what a code in an event or a condition means", format!("{} explain RW0201", self.program))
    }

    fn plan(&self) -> Command {
        let plan = self.rolewright("plan");
        command("whether anything is left to write", format!("{plan} --aggregation exclusive"))
    }

    /// What manifests from a pipe would do here, where nobody but the manager aggregates.
    fn plan_of_input(&self) -> String {
        format!("{} --base live --aggregation exclusive -f -", self.rolewright("plan"))
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

fn command(what: &'static str, line: String) -> Command {
    Command { what, line }
}

/// Whether kubectl reads this file in every terminal without being told. A variable of this one says nothing of others.
fn is_default(kubeconfig: &Path, variable: Option<&OsStr>, home: Option<&Path>) -> bool {
    let same = |other: &Path| match (other.canonicalize(), kubeconfig.canonicalize()) {
        (Ok(other), Ok(ours)) => other == ours,
        _ => other == kubeconfig,
    };
    variable.is_none_or(OsStr::is_empty) && home.is_some_and(|home| same(&home.join(".kube").join("config")))
}

/// `rolewright`, if that is this program; or else where it is, from wherever that is read.
fn program() -> String {
    let name = || "rolewright".to_owned();
    let Ok(own) = env::current_exe() else { return name() };
    let own = own.canonicalize().unwrap_or(own);
    if on_path("rolewright").is_some_and(|found| found.canonicalize().is_ok_and(|found| found == own)) {
        return name();
    }
    quoted(&own.display().to_string())
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

    #[test]
    fn only_what_every_terminal_finds_need_not_be_exported() {
        let (home, config) = (Path::new("/nobody/here"), Path::new("/nobody/here/.kube/config"));
        for (file, variable, expected) in [
            (config, None, true),
            (config, Some(""), true),
            (config, Some("/nobody/here/.kube/config"), false),
            (Path::new("/tmp/a"), Some("/tmp/a"), false),
            (Path::new("/tmp/a"), None, false),
        ] {
            assert_eq!(is_default(file, variable.map(OsStr::new), Some(home)), expected, "{file:?} {variable:?}");
        }
    }
}
