//! Who tries, and what each of them holds at the start.

use anyhow::Result;
use rolewright_core::{Name, RBAC_GROUP, Rule};
use serde_json::{Value, json};

use crate::servers::{Ask, Target, Who};
use crate::{NAMESPACE, RBAC};

/// Somebody who tries to get more than they hold.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) name: &'static str,
    /// Bound in the namespace only.
    pub(crate) local: bool,
    pub(crate) rules: Vec<Rule>,
    /// What they are trusted with beyond their own rights.
    pub(crate) trust: Trust,
}

/// Kubernetes' ways around the guards: rights that let their holder hand out more than they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing.
    None,
    /// One role by name.
    One,
    /// Everything in the namespace.
    Namespace,
    /// Everything.
    All,
}

const ROLES: [&str; 2] = ["roles", "clusterroles"];
const WRITES: [&str; 7] = ["create", "update", "patch", "get", "list", "delete", "deletecollection"];

fn writes() -> Rule {
    Rule::resources([RBAC_GROUP], ["roles", "clusterroles", "rolebindings", "clusterrolebindings"], WRITES)
}

fn secrets() -> Rule {
    Rule::resources([""], ["secrets"], ["get", "list"])
}

fn on_roles(verb: &str) -> Rule {
    Rule::resources([RBAC_GROUP], ROLES, [verb])
}

/// Everybody; `named` are the roles that `escalator-one` may widen.
pub(crate) fn actors(named: Vec<Name>) -> Vec<Actor> {
    let actor = |name, rules: &[Rule], trust| Actor { name, local: false, rules: rules.to_vec(), trust };
    let local = |name, rules: &[Rule], trust| Actor { local: true, ..actor(name, rules, trust) };
    let anything = Rule::resources(["*"], ["*"], ["*"]);
    let partial =
        [Rule::resources([""], ["secrets"], ["list"]), Rule::resources([""], ["secrets"], ["get"]).named(["a"])];
    vec![
        actor("nobody", &[], Trust::None),
        actor("reader", &[Rule::resources([RBAC_GROUP], ["*"], ["get", "list", "watch"]), secrets()], Trust::None),
        actor("writer", &[writes()], Trust::None),
        actor("partial", &[&[writes()], &partial[..]].concat(), Trust::None),
        actor("exact", &[writes(), secrets()], Trust::None),
        actor("paths", &[writes(), Rule::urls(["/metrics", "/logs/*"], ["get"])], Trust::None),
        actor("all-but-paths", &[writes(), Rule::resources(["", "apps"], ["*"], ["*"])], Trust::None),
        local("local", &[writes(), secrets()], Trust::None),
        // WHY: `bind` on the binding is a verb that means nothing, as is `escalate` on the wrong group.
        actor(
            "mistaken",
            &[
                writes(),
                Rule::resources([RBAC_GROUP], ["rolebindings", "clusterrolebindings"], ["bind", "escalate"]),
                Rule::resources(["", "rbac"], ROLES, ["bind", "escalate"]),
                Rule::resources([RBAC_GROUP], ["roles/*", "clusterroles/status"], ["*"]),
                Rule::urls(["*"], ["escalate", "bind"]),
            ],
            Trust::None,
        ),
        actor("escalator", &[writes(), on_roles("escalate")], Trust::All),
        actor("escalator-one", &[writes(), Rule { resource_names: named.into(), ..on_roles("escalate") }], Trust::All),
        actor("binder", &[writes(), on_roles("bind")], Trust::All),
        actor("binder-one", &[writes(), on_roles("bind").named(["prize-secrets"])], Trust::One),
        local("local-escalator", &[writes(), on_roles("escalate")], Trust::Namespace),
        local("local-binder", &[writes(), on_roles("bind")], Trust::Namespace),
        actor("star", &[Rule::resources([RBAC_GROUP], ["*"], ["*"])], Trust::All),
        actor("everything", &[anything, Rule::urls(["*"], ["*"])], Trust::All),
    ]
}

impl Actor {
    pub(crate) fn who(&self) -> Who {
        Who::user(self.name)
    }

    /// The name under which they would profit: they begin with nothing.
    pub(crate) fn accomplice(&self) -> String {
        format!("{}-accomplice", self.name)
    }

    /// Gives them what they hold at the start.
    pub(crate) async fn set_up(&self, target: &Target) -> Result<()> {
        let subject = json!({"kind": "User", "name": self.name});
        let (place, kind) =
            if self.local { (format!("{RBAC}/namespaces/{NAMESPACE}/"), "") } else { (format!("{RBAC}/"), "Cluster") };
        let [roles, bindings] = [format!("{kind}Role"), format!("{kind}RoleBinding")];
        let name = format!("holds-{}", self.name);
        let role = json!({"metadata": {"name": name}, "rules": self.rules});
        let binding =
            json!({"metadata": {"name": name}, "subjects": [subject], "roleRef": {"kind": roles, "name": name}});
        target.must(&Ask::new("POST", format!("{place}{}s", roles.to_lowercase()), &role)).await?;
        target.must(&Ask::new("POST", format!("{place}{}s", bindings.to_lowercase()), &binding)).await?;
        Ok(())
    }

    /// Waits until the server's authorizer knows.
    pub(crate) async fn settled(&self, target: &Target) -> Result<()> {
        let review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        for rule in &self.rules {
            // The first of everything is enough: one role arrives as a whole.
            let first = |list: &[Name]| list.first().cloned().unwrap_or_default();
            let spec = if rule.resources.is_empty() {
                json!({"nonResourceAttributes": {"verb": first(&rule.verbs), "path": "/metrics"}})
            } else {
                let resource = first(&rule.resources);
                let (resource, sub) = resource.split_once('/').unwrap_or((&resource, ""));
                json!({"resourceAttributes": {
                    "verb": first(&rule.verbs), "group": first(&rule.api_groups), "resource": resource, "subresource": sub,
                    "namespace": NAMESPACE, "name": first(&rule.resource_names),
                }})
            };
            if rule.resources.iter().any(|resource| resource.ends_with("/*")) {
                continue;
            }
            let ask = Ask::new("POST", review, &json!({"spec": spec}));
            target.until(&self.who(), &ask, |answer| answer.body["status"]["allowed"] == Value::Bool(true)).await?;
        }
        Ok(())
    }
}
