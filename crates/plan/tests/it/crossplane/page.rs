//! What is there, as a page: everything that we say of an object and nothing else.

use rolewright_core::{Labels, Rule};
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, RoleBody};
use rolewright_plan::{Live, Name};

use super::cluster::Cluster;

impl Cluster {
    /// Our objects whose names begin like this, by kind and name.
    ///
    /// Labels are shortened: `rbac.crossplane.io/` is left out, and so is the value `true`; that an object is ours goes
    /// without saying. `V` is `get,list,watch`, `S` what a provider does.
    pub(super) fn page(&self, prefix: &str) -> String {
        let mut page = String::new();
        for kind in [&CLUSTER_ROLE, &CLUSTER_ROLE_BINDING] {
            let all = self.engine.snapshot().all(kind);
            for live in all.filter(|live| live.meta.ours.is_some() && live.meta.name.starts_with(prefix)) {
                let kind = if *kind == CLUSTER_ROLE { "role" } else { "binding" };
                page.extend([kind, " ", live.meta.name.as_str(), "\n"]);
                page.extend(shown(live).iter().flat_map(|line| ["  ", line, "\n"]));
            }
        }
        page
    }

    /// Compares the page with what it should be, whatever the indentation in the test.
    #[track_caller]
    pub(super) fn expect(&self, prefix: &str, expected: &str) {
        let page = self.page(prefix);
        let plain = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
        };
        assert_eq!(plain(&page), plain(expected), "the page is\n{page}");
    }

    /// The names of our objects that begin like this.
    pub(super) fn names(&self, prefix: &str) -> Vec<String> {
        let page = self.page(prefix);
        page.lines().filter(|line| !line.starts_with(' ')).map(ToOwned::to_owned).collect()
    }
}

fn shown(live: &Live) -> Vec<String> {
    let mut lines = Vec::new();
    let labels = labels(&live.meta.labels);
    if !labels.is_empty() {
        lines.push(format!("labels {labels}"));
    }
    // Their order says nothing.
    let mut owners: Vec<_> = live.meta.owners.iter().collect();
    owners.sort();
    for owner in owners {
        let controls = if owner.controller { "controlled by" } else { "owned by" };
        assert_eq!(owner.uid, super::world::uid(&owner.kind, &owner.name), "a uid that nobody has");
        lines.push(format!("{controls} {} {} {}", owner.api_version, owner.kind, owner.name));
    }
    if let Some(role) = live.body::<RoleBody>() {
        match &role.aggregation {
            Some(selectors) => lines.extend(selectors.iter().map(|selector| {
                assert!(selector.match_expressions.is_empty());
                format!("selects {}", self::labels(&selector.match_labels))
            })),
            None => lines.extend(role.rules.iter().map(rule)),
        }
    }
    if let Some(binding) = live.body::<BindingBody>() {
        assert_eq!(
            (binding.role_ref.api_group.as_str(), binding.role_ref.kind.as_str()),
            (rolewright_core::RBAC_GROUP, "ClusterRole")
        );
        lines.push(format!("to {}", binding.role_ref.name));
        lines.extend(binding.subjects.iter().map(|subject| {
            let place = if subject.namespace.is_empty() { String::new() } else { format!("{}:", subject.namespace) };
            format!("for {} {place}{}", subject.kind, subject.name)
        }));
    }
    lines
}

fn labels(labels: &Labels) -> String {
    let ours = |(key, value): &(&Name, &Name)| !(*key == "app.kubernetes.io/managed-by" && *value == "rolewright");
    let short = |(key, value): (&Name, &Name)| {
        let key = key.strip_prefix("rbac.crossplane.io/").unwrap_or(key);
        if value == "true" { key.to_owned() } else { format!("{key}={value}") }
    };
    labels.iter().filter(ours).map(short).collect::<Vec<_>>().join(" ")
}

fn rule(rule: &Rule) -> String {
    let list = |names: &[Name]| {
        names.iter().map(|name| if name.is_empty() { "core" } else { name.as_str() }).collect::<Vec<_>>().join(",")
    };
    let verbs = match list(&rule.verbs).as_str() {
        "get,list,watch" => "V".to_owned(),
        "get,list,watch,update,patch,create" => "S".to_owned(),
        verbs => verbs.to_owned(),
    };
    if rule.resources.is_empty() {
        return format!("{verbs} {}", list(&rule.non_resource_urls));
    }
    let names =
        if rule.resource_names.is_empty() { String::new() } else { format!(" ({})", list(&rule.resource_names)) };
    format!("{verbs} {} {}{names}", list(&rule.api_groups), list(&rule.resources))
}
