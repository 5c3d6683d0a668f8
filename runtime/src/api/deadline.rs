//! Ends slow requests before Lambda does, so that the client gets a response.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cellar_api::wire::ProblemKind;

use super::reply::Failure;
use super::state::ApiState;

/// Ends a request with status 503 after the configured timeout. If the client retries the request,
/// writes that were in progress are detected.
pub(super) async fn enforce_deadline(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    match tokio::time::timeout(state.request_timeout(), next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!("a request timed out");
            let detail = "the tables respond too slowly; retry the unchanged request";
            Failure::new(ProblemKind::Unavailable, detail).into_response()
        }
    }
}
