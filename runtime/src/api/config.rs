//! `GET /v1/config`: the public configuration, which a page reads before a person signs in.

use axum::extract::State;
use cellar_api::wire::StackConfig;

use super::json::Json;
use super::state::ApiState;

/// Get the issuers of logins and the capabilities of the stack
///
/// Requires no token, and reads no table.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/config",
    operation_id = "getConfig",
    tag = "System",
    responses((status = 200, description = "The configuration", body = StackConfig))
))]
pub(super) async fn get_config(State(state): State<ApiState>) -> Json<StackConfig> {
    Json(StackConfig {
        stack: state.stack().to_owned(),
        build: env!("CARGO_PKG_VERSION").to_owned(),
        issuers: state.login_issuers(),
        pokes: state.pokes().are_supported(),
    })
}
