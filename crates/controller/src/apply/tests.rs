//! What is sent, and when no more is.

use std::convert::Infallible;
use std::sync::Mutex;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use kube::client::Body;
use rolewright_plan::op::Phase;
use rolewright_plan::rbac::CLUSTER_ROLE;
use tower::Service;

use super::*;

/// A server with one role, on which Crossplane's manager wrote. It keeps what it is asked.
#[derive(Clone, Default)]
struct Keeper {
    asked: Arc<Mutex<Vec<Method>>>,
}

impl Service<Request<Body>> for Keeper {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.asked.lock().unwrap().push(request.method().clone());
        let wrote = json!({"manager": "crossplane", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:rules": {}}});
        let answer = match *request.method() {
            Method::DELETE => json!({"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success"}),
            _ => json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": "a", "uid": "1", "resourceVersion": "1", "managedFields": [wrote]}, "rules": [],
            }),
        };
        async move { Ok(Response::new(Body::from(answer.to_string().into_bytes()))) }.boxed()
    }
}

#[tokio::test]
async fn whoever_loses_the_lease_between_two_requests_sends_only_the_first() {
    let uid = || Name::new("1");
    let cases = [
        (
            Write::Replace { uid: uid(), shape: rolewright_plan::intent::Shape::default() },
            [Method::DELETE, Method::PATCH],
        ),
        (Write::Hold { uid: uid(), finalizer: Name::new("rolewright.io/a") }, [Method::GET, Method::PATCH]),
        (Write::Inherit { uid: uid() }, [Method::GET, Method::PATCH]),
    ];
    for (write, requests) in cases {
        for leads_for in 0..=requests.len() {
            let server = Keeper::default();
            let asked = server.asked.clone();
            let writer = Writer {
                client: Client::new(server.clone(), "default"),
                versions: Versions::default(),
                requests: Arc::new(Semaphore::new(1)),
                may_write: Arc::new(move || asked.lock().unwrap().len() < leads_for),
                patience: PATIENCE,
                metrics: Arc::default(),
            };
            let op = Op {
                phase: Phase::Grant,
                object: ObjectRef::cluster(&CLUSTER_ROLE, "a"),
                write: write.clone(),
                because: String::new(),
                repairs: false,
            };
            let outcomes = writer.write(&Plan { ops: vec![op], ..Plan::default() }).await;
            assert_eq!(*server.asked.lock().unwrap(), requests[..leads_for], "{write:?}");
            let failure = outcomes.iter().find_map(|outcome| outcome.as_ref().err());
            let expected = (leads_for < requests.len()).then_some("we no longer lead");
            assert_eq!(failure.map(|failure| failure.message.as_str()), expected, "{write:?}");
        }
    }
}
