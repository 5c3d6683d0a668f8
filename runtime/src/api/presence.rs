//! Handles `PUT /v1/spreadsheets/{id}/presence` and `GET …/presence`, which announce what a client has
//! selected, and list what others have selected.

use axum::extract::State;
use cellar_api::wire::{BadSelection, PresenceReply, PresenceRequest, PresenceView};
use cellar_base::identity::{ClientKey, LogId};
use cellar_catalog::access::Need;
use cellar_engine::logs::LogError;
use cellar_engine::presence::Announcement;
use cellar_log::presence::OtherClient;
use serde::Deserialize;

use super::auth::Caller;
use super::details::check_log_exists;
use super::extract::{JsonBody, Parameters, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listPresence`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct PresenceParameters {
    /// Client id of the caller, which is not listed.
    client_id: String,
}

/// Announce the selection of a client, and list the selections of others
///
/// Everybody who may read the spreadsheet may announce a selection. It is shown to others for 45 seconds, or until the
/// client announces another one or leaves.
#[cfg_attr(test, utoipa::path(
    put,
    path = "/v1/spreadsheets/{id}/presence",
    operation_id = "announcePresence",
    tag = "Sync",
    request_body = PresenceRequest,
    responses((status = 200, description = "The selections of other clients", body = PresenceReply))
))]
pub(super) async fn announce_presence(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<PresenceReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let PresenceRequest { client_id, selection } = body.parse()?;
    let client = ClientKey::derive(&caller.principal.subject, &client_id)?;
    let selection = selection.map(|selection| selection.parse()).transpose()?;
    check_exists(&state, &caller, log_id).await?;
    let others = match selection {
        Some(selection) => {
            let author = caller.principal.author;
            let announcement = Announcement { client, author, selection };
            state.presence().announce(log_id, announcement).await
        }
        None => state.presence().leave(log_id, client).await,
    };
    Ok(presence_reply(others.map_err(LogError::Store)?))
}

/// List the selections of other clients
///
/// Costs less than announcing a selection that has not changed.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/presence",
    operation_id = "listPresence",
    tag = "Sync",
    params(PresenceParameters),
    responses((status = 200, description = "The selections of other clients", body = PresenceReply))
))]
pub(super) async fn list_presence(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<PresenceParameters>,
) -> Result<Json<PresenceReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let client = ClientKey::derive(&caller.principal.subject, &parameters.client_id)?;
    check_exists(&state, &caller, log_id).await?;
    let others = state.presence().others(log_id, client).await;
    Ok(presence_reply(others.map_err(LogError::Store)?))
}

fn presence_reply(others: Vec<OtherClient>) -> Json<PresenceReply> {
    Json(PresenceReply { others: others.into_iter().map(PresenceView::from).collect() })
}

/// Operator tokens grant access to spreadsheets that do not exist. A spreadsheet in the catalog exists,
/// and its listing is cached by the access check; only another one costs a read.
async fn check_exists(state: &ApiState, caller: &Caller, log_id: LogId) -> Result<(), Failure> {
    if state.catalog().listing(&caller.principal, log_id).await?.is_none() {
        check_log_exists(state, log_id).await?;
    }
    Ok(())
}

impl From<BadSelection> for Failure {
    fn from(error: BadSelection) -> Self {
        Self::invalid_request(&error)
    }
}
