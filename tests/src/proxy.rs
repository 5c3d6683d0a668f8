//! A proxy that forwards requests and drops selected responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};

use crate::forwarding::{Target, break_connection, serve};

/// A proxy that drops responses.
pub struct LossyProxy {
    /// URL of the proxy.
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    /// The responses to requests whose head contains this string may be dropped.
    needle: &'static str,
    to_lose: AtomicUsize,
    lost: AtomicUsize,
}

impl LossyProxy {
    /// Starts a proxy for the server at `target_url`. [`LossyProxy::lose`] selects the responses to
    /// drop. A request's head consists of the method, the path and the header values.
    pub async fn start(target_url: &str, needle: &'static str) -> Self {
        let (to_lose, lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Arc::new(Shared { target: Target::new(target_url), needle, to_lose, lost });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Self { url: serve(router).await, shared }
    }

    /// Drops the responses to the next `count` requests whose head contains the given string.
    pub fn lose(&self, count: usize) {
        self.shared.to_lose.store(count, Ordering::SeqCst);
    }

    /// Returns the number of responses dropped so far.
    pub fn lost(&self) -> usize {
        self.shared.lost.load(Ordering::SeqCst)
    }
}

impl Shared {
    /// Returns whether to drop the response to a request, and updates the number left to drop.
    fn loses(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
        let take = |left: usize| left.checked_sub(1);
        format!("{method} {uri} {headers:?}").contains(self.needle)
            && self.to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let loses = shared.loses(&method, &uri, &headers);
    match shared.target.pass_on((method, uri, headers, body)).await {
        Ok(reply) if !loses => reply.into_response(),
        Ok(_) => {
            // The server has executed the request and responded, but the response is dropped.
            shared.lost.fetch_add(1, Ordering::SeqCst);
            break_connection()
        }
        Err(_) => break_connection(),
    }
}
