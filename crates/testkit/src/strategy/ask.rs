//! Random questions, most of them taken from what the world grants.

use proptest::prelude::*;
use proptest::sample::Index;
use rolewright_core::{Binding, Name, Rule, Subject, World};

use super::words::{API_GROUPS, GROUPS, NAMESPACES, OBJECTS, PATHS, RESOURCES, USERS, VERBS, word};
use crate::ask::Ask;

/// A question that is not yet tied to a world, so that both can shrink on their own.
#[derive(Clone, Debug)]
pub struct AskSeed {
    blind: Ask,
    from_world: bool,
    picks: [Index; 8],
    twist: Option<Twist>,
    more_groups: Vec<Name>,
}

/// What is changed in a question that would otherwise match.
#[derive(Clone, Copy, Debug)]
enum Twist {
    Verb,
    Group,
    Resource,
    Namespace,
    ClusterScope,
    Name,
    User,
}

/// A question for [`AskSeed::resolve`].
pub fn ask_seed() -> impl Strategy<Value = AskSeed> {
    let groups = prop_oneof![
        30 => prop::collection::vec(word(GROUPS), 0..3),
        1 => Just(vec![Name::new_static("system:masters")]),
    ];
    let blind = (
        (word(USERS), word(VERBS), word(API_GROUPS), word(RESOURCES), prop::option::weighted(0.15, word(PATHS))),
        (prop_oneof![Just(""), Just("log"), Just("scale"), Just("*"), Just("a/b")], maybe(NAMESPACES), maybe(OBJECTS)),
    )
        .prop_map(|((user, verb, group, resource, path), (subresource, namespace, name))| Ask {
            user,
            groups: Vec::new(),
            verb,
            group,
            resource,
            subresource: Name::new_static(subresource),
            namespace,
            name,
            path,
        });
    let twist = prop_oneof![
        24 => Just(None),
        1 => Just(Some(Twist::Verb)),
        1 => Just(Some(Twist::Group)),
        1 => Just(Some(Twist::Resource)),
        1 => Just(Some(Twist::Namespace)),
        1 => Just(Some(Twist::ClusterScope)),
        1 => Just(Some(Twist::Name)),
        1 => Just(Some(Twist::User)),
    ];
    (blind, prop::bool::weighted(0.9), any::<[Index; 8]>(), twist, groups).prop_map(
        |(blind, from_world, picks, twist, more_groups)| AskSeed { blind, from_world, picks, twist, more_groups },
    )
}

fn maybe(words: &'static [&'static str]) -> impl Strategy<Value = Name> {
    prop_oneof![Just(Name::default()), word(words)]
}

impl AskSeed {
    /// The question in this world.
    pub fn resolve(&self, world: &World) -> Ask {
        let mut ask = self.from_world.then(|| self.matching(world)).flatten().unwrap_or_else(|| self.blind.clone());
        if let Some(twist) = self.twist {
            self.twisted(&mut ask, twist);
        }
        ask.groups.extend(self.more_groups.iter().cloned());
        // Requests outside the resource API have neither namespace nor empty path on the wire.
        if let Some(path) = ask.path.take().filter(|path| !path.is_empty()) {
            ask = Ask { user: ask.user, groups: ask.groups, verb: ask.verb, path: Some(path), ..Ask::default() };
        }
        ask
    }

    /// A question that some binding, subject and rule of the world are made for.
    fn matching(&self, world: &World) -> Option<Ask> {
        let [binding, subject, rule, group, resource, verb, name, namespace] = self.picks;
        // Bindings that lead somewhere are better questions; the others are asked about as well, by chance.
        let leading: Vec<&Binding> = world
            .bindings
            .values()
            .filter(|b| !b.subjects.is_empty())
            .filter(|b| b.role().and_then(|key| world.roles.get(&key)).is_some_and(|role| !role.rules.is_empty()))
            .collect();
        let binding = pick(&leading, binding)?;
        let role = world.roles.get(&binding.role()?)?;
        let rule: &Rule = pick(&role.rules, rule)?;
        let mut ask = Ask { verb: concrete(pick(&rule.verbs, verb)?, "get"), ..self.blind.clone() };
        become_subject(&mut ask, pick(&binding.subjects, subject)?, binding.key.namespace());
        if let Some(url) = pick(&rule.non_resource_urls, resource) {
            ask.path = Some(Name::from(url.replace('*', pick(&["x", "", "/x"], name)?)));
            return Some(ask);
        }
        ask.path = None;
        ask.group = concrete(pick(&rule.api_groups, group)?, "acme.io");
        let pattern = pick(&rule.resources, resource)?;
        let (resource, subresource) = pattern.split_once('/').unwrap_or((pattern, ""));
        ask.resource = concrete(&Name::from(resource), "pods");
        ask.subresource = Name::from(subresource);
        ask.name = pick(&rule.resource_names, name).cloned().unwrap_or_else(|| self.blind.name.clone());
        ask.namespace = match binding.key.namespace() {
            "" => Name::new_static(pick(&["", "team-a", "team-b"], namespace)?),
            namespace => Name::from(namespace),
        };
        Some(ask)
    }

    fn twisted(&self, ask: &mut Ask, twist: Twist) {
        let other = &self.blind;
        match twist {
            Twist::Verb => ask.verb = other.verb.clone(),
            Twist::Group => ask.group = other.group.clone(),
            Twist::Resource => {
                ask.resource = other.resource.clone();
                ask.subresource = other.subresource.clone();
            }
            Twist::Namespace => ask.namespace = other.namespace.clone(),
            Twist::ClusterScope => ask.namespace = Name::default(),
            Twist::Name => ask.name = other.name.clone(),
            Twist::User => ask.user = other.user.clone(),
        }
    }
}

fn become_subject(ask: &mut Ask, subject: &Subject, binding_namespace: &str) {
    match subject.kind.as_str() {
        "Group" => ask.groups = vec![subject.name.clone()],
        "ServiceAccount" => {
            let namespace = if subject.namespace.is_empty() { binding_namespace } else { &subject.namespace };
            ask.user = Name::from(format!("system:serviceaccount:{namespace}:{}", subject.name));
        }
        _ => ask.user = subject.name.clone(),
    }
}

/// A wildcard asks about something; anything else asks about itself.
fn concrete(pattern: &Name, example: &'static str) -> Name {
    if pattern == "*" { Name::new_static(example) } else { pattern.clone() }
}

fn pick<T>(list: &[T], index: Index) -> Option<&T> {
    if list.is_empty() { None } else { Some(index.get(list)) }
}
