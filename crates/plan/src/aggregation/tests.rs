use rolewright_core::aggregate::size::Limits;
use serde_json::{Value, json};

use super::*;
use crate::Engine;
use crate::engine::{News, Next};
use crate::op::Write;
use crate::simulation::Simulation;
use crate::snapshot::Event;
use crate::vocabulary::annotation;

/// A cluster in memory with the module on it.
struct Cluster {
    engine: Engine,
    revision: u64,
    now: Time,
}

impl Cluster {
    fn new(mode: Mode, roles: &[Value]) -> Self {
        Self::with(ClusterRoleAggregation::new(mode, Fitter::default()), roles)
    }

    fn with(module: ClusterRoleAggregation, roles: &[Value]) -> Self {
        let engine = Engine::new([Box::new(module) as Box<dyn Module>]);
        let mut cluster = Self { engine, revision: 0, now: Time(0) };
        let all = roles.iter().map(|role| cluster.live(role)).collect();
        cluster.engine.take([Event::All(&CLUSTER_ROLE, all)], cluster.now);
        cluster
    }

    fn live(&mut self, role: &Value) -> Live {
        let newest = self.engine.snapshot().all(&CLUSTER_ROLE).map(|live| live.meta.resource_version).max();
        self.revision = newest.unwrap_or(0).max(self.revision) + 1;
        let mut live = Live::read(&CLUSTER_ROLE, role).unwrap();
        live.meta.resource_version = self.revision;
        live.meta.uid = live.meta.name.clone();
        live
    }

    fn set(&mut self, role: &Value) {
        let live = self.live(role);
        self.engine.take([Event::Set(&CLUSTER_ROLE, live)], self.now);
    }

    fn remove(&mut self, name: &str) {
        let live = self.live(&role(name, &[], &[]));
        self.engine.take([Event::Gone(&CLUSTER_ROLE, live.meta)], self.now);
    }

    /// Follows the plans; returns what was written, with the reasons.
    fn settle(&mut self) -> Vec<(String, String)> {
        let written = Simulation::on(self.engine.snapshot()).settle(&mut self.engine, self.now);
        assert!(Simulation::on(self.engine.snapshot()).settle(&mut self.engine, self.now).is_empty(), "it settles");
        written
            .into_iter()
            .map(|(_, op)| {
                assert!(matches!(op.write, Write::Rules { .. }), "{op}");
                (op.object.name.to_string(), op.because)
            })
            .collect()
    }

    fn written(&mut self) -> Vec<String> {
        self.settle().into_iter().map(|(name, _)| name).collect()
    }

    /// The resources that a role's rules are about.
    fn holds(&self, name: &str) -> Vec<String> {
        let key = ObjectRef::cluster(&CLUSTER_ROLE, name);
        let role: &RoleBody = self.engine.snapshot().body(&key).unwrap();
        role.rules.iter().flat_map(|rule| &rule.resources).map(ToString::to_string).collect()
    }

    fn told(&mut self) -> Vec<String> {
        let news = self.engine.news().into_iter().filter_map(|news| match news {
            News::Raised(_, diagnostic) => Some(format!("+ {diagnostic}")),
            News::Cleared(_, diagnostic) => Some(format!("- {diagnostic}")),
            News::Converged(..) => None,
        });
        news.collect()
    }
}

/// A role with labels and a rule for each resource.
fn role(name: &str, labels: &[&str], resources: &[&str]) -> Value {
    let labels: serde_json::Map<String, Value> = labels.iter().map(|key| ((*key).to_owned(), json!("true"))).collect();
    let rules: Vec<Value> =
        resources.iter().map(|on| json!({"apiGroups": [""], "resources": [on], "verbs": ["get"]})).collect();
    json!({"metadata": {"name": name, "labels": labels}, "rules": rules})
}

fn aggregated(name: &str, labels: &[&str], selects: &[&str], resources: &[&str]) -> Value {
    let mut role = role(name, labels, resources);
    let selectors: Vec<Value> = selects.iter().map(|key| json!({"matchLabels": {*key: "true"}})).collect();
    role["aggregationRule"] = json!({"clusterRoleSelectors": selectors});
    role
}

