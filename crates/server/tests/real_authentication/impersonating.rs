//! Impersonation: random rights, random wishes.

use std::time::Duration;

use rolewright_core::{Authorizer, Binding, Request, Role, RoleRef, Rule, Subject, User, World};
use rolewright_server::authn::{Identity, Impersonation, ImpersonationModes, forbidden, self_subject_review};
use rolewright_testkit::wire::{BindingObject, RoleObject};
use serde_json::{Value, json};

use crate::Real;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const AUTHN: &str = "authentication.k8s.io";
const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn rights() -> Vec<Rule> {
    let mut all = vec![
        Rule::resources([""], ["users"], ["impersonate"]),
        Rule::resources([""], ["users"], ["impersonate"]).named(["alice"]),
        Rule::resources([""], ["groups"], ["impersonate"]),
        Rule::resources([""], ["serviceaccounts"], ["impersonate"]),
        Rule::resources([AUTHN], ["uids", "userextras/acme.io/scope"], ["impersonate"]),
        Rule::resources([AUTHN], ["users"], ["impersonate:user-info"]),
        Rule::resources([AUTHN], ["groups"], ["impersonate:user-info"]),
        Rule::resources([AUTHN], ["groups"], ["impersonate:user-info"]).named(["*"]),
        Rule::resources([AUTHN], ["groups"], ["impersonate:user-info"]).named(["g", "system:masters"]),
        Rule::resources([AUTHN], ["uids", "userextras/acme.io/scope"], ["impersonate:user-info"]),
        Rule::resources([AUTHN], ["serviceaccounts"], ["impersonate:serviceaccount"]),
        Rule::resources([AUTHN], ["nodes"], ["impersonate:arbitrary-node"]),
    ];
    for mode in ["user-info", "serviceaccount", "arbitrary-node"] {
        all.push(Rule::resources([AUTHN], ["selfsubjectreviews"], [&*format!("impersonate-on:{mode}:create")]));
    }
    all
}

fn wish(dice: &mut Dice) -> Impersonation {
    let users = [
        "alice",
        "alice",
        "bob <&>",
        "system:anonymous",
        "system:serviceaccount:real:robot",
        "system:serviceaccount:Real:robot",
        "system:serviceaccount:a:b:c",
        "system:node:n1",
        "system:node:N1",
        "",
    ];
    let groups: [&[&str]; 7] =
        [&[], &[], &["g"], &["g", "h", "i", "j"], &["system:masters"], &[""], &["system:unauthenticated"]];
    let keys = ["acme.io/scope", "acme.io/other", "scope", "acme.io/", "ACME.io/x y", ""];
    let mut wish = Impersonation {
        user: dice.one_of(&users).to_owned(),
        uid: dice.one_of(&["", "", "", "7"]).to_owned(),
        groups: dice.one_of(&groups).iter().map(|group| (*group).to_owned()).collect(),
        ..Impersonation::default()
    };
    if dice.below(4) == 0 {
        let value = dice.one_of(&["v", "v", ""]).to_owned();
        wish.extra.insert(dice.one_of(&keys).to_owned(), vec![value]);
    }
    wish
}

fn header(wish: &Impersonation, token: &str) -> Value {
    let mut header = json!({"Authorization": format!("Bearer {token}")});
    if !wish.user.is_empty() {
        header["Impersonate-User"] = json!(wish.user);
    }
    if !wish.uid.is_empty() {
        header["Impersonate-Uid"] = json!(wish.uid);
    }
    for (key, values) in &wish.extra {
        let escaped = key.replace('/', "%2F").replace(' ', "%20");
        header[format!("Impersonate-Extra-{escaped}")] = json!(values[0]);
    }
    header
}

