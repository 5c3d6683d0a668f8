//! A proxy that forwards requests and loses selected replies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};

use crate::forwarding::{Target, break_connection, serve};

/// A proxy that loses replies.
pub struct LossyProxy {
    /// URL of the proxy.
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    /// Requests whose head contains this text may lose their reply.
    needle: &'static str,
    to_lose: AtomicUsize,
    lost: AtomicUsize,
}

impl LossyProxy {
    /// Starts a proxy for the server at `target_url`; see [`LossyProxy::lose`]. A request's head
    /// consists of its method, its path and the values of its headers.
    pub async fn start(target_url: &str, needle: &'static str) -> Self {
        let (to_lose, lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Arc::new(Shared { target: Target::new(target_url), needle, to_lose, lost });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Self { url: serve(router).await, shared }
    }

    /// Loses the replies of the next `count` requests whose head contains the text.
    pub fn lose(&self, count: usize) {
        self.shared.to_lose.store(count, Ordering::SeqCst);
    }

    /// Returns the number of replies lost so far.
    pub fn lost(&self) -> usize {
        self.shared.lost.load(Ordering::SeqCst)
    }
}

impl Shared {
    /// Decides whether a request loses its reply.
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
            // The server has executed the request and replied; the reply is lost.
            shared.lost.fetch_add(1, Ordering::SeqCst);
            break_connection()
        }
        Err(_) => break_connection(),
    }
}
