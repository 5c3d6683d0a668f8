//! Times out slow requests before Lambda does, so that the client receives a response.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cellar_api::wire::ProblemKind;

use super::reply::Failure;
use super::state::ApiState;

/// Middleware that responds with status 503 if a request takes too long. The request may still
/// write to the tables afterwards. A client should retry the unchanged request, which then detects
/// these writes.
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