#[test]
fn one_labelled_role_extends_others_and_its_removal_undoes_it() {
    let mut cluster = Cluster::new(
        Mode::Exclusive,
        &[
            aggregated("admin", &[], &["to-admin", "to-edit"], &[]),
            aggregated("edit", &["to-admin"], &["to-edit"], &[]),
            role("pods", &["to-edit"], &["pods"]),
        ],
    );
    assert_eq!(cluster.written(), ["admin", "edit"]);
    cluster.set(&role("etcd", &["to-admin"], &["etcds"]));
    assert_eq!(cluster.settle(), [("admin".to_owned(), "+1 rule from `etcd`".to_owned())]);
    assert_eq!(cluster.holds("admin"), ["pods", "etcds"]);
    assert_eq!(cluster.holds("edit"), ["pods"]);
    cluster.remove("etcd");
    assert_eq!(cluster.settle(), [("admin".to_owned(), "-1 rule".to_owned())]);
    assert_eq!(cluster.holds("admin"), ["pods"]);
}

#[test]
fn what_does_not_change_a_union_writes_nothing() {
    let mut cluster = Cluster::new(
        Mode::Exclusive,
        &[aggregated("a", &[], &["to-a"], &["pods"]), role("pods", &["to-a"], &["pods"])],
    );
    assert!(cluster.written().is_empty(), "a restart on a settled cluster");
    cluster.set(&role("pods", &["to-a", "other"], &["pods"]));
    cluster.set(&role("same", &["to-a"], &["pods"]));
    cluster.set(&role("unrelated", &[], &["secrets"]));
    assert!(cluster.written().is_empty());
}

#[test]
fn defect_a_an_empty_union_clears_the_role() {
    let mut cluster = Cluster::new(Mode::Exclusive, &[aggregated("a", &[], &["nobody"], &["secrets"])]);
    assert_eq!(cluster.settle(), [("a".to_owned(), "-1 rule".to_owned())]);
    assert!(cluster.holds("a").is_empty());
}

#[test]
fn defects_b_and_c_a_circle_lets_go_of_what_nobody_grants() {
    let mut cluster = Cluster::new(
        Mode::Exclusive,
        &[
            aggregated("a", &["b"], &["a", "leaf-a"], &[]),
            aggregated("b", &["a"], &["b", "leaf-b"], &[]),
            role("c", &["leaf-a"], &["cs"]),
            role("d", &["leaf-b"], &["ds"]),
        ],
    );
    assert_eq!(cluster.written(), ["a", "b"]);
    assert_eq!(cluster.holds("a").len(), 2);
    assert_eq!(
        cluster.told(),
        ["+ RW0102 ClusterRole/a: it selects itself over `b`", "+ RW0102 ClusterRole/b: it selects itself over `a`"]
    );
    cluster.remove("c");
    assert_eq!(cluster.written(), ["a", "b"], "one write each");
    assert_eq!(cluster.holds("a"), ["ds"]);
    cluster.remove("d");
    assert_eq!(cluster.written(), ["a", "b"]);
    assert!(cluster.holds("a").is_empty() && cluster.holds("b").is_empty());
    assert!(cluster.told().is_empty(), "the circle was told once");
    cluster.set(&aggregated("b", &[], &["b"], &[]));
    cluster.settle();
    assert_eq!(cluster.told().len(), 2, "it is open again");
}

#[test]
fn defect_d_a_chain_settles_in_one_step() {
    let mut cluster = Cluster::new(
        Mode::Exclusive,
        &[
            aggregated("a", &[], &["1"], &[]),
            aggregated("b", &["1"], &["2"], &[]),
            aggregated("c", &["2"], &["3"], &[]),
        ],
    );
    assert!(cluster.written().is_empty());
    cluster.set(&role("leaf", &["3"], &["pods"]));
    assert_eq!(cluster.written(), ["a", "b", "c"], "each once");
}

