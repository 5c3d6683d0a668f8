//! Handles `GET /v1/health`, which checks whether the tables respond.

use axum::extract::State;
use cellar_api::wire::{DependencyStatus, Health};

use super::json::Json;
use super::state::ApiState;

/// Check the health of the stack
///
/// Requires no token. `ok` is true if every dependency is reachable.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/health",
    operation_id = "getHealth",
    tag = "System",
    responses((status = 200, description = "The health", body = Health))
))]
pub(super) async fn get_health(State(state): State<ApiState>) -> Json<Health> {
    let tables = state.check_tables().await;
    let dependencies =
        tables.map(|table| DependencyStatus { name: table.name.to_owned(), ok: table.responds });
    Json(Health {
        ok: tables.iter().all(|table| table.responds),
        build: env!("CARGO_PKG_VERSION").to_owned(),
        stack: state.stack().to_owned(),
        dependencies: dependencies.into(),
    })
}
