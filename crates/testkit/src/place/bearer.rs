//! A layer that says who asks.

use std::task::{Context, Poll};

use http::Request;
use http::header::{AUTHORIZATION, HeaderValue, InvalidHeaderValue};
use tower::{Layer, Service};

/// Puts a token on every request.
#[derive(Clone, Debug)]
pub(super) struct Bearer(HeaderValue);

impl Bearer {
    pub(super) fn new(token: &str) -> Result<Self, InvalidHeaderValue> {
        HeaderValue::try_from(format!("Bearer {token}")).map(Self)
    }
}

impl<S> Layer<S> for Bearer {
    type Service = Bearing<S>;

    fn layer(&self, inner: S) -> Bearing<S> {
        Bearing { inner, header: self.0.clone() }
    }
}

/// A service whose requests carry a token.
#[derive(Clone, Debug)]
pub(super) struct Bearing<S> {
    inner: S,
    header: HeaderValue,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for Bearing<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.headers_mut().insert(AUTHORIZATION, self.header.clone());
        self.inner.call(request)
    }
}
