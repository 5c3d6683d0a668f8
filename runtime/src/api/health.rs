//! `GET /v1/health`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cellar_core::api::{Health, Reachable};

use super::state::ApiState;

/// What runs here, and what it reaches. Needs no token.
#[utoipa::path(
    get,
    path = "/v1/health",
    responses(
        (status = 200, description = "Everything is reachable", body = Health),
        (status = 503, description = "Something is not", body = Health),
    )
)]
pub(super) async fn health(State(state): State<ApiState>) -> (StatusCode, Json<Health>) {
    let tables = state.reachable().await;
    let ok = tables.iter().all(|(_, ok)| *ok);
    let reachable = tables.map(|(name, ok)| Reachable { name: name.to_owned(), ok }).into();
    let status = if ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let build = env!("CARGO_PKG_VERSION").to_owned();
    (status, Json(Health { ok, build, stack: state.stack().to_owned(), reachable }))
}