/// What our server would do with the request.
fn answer(wish: &Value, groups: &[&str], as_whom: &Identity, modes: &ImpersonationModes, may: &Authorizer) -> Value {
    let mut headers = hyper::HeaderMap::new();
    for (name, value) in wish.as_object().unwrap() {
        let name: hyper::header::HeaderName = name.to_lowercase().parse().unwrap();
        headers.append(name, value.as_str().unwrap().parse().unwrap());
    }
    for group in groups {
        headers.append("impersonate-group", group.parse().unwrap());
    }
    let request = Request::resource("create", AUTHN, "selfsubjectreviews");
    let allows = |user: &User, request: &Request<'_>| {
        if may.allows(user, request) { Ok(()) } else { Err(String::new()) }
    };
    let identity = match Impersonation::from_headers(&headers) {
        Err(failure) => return failure.to_json(),
        Ok(None) => as_whom.clone(),
        Ok(Some(wish)) => match modes.impersonate(as_whom, &wish, &request, allows) {
            Err(failure) => return failure.to_json(),
            Ok(impersonated) => impersonated.identity,
        },
    };
    if identity.user.is_superuser() || may.allows(&identity.user, &request) {
        return self_subject_review(&identity, jiff::Timestamp::now());
    }
    forbidden(&identity.user.name, &request, "").to_json()
}

fn comparable(mut answer: Value) -> Value {
    if answer["kind"] == "SelfSubjectReview" {
        answer["metadata"] = json!({});
        if let Some(extra) = answer["status"]["userInfo"].get_mut("extra").and_then(Value::as_object_mut) {
            extra.remove("authentication.kubernetes.io/credential-id");
        }
        if answer["status"]["userInfo"]["extra"] == json!({}) {
            answer["status"]["userInfo"].as_object_mut().unwrap().remove("extra");
        }
    }
    answer
}

pub(crate) fn decisions_are_alike(real: &mut Real) {
    let mut dice = Dice(7);
    let (mut agents, mut world) = (Vec::new(), rolewright_core::bootstrap::world());
    for n in 0..16 {
        let name = format!("agent-{n}");
        let density = 1 + n % 3;
        let rules: Vec<Rule> = rights().into_iter().filter(|_| dice.below(3) < density).collect();
        let role = Role::cluster(name.as_str(), rules);
        let subject = Subject::service_account("real", name.as_str());
        let binding = Binding::cluster(name.as_str(), RoleRef::cluster_role(name.as_str()), [subject]);
        real.create(&format!("{RBAC}/clusterroles"), &serde_json::to_value(RoleObject::from(&role)).unwrap());
        real.create(
            &format!("{RBAC}/clusterrolebindings"),
            &serde_json::to_value(BindingObject::from(&binding)).unwrap(),
        );
        let account = real.create("/api/v1/namespaces/real/serviceaccounts", &json!({"metadata": {"name": name}}));
        let path = format!("/api/v1/namespaces/real/serviceaccounts/{name}/token");
        let token = real.create(&path, &json!({}))["status"]["token"].as_str().unwrap().to_owned();
        let mut identity = Identity::new(User::service_account("real", &name));
        account["metadata"]["uid"].as_str().unwrap().clone_into(&mut identity.uid);
        agents.push((identity, token));
        world = world.with(World::new([role], [binding]));
    }
    // WHY: the server's authorizer sees new roles with a delay.
    std::thread::sleep(Duration::from_secs(2));
    let authorizer = Authorizer::new(&world);
    let (mut allowed, mut refused) = (0, 0);
    for (identity, token) in &agents {
        let modes = ImpersonationModes::default();
        for _ in 0..60 {
            let wish = wish(&mut dice);
            let groups: Vec<&str> = wish.groups.iter().map(String::as_str).collect();
            let header = header(&wish, token);
            let theirs = real.send("POST", WHO_AM_I, Some(&json!({})), &header, &groups);
            let mine = answer(&header, &groups, identity, &modes, &authorizer);
            if theirs.status == 201 {
                allowed += 1;
            } else {
                refused += 1;
            }
            assert_eq!(comparable(mine), comparable(theirs.body), "{wish:?} by {}", identity.user.name);
        }
    }
    assert!(allowed > 100 && refused > 100, "{allowed} allowed, {refused} refused");
}
