//! What leases mean for writes.

use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::PostParams;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::*;

/// A connection on which no write is ever answered; it tells how long each of them was waited for.
#[derive(Clone)]
struct Deaf<S> {
    inner: S,
    waited: mpsc::UnboundedSender<Duration>,
}

/// A request that is waited for.
struct Wait {
    since: Instant,
    waited: mpsc::UnboundedSender<Duration>,
}

impl Drop for Wait {
    fn drop(&mut self) {
        // Nobody listens any more once the test is over.
        let _ = self.waited.send(self.since.elapsed());
    }
}

impl<S> Service<Request<Body>> for Deaf<S>
where
    S: Service<Request<Body>>,
    S::Response: Send + 'static,
    S::Error: Send + 'static,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.method() != Method::PATCH {
            return self.inner.call(request).boxed();
        }
        let wait = Wait { since: Instant::now(), waited: self.waited.clone() };
        async move {
            let _wait = wait;
            pending().await
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_without_an_answer_ends_before_others_may_lead() {
    let gather: fn() -> Box<dyn Module> = || Box::new(ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default()));
    let shared: fn() -> Box<dyn Module> =
        || Box::new(Leased(ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default())));
    for (duration, deadline, patience) in [(60, 50, 8_000), (15, 10, 4_000), (300, 50, 8_000)] {
        for module in [gather, shared] {
            let server = server().await;
            let client = Client::new(server.router_as(admin()), "default");
            apply(&client, &stale()).await;
            let (waited, mut waits) = mpsc::unbounded_channel();
            let client = Client::new(Deaf { inner: server.router_as(admin()), waited }, "default");
            let lease = lease::Settings {
                duration: Duration::from_secs(duration),
                renew_deadline: Duration::from_secs(deadline),
                ..lease::Settings::new("default", "lease", "me")
            };
            let process = Process { leases: Leases::All(lease), ..process() };
            let running = tokio::spawn(run(client, vec![module()], process, pending::<()>));
            let waited = waits.recv().await.unwrap().as_millis();
            assert!((patience..patience + 100).contains(&waited), "{waited} ms of {duration} and {deadline} s");
            running.abort();
            server.end();
        }
    }
}

/// A role that gathers nothing and has rules all the same.
fn stale() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "stale"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"nobody": "has"}}]},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    })
}

/// Whoever runs alone still shares a job with other controllers.
#[tokio::test(start_paused = true)]
async fn without_a_lease_of_our_own_those_of_others_are_respected() {
    let settings = || lease::Settings::new("default", "lease", "me");
    for (leases, writes_beside_them) in [(Leases::Shared(settings()), false), (Leases::None, true)] {
        let server = server().await;
        let client = Client::new(server.router_as(admin()), "default");
        apply(&client, &stale()).await;
        let held: Api<Lease> = Api::namespaced(client.clone(), "default");
        let mut theirs: Lease = serde_json::from_value(json!({
            "metadata": {"name": THEIRS}, "spec": {"holderIdentity": "crossplane-1", "leaseDurationSeconds": 3600},
        }))
        .unwrap();
        theirs = held.create(&PostParams::default(), &theirs).await.unwrap();
        let process = Process { leases, ..process() };
        let module = Leased(ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default()));
        let running = tokio::spawn(run(client.clone(), vec![Box::new(module)], process, pending::<()>));
        let roles: Api<ClusterRole> = Api::all(client);
        let is_stale = async || roles.get("stale").await.unwrap().rules.is_some_and(|rules| !rules.is_empty());
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(is_stale().await, !writes_beside_them);
        // They let go.
        theirs.spec.as_mut().unwrap().holder_identity = Some(String::new());
        held.replace(THEIRS, &PostParams::default(), &theirs).await.unwrap();
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert!(!is_stale().await);
        assert_eq!(holder_of(&server, "lease").await, None, "nobody asked for one of our own");
        running.abort();
        server.end();
    }
}
