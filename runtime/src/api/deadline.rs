//! Answers before Lambda would end the request without one.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cellar_api::wire::ProblemKind;

use super::reply::Failure;
use super::state::ApiState;

/// Gives up after the time that the stack allows. Nothing is lost: whatever was on its way is found
/// when the request is repeated.
pub(super) async fn deadline(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    match tokio::time::timeout(state.request_timeout(), next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!("a request took too long");
            let detail = "the tables are slow for now: repeat the request unchanged";
            Failure::new(ProblemKind::Unavailable, detail).into_response()
        }
    }
}
