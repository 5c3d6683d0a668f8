//! `GET /v1/health`.

use axum::Json;
use axum::extract::State;
use cellar_api::{wire::DependencyStatus, wire::Health};

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
    let ok = tables.iter().all(|(_, ok)| *ok);
    let dependencies = tables.map(|(name, ok)| DependencyStatus { name: name.to_owned(), ok });
    let build = env!("CARGO_PKG_VERSION").to_owned();
    let stack = state.stack().to_owned();
    Json(Health { ok, build, stack, dependencies: dependencies.into() })
}
