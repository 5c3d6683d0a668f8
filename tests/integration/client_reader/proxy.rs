//! A proxy in front of the API, which records requested chunks and can return expired URLs.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use cellar_api::{wire::ChunksReply, wire::ChunksRequest, wire::LoadReply};
use cellar_tests::forwarding::{Target, serve};

/// State of the proxy.
#[derive(Default)]
pub(super) struct Seen {
    /// Hashes of each request for URLs.
    pub(super) asked: Vec<Vec<String>>,
    /// Number of further replies with expired URLs.
    pub(super) to_spoil: usize,
}

pub(super) struct Proxy {
    pub(super) url: String,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Clone)]
struct Shared {
    target: Target,
    seen: Arc<Mutex<Seen>>,
}

impl Proxy {
    pub(super) async fn start(target: &str) -> Self {
        let seen = Arc::<Mutex<Seen>>::default();
        let shared = Shared { target: Target::new(target), seen: Arc::clone(&seen) };
        let router = axum::Router::new().fallback(pass_on).with_state(shared);
        Self { url: serve(router).await, seen }
    }

    pub(super) fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }
}

async fn pass_on(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = (method.clone(), uri.clone(), headers, body.clone());
    let (status, _, passed) = shared.target.pass_on(request).await.unwrap();
    let path = uri.path();
    let mut seen = shared.seen.lock().unwrap();
    let is_load = method == Method::GET && path.split('/').count() == 4;
    if path.ends_with("/chunks") {
        let request: ChunksRequest = serde_json::from_slice(&body).unwrap();
        seen.asked.push(request.hashes);
    }
    if seen.to_spoil == 0 || !(is_load || path.ends_with("/chunks")) {
        return (status, passed).into_response();
    }
    seen.to_spoil -= 1;
    if is_load {
        let mut reply: LoadReply = serde_json::from_slice(&passed).unwrap();
        reply.root_url = reply.root_url.as_deref().map(ended);
        return axum::Json(reply).into_response();
    }
    let mut reply: ChunksReply = serde_json::from_slice(&passed).unwrap();
    reply.urls = reply.urls.iter().map(|url| ended(url)).collect();
    axum::Json(reply).into_response()
}

/// Returns a URL as if it had been signed long ago.
fn ended(url: &str) -> String {
    let (before, date) = url.split_once("X-Amz-Date=").unwrap();
    let (_, rest) = date.split_at(4);
    format!("{before}X-Amz-Date=2020{rest}")
}