#[test]
fn defect_f_a_union_that_is_too_large_is_told_and_revocations_arrive() {
    let limits = Limits { stored: 400, overhead: 0, ..Limits::default() };
    let module = ClusterRoleAggregation::new(Mode::Exclusive, Fitter { limits, ..Fitter::default() });
    let all: Vec<String> = (0..20).map(|n| format!("resources-{n}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut cluster = Cluster::with(module, &[aggregated("a", &[], &["to-a"], &[]), role("many", &["to-a"], &all)]);
    assert_eq!(cluster.written(), ["a"]);
    let held = cluster.holds("a");
    assert!(!held.is_empty() && held.len() < 20, "{held:?}");
    let told = cluster.told();
    assert!(told.iter().any(|told| told.starts_with("+ RW0101 ClusterRole/a: ")), "{told:?}");
    cluster.set(&role("many", &["to-a"], &all[1..]));
    assert_eq!(cluster.written(), ["a"]);
    assert!(!cluster.holds("a").contains(&"resources-0".to_owned()));
    cluster.set(&role("many", &["to-a"], &["pods"]));
    assert_eq!(cluster.written(), ["a"]);
    assert!(cluster.told().iter().any(|told| told.starts_with("- RW0101")));
}

#[test]
fn a_selector_that_cannot_be_used_leaves_the_others() {
    let mut bad = aggregated("a", &[], &["to-a"], &[]);
    bad["aggregationRule"]["clusterRoleSelectors"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"matchExpressions": [{"key": "x", "operator": "Like", "values": ["y"]}]}));
    let mut cluster = Cluster::new(Mode::Exclusive, &[bad, role("pods", &["to-a"], &["pods"])]);
    assert_eq!(cluster.written(), ["a"]);
    let told = cluster.told();
    assert!(
        matches!(told.as_slice(), [told] if told.starts_with("+ RW0103 ClusterRole/a: selector 0 selects nothing")),
        "{told:?}"
    );
}

#[test]
fn a_paused_role_waits() {
    let mut paused = aggregated("a", &[], &["to-a"], &[]);
    paused["metadata"]["annotations"] = json!({annotation::PAUSED: "true"});
    let mut cluster = Cluster::new(Mode::Exclusive, &[paused, role("pods", &["to-a"], &["pods"])]);
    assert!(cluster.written().is_empty());
    assert_eq!(cluster.told(), ["+ RW0002 ClusterRole/a: one write waits"]);
    cluster.set(&aggregated("a", &[], &["to-a"], &[]));
    assert_eq!(cluster.written(), ["a"]);
    assert_eq!(cluster.told(), ["- RW0002 ClusterRole/a: one write waits"]);
}

#[test]
fn whoever_foretells_knows_nothing_of_pauses() {
    let mut paused = aggregated("a", &[], &["to-a"], &[]);
    paused["metadata"]["annotations"] = json!({annotation::PAUSED: "true"});
    let mut cluster = Cluster::new(Mode::Foretell, &[paused, role("pods", &["to-a"], &["pods"])]);
    assert_eq!(cluster.written(), ["a"]);
    assert!(cluster.told().is_empty());
}

#[test]
fn whoever_observes_never_writes_and_tells_what_lasts() {
    let mut cluster = Cluster::new(
        Mode::Observe,
        &[aggregated("a", &[], &["to-a"], &["secrets"]), role("pods", &["to-a"], &["pods"])],
    );
    assert!(cluster.written().is_empty());
    assert!(cluster.told().is_empty(), "Kubernetes' controller gets its time");
    let Next::Wait(Some(at)) = cluster.engine.next(cluster.now) else { panic!("it looks again") };
    assert_eq!(at, Time(0) + PATIENCE);
    cluster.now = at;
    assert!(cluster.written().is_empty());
    assert_eq!(
        cluster.told(),
        ["+ RW0104 ClusterRole/a: 1 rule is missing, 1 rule is there that no selected role grants"]
    );
    cluster.set(&aggregated("a", &[], &["to-a"], &["pods"]));
    assert!(cluster.written().is_empty());
    assert_eq!(cluster.told().len(), 1, "and when it is over");
}

#[test]
fn a_role_that_is_no_longer_aggregated_keeps_its_rules() {
    let mut cluster = Cluster::new(
        Mode::Exclusive,
        &[aggregated("a", &[], &["to-a"], &["pods"]), role("pods", &["to-a"], &["pods"])],
    );
    cluster.settle();
    cluster.set(&role("a", &[], &["pods"]));
    cluster.remove("pods");
    assert!(cluster.written().is_empty());
    assert_eq!(cluster.holds("a"), ["pods"]);
}
