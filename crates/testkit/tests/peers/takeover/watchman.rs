//! Somebody who asks all the time whether everybody may still do what they may.

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use rolewright_core::{Access, Principal, Scope};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::servers::{Home, JSON};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
/// Questions about everybody.
const QUESTIONS: usize = 14;
/// Questions at the same time.
const TOGETHER: usize = 4;

pub(crate) struct Watchman {
    end: watch::Sender<bool>,
    watching: JoinHandle<Result<usize>>,
}

impl Watchman {
    /// Begins to ask what people, Crossplane and providers may do.
    pub(crate) fn start(home: &Home, access: &Access) -> Self {
        Self::start_where(home, access, |_, _, _, _| true)
    }

    /// The same, only for what is `asked`: whose, and the group, the resource and the verb.
    pub(crate) fn start_where(
        home: &Home,
        access: &Access,
        asked: impl Fn(&Principal, &str, &str, &str) -> bool,
    ) -> Self {
        let (end, ended) = watch::channel(false);
        let (home, questions) = (home.guest(), questions(access, asked));
        let watching = tokio::spawn(async move {
            let mut rounds = 0;
            loop {
                for some in questions.chunks(TOGETHER) {
                    try_join_all(some.iter().map(|question| ask(&home, question))).await?;
                }
                rounds += 1;
                // The last round begins after the end was asked for.
                if *ended.borrow() && rounds > 1 {
                    return Ok(rounds * questions.len());
                }
            }
        });
        Self { end, watching }
    }

    /// An error if anybody ever was refused.
    pub(crate) async fn end(self) -> Result<()> {
        self.end.send_replace(true);
        let asked = self.watching.await??;
        ensure!(asked > 0, "somebody was asked about");
        Ok(())
    }
}

async fn ask(home: &Home, question: &Value) -> Result<()> {
    let answer = home.done("POST", REVIEWS, JSON, question.to_string().into_bytes()).await?;
    ensure!(answer["status"]["allowed"] == true, "access was interrupted: {question}");
    Ok(())
}

fn questions(access: &Access, asked: impl Fn(&Principal, &str, &str, &str) -> bool) -> Vec<Value> {
    let of_interest = |who: &Principal| {
        let name = match who {
            Principal::User(name) | Principal::Group(name) => name,
        };
        name.starts_with("crossplane") || name.starts_with("system:serviceaccount:crossplane-system:")
    };
    let rights = access.iter().filter(|(who, scope, _)| of_interest(who) && **scope == Scope::Cluster);
    let mut questions = Vec::new();
    for (who, _, held) in rights {
        let mut all = Vec::new();
        for rule in held.to_rules() {
            for (group, resource) in
                rule.api_groups.iter().flat_map(|group| rule.resources.iter().map(move |r| (group, r)))
            {
                let verbs = rule.verbs.iter().filter(|verb| asked(who, group, resource, verb));
                all.extend(verbs.map(|verb| question(who, group, resource, verb)));
            }
        }
        let step = all.len().div_ceil(QUESTIONS).max(1);
        questions.extend(all.into_iter().step_by(step));
    }
    questions
}

fn question(who: &Principal, group: &str, resource: &str, verb: &str) -> Value {
    let some = |text: &str| if text == "*" { "anything".to_owned() } else { text.to_owned() };
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let verb = if verb == "*" { "delete" } else { verb };
    let attributes =
        json!({"group": group, "resource": some(resource), "subresource": subresource, "verb": verb, "name": "one"});
    let mut spec = json!({"resourceAttributes": attributes});
    match who {
        Principal::User(name) => spec["user"] = name.as_str().into(),
        Principal::Group(name) => {
            spec["user"] = "somebody".into();
            spec["groups"] = json!([name.as_str()]);
        }
    }
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})
}

/// Whether somebody may do something.
pub(super) async fn may(home: &Home, user: &str, group: &str, resource: &str, verb: &str) -> Result<bool> {
    let question = question(&Principal::User(user.into()), group, resource, verb);
    let answer = home.done("POST", REVIEWS, JSON, question.to_string().into_bytes()).await?;
    answer["status"]["allowed"].as_bool().context("a review has an answer")
}
